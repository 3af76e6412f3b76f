"""Files of learnings: move them to another layout, repair what merges have spoiled."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

from attrs import evolve

from grove_core.errors import StorageError
from grove_core.model.memory import StorageLayout
from grove_core.plugins.descriptors import Repair
from grove_core.project import Project
from grove_core.services.result import Line, Result
from grove_core.services.settings import write_setting
from grove_core.storage import files
from grove_core.storage.paths import project_key
from grove_core.text import counted

T = TypeVar("T")

# Every learning may be a file that is written to the disk for good.
_SECONDS: Final = 900.0
_FILE_MODE: Final = 0o644


def migrate(project: Project, layout: StorageLayout, *, dry_run: bool) -> Result:
    """Bring a project into a layout: first the setting, so that nothing new is misplaced."""
    if not project.files.initialised:
        raise StorageError(f"{project.root} has no .grove; grove init makes one")
    path, key = project.files.config_file, "storage.layout"
    changed = (project.layout is not layout or path.exists()) and write_setting(
        path, key, layout.value, project.root, dry_run=dry_run
    )
    context = evolve(project.backend_context, layout=layout)
    moved, faults = _ask_backends(project, "relocate", str, context, dry_run)
    verb = "would be" if dry_run else "are"
    done = f'storage.layout = "{layout.value}" {"would be" if dry_run else "is"} set'
    return Result(
        document={
            "layout": layout,
            "dry_run": dry_run,
            "setting_changed": changed,
            "learnings": moved,
            **({"error": "; ".join(faults)} if faults else {}),
        },
        lines=[
            *([done] if changed else []),
            *moved,
            f"{counted(len(moved), 'learning')} {verb} moved",
        ],
        ids=[one.partition(":")[0] for one in moved],
        exit_code=1 if faults else 0,
        warnings=faults,
    )


def _ask_backends(
    project: Project, name: str, kind: type[T], *arguments: object
) -> tuple[list[T], list[str]]:
    """Ask every active backend that cares for its files; one may write each for good."""
    found: list[T] = []
    faults: list[str] = []
    for state in project.library.states:
        function = getattr(state.spec, name)
        if not state.is_active or function is None:
            continue
        done = project.plugins.call_for_list(
            state.provided, name, kind, function, *arguments, seconds=_SECONDS
        )
        if done is None:
            faults.append(f"the backend {state.spec.name} could not {name} its files")
        else:
            found += done
    return found, faults


def repair(project: Project, *, dry_run: bool) -> Result:
    """Repair files that merges have spoilt, and name what is left to do by hand."""
    repairs, faults = _ask_backends(project, "repair", Repair, project.backend_context)
    backup = None if dry_run else _make_repairs(project, repairs)
    lines: list[Line] = []
    for one in repairs:
        name = one.path.relative_to(project.root)
        verb = "would repair" if dry_run else "repaired"
        # The lines have moved, so in a dry run these are numbers of what would be written.
        where = "in the repaired file " if dry_run and one.after != one.before else ""
        lines += [f"{verb} {name} {line}" for line in one.repaired]
        lines += [(f"left to repair by hand: {where}{name} {line}", "yellow") for line in one.left]
    if left := sum(len(one.left) for one in repairs):
        faults.append(f"{counted(left, 'place')} left to repair by hand")
    if backup is not None:
        lines.append(f"the files as they were: {backup}")
    if not repairs and not faults:
        lines.append("There is nothing to repair.")
    return Result(
        document={
            "dry_run": dry_run,
            "files": [
                {"path": one.path, "repaired": one.repaired, "left": one.left} for one in repairs
            ],
            "backup": backup,
            **({"error": "; ".join(faults)} if faults else {}),
        },
        lines=lines,
        ids=[str(one.path) for one in repairs],
        exit_code=1 if faults else 0,
        warnings=faults,
    )


def _make_repairs(project: Project, repairs: Sequence[Repair]) -> Path | None:
    """Write the repaired files; the old ones are kept in grove's own directory."""
    changed = [one for one in repairs if one.after != one.before]
    if not changed:
        return None
    moment = f"{project.now:%Y%m%dT%H%M%S%f}Z"
    backup = project.paths.backups / project_key(project.root) / moment
    files.make_directory(backup)
    for number, one in enumerate(changed, start=1):
        kept = one.before.encode("utf-8", "surrogateescape")
        files.replace(backup / f"{number}-{one.path.name}", kept)
    for one in changed:
        _write(one, project.root)
    return backup


def _write(repair: Repair, root: Path) -> None:
    def repaired(text: str) -> str:
        if text != repair.before:
            raise StorageError(f"{repair.path} was changed meanwhile; run the command again")
        return repair.after

    files.edit_text(repair.path, repaired, inside=root)

"""Files of learnings and events: move them to another layout, repair what merges have spoiled."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve

from grove_core.codec import event_from_line
from grove_core.config.edit import render_default_config, with_setting
from grove_core.errors import CodecError, ConfigError, StorageError
from grove_core.event_log import shared_event_files
from grove_core.model.memory import StorageLayout
from grove_core.model.value import frozen
from grove_core.plugins.descriptors import Repair
from grove_core.project import Project
from grove_core.storage import files
from grove_core.storage.paths import project_key
from grove_core.text import is_conflict_marker

# Every learning may be a file that is written to the disk for good.
RELOCATE_SECONDS: Final = 900.0
REPAIR_SECONDS: Final = 120.0
# Writing a file takes less, also where another machine shares it.
_LEFTOVER_SECONDS: Final = 10.0
_FILE_MODE: Final = 0o644


@frozen(kw_only=True)
class Migration:
    """What was moved, or would be."""

    setting_changed: bool
    learnings: Sequence[str]
    faults: Sequence[str]


def migrate(project: Project, layout: StorageLayout, *, dry_run: bool) -> Migration:
    """Bring a project into a layout: first the setting, so that nothing new is misplaced."""
    if not project.files.initialised:
        raise StorageError(f"{project.root} has no .grove; grove init makes one")
    if not dry_run:
        # What an earlier run that was killed has left half written must not be committed.
        for folder in (project.files.grove_directory, project.files.learnings_folder):
            if not folder.is_symlink():
                files.remove_leftovers(folder, _LEFTOVER_SECONDS)
    changed = _set_layout(project, layout, dry_run=dry_run)
    moved: list[str] = []
    faults: list[str] = []
    context = evolve(project.backend_context, layout=layout)
    for state in project.library.states:
        if not state.is_active or state.spec.relocate is None:
            continue
        done = project.plugins.call_for_list(
            state.provided,
            "relocate",
            str,
            state.spec.relocate,
            context,
            dry_run,
            seconds=RELOCATE_SECONDS,
        )
        if done is None:
            faults.append(f"the backend {state.spec.name} could not move its learnings")
        else:
            moved += done
    return Migration(setting_changed=changed, learnings=moved, faults=faults)


def _set_layout(project: Project, layout: StorageLayout, *, dry_run: bool) -> bool:
    path = project.files.config_file
    text = files.read_text(path)
    if text is None and project.layout is layout:
        return False

    def changed(before: str) -> str:
        return with_setting(before, "storage", "layout", layout.value)

    try:
        after = changed(render_default_config() if text is None else text)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    if after == text:
        return False
    if not dry_run and text is None:
        files.confined(path, project.root)
        files.replace(path, after.encode("utf-8", "surrogateescape"), mode=_FILE_MODE)
    elif not dry_run:
        files.edit_text(path, changed, inside=project.root)
    return True


def find_repairs(project: Project) -> tuple[Sequence[Repair], Sequence[str]]:
    """Look for files that merges have spoilt; the second result says what could not be read."""
    found: list[Repair] = []
    faults: list[str] = []
    context = project.backend_context
    for state in project.library.states:
        if not state.is_active or state.spec.repair is None:
            continue
        done = project.plugins.call_for_list(
            state.provided, "repair", Repair, state.spec.repair, context, seconds=REPAIR_SECONDS
        )
        if done is None:
            faults.append(f"the backend {state.spec.name} could not look at its files")
        else:
            found += done
    return [*found, *_repairs_of_logs(project)], faults


def make_repairs(project: Project, repairs: Sequence[Repair]) -> Path | None:
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


def _repairs_of_logs(project: Project) -> Iterator[Repair]:
    for path in shared_event_files(project.files):
        if not files.is_readable(path):
            raise StorageError(f"cannot read {path}: it is no plain file, or not for this user")
        repair = _repair_log(path, files.read_text(path) or "")
        if repair.repaired or repair.left:
            yield repair


def _repair_log(path: Path, text: str) -> Repair:
    """Take conflict markers out of an event log, and part events that share a line."""
    repaired: list[str] = []
    left: list[str] = []
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or _is_event(line):
            lines.append(line)
        elif is_conflict_marker(line.encode("utf-8", "surrogateescape")):
            repaired.append(f"line {number}: a conflict marker is taken out")
        elif parts := _parted(line):
            lines += parts
            repaired.append(
                f"line {number}: holds {len(parts)} events, each gets a line of its own"
            )
        else:
            lines.append(line)
            left.append(f"line {len(lines)}: is no event")
    return Repair(
        path=path, before=text, after="\n".join(lines), repaired=tuple(repaired), left=tuple(left)
    )


def _is_event(line: str) -> bool:
    try:
        event_from_line(line)
    except CodecError:
        return False
    return True


def _parted(line: str) -> list[str]:
    """Part a line that holds several events and nothing else; empty where it does not."""
    decoder = json.JSONDecoder()
    parts: list[str] = []
    position = 0
    while position < len(line):
        try:
            _, end = decoder.raw_decode(line, position)
        except (ValueError, RecursionError):
            return []
        parts.append(line[position:end])
        position = end
    return parts if len(parts) > 1 and all(map(_is_event, parts)) else []

"""``grove maintain migrate --layout``: learnings into one file for all, or a file each."""

from collections.abc import Sequence
from typing import Final

from attrs import evolve

from grove_core.config.edit import with_setting
from grove_core.config.template import render_default_config
from grove_core.errors import ConfigError, StorageError
from grove_core.model.memory import StorageLayout
from grove_core.model.value import frozen
from grove_core.storage import files
from grove_core.workspace import Workspace

# Every learning may be a file that is written to the disk for good.
RELOCATE_SECONDS: Final = 900.0
# Writing a file takes less, also where another machine shares it.
_LEFTOVER_SECONDS: Final = 10.0
_FILE_MODE: Final = 0o644


@frozen(kw_only=True)
class Relayout:
    """What was moved, or would be."""

    setting_changed: bool
    learnings: tuple[str, ...]
    faults: tuple[str, ...]


def relayout(workspace: Workspace, layout: StorageLayout, *, dry_run: bool) -> Relayout:
    """Bring a project into a layout: first the setting, so that nothing new is misplaced."""
    if not workspace.project.initialised:
        raise StorageError(f"{workspace.root} has no .grove; grove init makes one")
    if not dry_run:
        _remove_leftovers(workspace)
    changed = _set_layout(workspace, layout, dry_run=dry_run)
    learnings, faults = _learnings(workspace, layout, dry_run=dry_run)
    return Relayout(
        setting_changed=changed,
        learnings=tuple(learnings),
        faults=tuple(faults),
    )


def _remove_leftovers(workspace: Workspace) -> None:
    """Remove what an earlier run that was killed has left half written, before it is committed."""
    project = workspace.project
    folders = (project.grove_directory, project.learnings_folder)
    for folder in folders:
        if not folder.is_symlink():
            files.remove_leftovers(folder, _LEFTOVER_SECONDS)


def _set_layout(workspace: Workspace, layout: StorageLayout, *, dry_run: bool) -> bool:
    path = workspace.project.config_file
    text = files.read_text(path)
    before = render_default_config() if text is None else text
    if text is None and workspace.config.storage.layout is layout:
        return False
    try:
        after = with_setting(before, "storage", "layout", layout.value)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    if text is not None and after == text:
        return False
    if not dry_run:
        if text is None:
            files.confined(path, workspace.root)
            files.replace(path, after.encode("utf-8", "surrogateescape"), mode=_FILE_MODE)
        else:
            files.edit_text(
                path,
                lambda now: with_setting(now, "storage", "layout", layout.value),
                inside=workspace.root,
            )
    return True


def _learnings(
    workspace: Workspace, layout: StorageLayout, *, dry_run: bool
) -> tuple[Sequence[str], Sequence[str]]:
    moved: list[str] = []
    faults: list[str] = []
    context = evolve(workspace.backend_context, layout=layout)
    for state in workspace.library.states:
        if not state.is_active or state.spec.relocate is None:
            continue
        done: object = workspace.plugins.call(
            state.provided,
            state.spec.relocate,
            context,
            dry_run,
            seconds=RELOCATE_SECONDS,
            default=None,
        )
        if isinstance(done, list | tuple):
            moved += [str(line) for line in done]
        else:
            faults.append(f"the backend {state.spec.name} could not move its learnings")
    return moved, faults

"""Taking back what ``grove init`` has written for Claude Code, and nothing else."""

from pathlib import Path

from attrs import Factory, define

from grove_core.errors import CodecError, GroveError
from grove_core.hosts import claude_settings as client
from grove_core.install.plan import drop_merge_driver, recorded_program, unusable, without_init
from grove_core.install.record import FileChange, InstallationRecord, read_own
from grove_core.workspace import Workspace


@define
class Removal:
    """What is about to be taken back."""

    workspace: Workspace
    record: InstallationRecord
    changes: list[FileChange] = Factory(list)
    notes: list[str] = Factory(list)
    faults: list[str] = Factory(list)
    program: list[FileChange] = Factory(list)

    def make(self) -> None:
        """Take everything back; the record is forgotten only when nothing is left to do."""
        for change in self.changes:
            change.make(self.workspace.root)
        drop_merge_driver(self.workspace.root)
        if not self.faults:
            self.record.remove()
            for change in self.program:
                change.path.unlink(missing_ok=True)


def plan_removal(workspace: Workspace, *, shared: bool) -> Removal:
    """Plan to take back what init has written."""
    removal = Removal(workspace, InstallationRecord(workspace.paths, workspace.root))
    root, record = workspace.root, removal.record
    known = [root / one.path for one in record.done.files]
    of_team = client.settings_file(root, shared=True)
    usual = (client.settings_file(root, shared=False), of_team, client.server_file(root))
    for path in dict.fromkeys((*known, *usual)):
        try:
            after = _without_init(removal, path, keep=path == of_team and not shared)
        except GroveError as error:
            if path in known:  # what cannot be changed was not written by init either
                removal.faults.append(str(error))
        else:
            before = read_own(path, root)
            if before != after:
                removal.changes.append(FileChange(path=path, before=before, after=after))
    _forget_program(removal)
    return removal


def _without_init(removal: Removal, path: Path, *, keep: bool) -> str | None:
    """Return what is to become of a file."""
    root, record = removal.workspace.root, removal.record
    name, current = path.relative_to(root), read_own(path, root)
    if record.holds(path):
        if current is None:
            removal.notes.append(f"{name} is gone already")
            return None
        if not record.is_as_written(path, current):
            if path == client.rules_file(root):
                removal.notes.append(f"{name} was changed since: kept, delete it yourself")
                return current
            removal.notes.append(f"{name} was changed since: only grove's entries were taken out")
        try:
            return without_init(record, path, current)
        except CodecError as error:
            raise unusable(path, error) from error
    after = None if current is None else client.without_own(current)
    if after != current and keep:
        removal.notes.append(
            f"{name} holds hooks of grove that were not written from here: kept,"
            " grove init --uninstall --shared takes them out"
        )
        return current
    if after != current:
        removal.notes.append(f"{name} is not on record: only grove's entries were taken out")
    return after


def _forget_program(removal: Removal) -> None:
    """Plan to remove the file that names the program, if no other project needs it."""
    program, path = removal.record.done.program, removal.workspace.paths.program_file
    is_own = program is not None and program == recorded_program(removal.workspace)
    if is_own and not removal.faults and removal.record.is_last():
        removal.program.append(FileChange(path=path, before=f"{program}\n", after=None))

"""Taking back what ``grove init`` has written for Claude Code, and nothing else."""

from pathlib import Path

from attrs import Factory, define

from grove_core.errors import GroveError
from grove_core.hosts import claude_settings as client
from grove_core.install.plan import drop_merge_driver, recorded_program, without_init
from grove_core.install.record import FileChange, InstallationRecord, read_own
from grove_core.project import Project


@define
class Removal:
    """The changes that take back what init has written."""

    project: Project
    record: InstallationRecord
    changes: list[FileChange] = Factory(list)
    notes: list[str] = Factory(list)
    program: list[FileChange] = Factory(list)

    def make(self) -> None:
        """Take everything back, and forget that it was there."""
        for change in self.changes:
            change.make(self.project.root)
        drop_merge_driver(self.project.root)
        self.record.remove()
        for change in self.program:
            change.path.unlink(missing_ok=True)


def plan_removal(project: Project, *, shared: bool) -> Removal:
    """Plan to take back what init has written; of the committed settings only if it wrote there."""
    root, record = project.root, InstallationRecord(project.paths, project.root)
    removal = Removal(project, record)
    for path in [root / one.path for one in record.done.files]:
        before = read_own(path, root)
        removal.changes.append(_taken_back(removal, path, before))
    team = client.settings_file(root, shared=True)
    for path in (client.settings_file(root, shared=False), team, client.server_file(root)):
        if not record.holds(path):
            removal.changes.append(_without_own(removal, path, keep=path == team and not shared))
    removal.changes = [one for one in removal.changes if one.before != one.after]
    program = record.done.program
    if program and program == recorded_program(project) and record.is_last():
        path = project.paths.program_file
        removal.program.append(FileChange(path=path, before=f"{program}\n", after=None))
    return removal


def _taken_back(removal: Removal, path: Path, before: str | None) -> FileChange:
    name, record = path.relative_to(removal.project.root), removal.record
    is_changed = before is not None and not record.is_as_written(path, before)
    if is_changed and path == client.rules_file(removal.project.root):
        removal.notes.append(f"{name} was changed since: kept, delete it yourself")
        return FileChange(path=path, before=before, after=before)
    if is_changed:
        removal.notes.append(f"{name} was changed since: only grove's entries were taken out")
    return FileChange(path=path, before=before, after=without_init(record, path, before))


def _without_own(removal: Removal, path: Path, *, keep: bool) -> FileChange:
    """Take grove's entries out of a file that init has not written, as far as it can be read."""
    try:
        before = read_own(path, removal.project.root)
        after = None if before is None else client.without_own(before)
    except GroveError:
        before = after = None
    if before != after and keep:
        name = path.relative_to(removal.project.root)
        removal.notes.append(
            f"{name} holds hooks of grove that were not written from here: kept,"
            " grove init --uninstall --shared takes them out"
        )
        after = before
    return FileChange(path=path, before=before, after=after)

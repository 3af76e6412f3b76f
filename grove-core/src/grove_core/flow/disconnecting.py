"""Taking back what ``grove init`` has written for Claude Code, and nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import Factory, define, evolve

from grove_core.errors import CodecError, GroveError, StorageError
from grove_core.flow.connecting import read_inside, unusable
from grove_core.flow.file_changes import FileChange
from grove_core.flow.install_plan import relative_to, without_own
from grove_core.flow.installation import (
    Installation,
    InstallationRecord,
    WrittenFile,
    digest_of,
)
from grove_core.flow.merge_driver import MergeDriver, clone_of, find_driver, is_own, unregister
from grove_core.hosts import claude_merge
from grove_core.hosts.claude_settings import rules_file, settings_file
from grove_core.storage import files
from grove_core.workspace import Workspace


@define(kw_only=True)
class Removal:
    """What is about to be taken back."""

    changes: list[FileChange] = Factory(list)
    notes: list[str] = Factory(list)
    faults: list[str] = Factory(list)
    program: FileChange | None = None
    driver: MergeDriver | None = None

    @property
    def everything(self) -> list[FileChange]:
        """The files that change, grove's own one last."""
        return [*self.changes, *([self.program] if self.program is not None else [])]

    def make(self, workspace: Workspace, record: InstallationRecord) -> None:
        """Take everything back; the record is forgotten only when nothing is left to do."""
        for change in self.changes:
            change.make(workspace.root)
        for folder in reversed(record.read().directories):
            with suppress(OSError):  # what is not empty is not init's alone
                (workspace.root / folder).rmdir()
        if self.driver is not None:
            unregister(self.driver)
        if self.faults:
            return
        if self.program is not None:
            with suppress(OSError):
                self.program.path.unlink()
        record.remove()


def plan_removal(workspace: Workspace, record: InstallationRecord, *, shared: bool) -> Removal:
    """Plan to take back what init has written."""
    installation = record.read()
    removal = Removal()
    for written in installation.files:
        with _noting_faults(removal):
            _take_back(removal, workspace.root, record, written)
    for is_shared in (False, True):
        path = settings_file(workspace.root, shared=is_shared)
        if installation.file(relative_to(path, workspace.root)) is None:
            with suppress(GroveError):  # what cannot be changed was not written by init either
                _take_out_unrecorded(removal, workspace.root, path, keep=is_shared and not shared)
    with _noting_faults(removal):
        _take_out_attributes(removal, workspace, installation)
    _plan_driver(removal, workspace.root, installation.merge_driver, record)
    if _is_last(installation, record) and not removal.faults:
        removal.program = _own_program(workspace, installation)
    return removal


@contextmanager
def _noting_faults(removal: Removal) -> Iterator[None]:
    """Turn an error into a fault of the plan, so that other files go on."""
    try:
        yield
    except GroveError as error:
        removal.faults.append(str(error))


def _take_back(
    removal: Removal, root: Path, record: InstallationRecord, written: WrittenFile
) -> None:
    path = root / written.path
    current = read_inside(path, root)
    if current is None:
        removal.notes.append(f"{written.path} is gone already")
        return
    before = record.kept(written.path) if written.existed else None
    if current == before:
        return
    if path.is_symlink():
        # Whether there before or not: a link is not init's, nor is the file that it leads to.
        written = evolve(written, existed=True)
    if digest_of(current) == written.digest and (before is not None or not written.existed):
        removal.changes.append(FileChange(path=path, before=current, after=before))
        return
    if path == rules_file(root):
        removal.notes.append(f"{written.path} was changed since: kept, delete it yourself")
        return
    _take_out(removal, path, current, written)
    removal.notes.append(f"{written.path} was changed since: only grove's entries were taken out")


def _take_out(removal: Removal, path: Path, current: str, written: WrittenFile) -> None:
    try:
        after = without_own(current, written)
    except CodecError as error:
        raise unusable(path, error) from error
    if after != current:
        removal.changes.append(FileChange(path=path, before=current, after=after))


def _take_out_unrecorded(removal: Removal, root: Path, path: Path, *, keep: bool) -> None:
    """Take out hooks that are not on record, because it was lost or somebody else wrote them."""
    current = read_inside(path, root)
    if current is None:
        return
    has_hooks = claude_merge.without_hooks(current) != current
    name = relative_to(path, root)
    if has_hooks and keep:
        removal.notes.append(
            f"{name} holds hooks of grove that were not written from here: kept,"
            " grove init --uninstall --shared takes them out"
        )
    elif has_hooks:
        unknown = WrittenFile(path=name, digest="", existed=True)
        _take_out(removal, path, current, unknown)
        removal.notes.append(f"{name} is not on record: only grove's hooks were taken out")


def _take_out_attributes(
    removal: Removal, workspace: Workspace, installation: Installation
) -> None:
    """Take the lines back that init has added to a person's own ``.gitattributes``."""
    path = workspace.project.grove_directory / ".gitattributes"
    added = installation.attributes
    was_made = relative_to(path, workspace.root) in installation.scaffold
    current = read_inside(path, workspace.root) if added and not was_made else None
    if current is None:
        return
    lines = current.splitlines(keepends=True)
    for line in added.splitlines(keepends=True):
        if line in lines and line.strip():
            lines.remove(line)
    after = current.removesuffix(added) if current.endswith(added) else "".join(lines)
    if after != current:
        removal.changes.append(FileChange(path=path, before=current, after=after))


def _plan_driver(
    removal: Removal, root: Path, command: str | None, record: InstallationRecord
) -> None:
    driver = find_driver(root) if command is not None else None
    if driver is None or command is None:
        return
    clone = clone_of(root)
    others = [one.root for one in record.others() if one.merge_driver is not None]
    sharing = [one for one in others if clone_of(Path(one)) == clone]
    if sharing:
        removal.notes.append(f"git's merge driver grove stays for {', '.join(sharing)}")
    elif is_own(driver, command):
        removal.driver = driver
        removal.notes.append("git's merge driver grove is taken out of the clone's configuration")
    elif driver.registered is not None:
        removal.notes.append("git's merge driver grove is not as init registered it: kept")


def _is_last(installation: Installation, record: InstallationRecord) -> bool:
    return installation.program is not None and not any(record.others())


def _own_program(workspace: Workspace, installation: Installation) -> FileChange | None:
    """Plan to remove the file that names the program, if it still says what init wrote."""
    path = workspace.paths.program_file
    try:
        content = files.read_text(path)
    except StorageError:
        return None
    if content is None or content != f"{installation.program}\n":
        return None
    return FileChange(path=path, before=content, after=None)

"""Changes to people's files, and the record of them by which they are taken back."""

import hashlib
import json
import shutil
from collections.abc import Iterable
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from grove_core.errors import CodecError, StorageError
from grove_core.storage import files
from grove_core.storage.codec import read_as, to_jsonable
from grove_core.storage.paths import Paths, place_in, project_key

_RECORD: Final = "record.json"
_NEW_FILE_MODE: Final = 0o644


@frozen(kw_only=True)
class FileChange:
    """A planned change of a file."""

    path: Path
    before: str | None
    after: str | None
    original: str | None = None
    """What it would be if init had never written into it."""

    @property
    def action(self) -> str:
        """Return ``create``, ``change`` or ``remove``."""
        if self.before is None:
            return "create"
        return "remove" if self.after is None else "change"

    def name(self, root: Path) -> str:
        """Name the file for people."""
        return place_in(root, self.path).as_posix()

    def diff(self, root: Path) -> str:
        """Show the change."""
        name = self.name(root)
        old, new = (name, name) if name.startswith("/") else (f"a/{name}", f"b/{name}")
        lines = unified_diff(
            (self.before or "").splitlines(),
            (self.after or "").splitlines(),
            "/dev/null" if self.before is None else old,
            "/dev/null" if self.after is None else new,
            lineterm="",
        )
        return "".join(f"{line}\n" for line in lines)

    def make(self, root: Path) -> None:
        """Make the change, if the file is still the same."""
        files.confined(self.path, root)
        if self.before is not None and self.after is not None:
            files.edit_text(self.path, self._edited, inside=root)
            return
        text = self._edited(files.read_text(self.path))
        if self.after is not None:
            files.make_directory(self.path.parent)
            files.replace(self.path, _encode(text), mode=_NEW_FILE_MODE)
        else:
            self.path.unlink()
            for folder in self.path.relative_to(root).parents[:-1]:
                with suppress(OSError):  # what is not empty stays
                    (root / folder).rmdir()

    def _edited(self, current: str | None) -> str:
        if current != self.before:
            raise StorageError(f"{self.path} was changed meanwhile, nothing was done; try again")
        return self.after or ""


@frozen(kw_only=True)
class WrittenFile:
    """A file of the client's that init has written, or has written into."""

    path: str
    digest: str


@frozen(kw_only=True)
class Installation:
    """What init has done in a project."""

    root: str
    program: str | None = None
    files: tuple[WrittenFile, ...] = ()
    schema_version: int = 1


class InstallationRecord:
    """The record of one project on disk, with the files as they were before."""

    def __init__(self, paths: Paths, root: Path) -> None:
        self.root = root
        self._directory = paths.installed / project_key(root)
        self._file = self._directory / _RECORD
        content = files.read_bytes(self._file)
        try:
            known = read_as(Installation, json.loads(content)) if content else None
        except (CodecError, ValueError) as error:
            raise StorageError(f"{self._file} cannot be read, move it away: {error}") from error
        self.done = known or Installation(root=str(root))

    def holds(self, path: Path) -> bool:
        """Return whether init has written a file."""
        return any(self.root / one.path == path for one in self.done.files)

    def is_as_written(self, path: Path, text: str) -> bool:
        """Return whether a text is what init has written into a file."""
        return self._written(path, text) in self.done.files

    def original(self, path: Path) -> str | None:
        """Return what a file held before init wrote into it."""
        return files.read_text(self._backup(path))

    def write(self, changes: Iterable[FileChange], program: str | None) -> None:
        """Record changes, with what their files held before."""
        files.make_directory(self._directory)
        written = {one.path: one for one in self.done.files}
        for change in changes:
            one = self._written(change.path, change.after or "")
            written[one.path] = one
            if change.original is None:
                self._backup(change.path).unlink(missing_ok=True)
            else:
                files.replace(self._backup(change.path), _encode(change.original))
        program = program or self.done.program
        self.done = evolve(self.done, files=tuple(written.values()), program=program)
        files.replace_text(self._file, json.dumps(to_jsonable(self.done), indent=2) + "\n")

    def remove(self) -> None:
        """Forget what init has done here."""
        shutil.rmtree(self._directory, ignore_errors=True)
        with suppress(OSError):
            self._directory.parent.rmdir()

    def is_last(self) -> bool:
        """Return whether init has done nothing in any other project."""
        records = self._directory.parent.glob(f"*/{_RECORD}")
        return all(one == self._file for one in records)

    def _written(self, path: Path, text: str) -> WrittenFile:
        digest = hashlib.sha256(_encode(text)).hexdigest()
        return WrittenFile(path=path.relative_to(self.root).as_posix(), digest=digest)

    def _backup(self, path: Path) -> Path:
        return self._directory / f"{path.name}.before"


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def read_own(path: Path, root: Path) -> str | None:
    """Read a file that must be the project's own."""
    files.confined(path, root)
    text = files.read_text(path)
    if text is None and path.is_symlink():
        raise StorageError(f"{path} is a symbolic link to {path.readlink()}, which is not there")
    return text

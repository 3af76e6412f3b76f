"""Changes to people's files, and the record of them by which they are taken back."""

import hashlib
import json
import shutil
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from grove_core.errors import CodecError, StorageError
from grove_core.storage import files
from grove_core.storage.codec import read_as, to_jsonable
from grove_core.storage.paths import Paths, project_key

_RECORD: Final = "record.json"
_NEW_FILE_MODE: Final = 0o644


@frozen(kw_only=True)
class FileChange:
    """What is to become of a file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def action(self) -> str:
        """Return ``create``, ``change`` or ``remove``."""
        if self.before is None:
            return "create"
        return "remove" if self.after is None else "change"

    def name(self, root: Path) -> str:
        """Name the file for people."""
        is_inside = self.path.is_relative_to(root)
        return (self.path.relative_to(root) if is_inside else self.path).as_posix()

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
        self._edited(files.read_text(self.path))
        if self.after is None:
            self._remove(root)
        else:
            files.make_directory(self.path.parent)
            content = self.after.encode("utf-8", "surrogateescape")
            files.replace(self.path, content, mode=_NEW_FILE_MODE)

    def _edited(self, current: str | None) -> str:
        if current != self.before:
            raise StorageError(f"{self.path} was changed meanwhile, nothing was done; try again")
        return self.after or ""

    def _remove(self, root: Path) -> None:
        try:
            self.path.unlink()
        except OSError as error:
            raise StorageError(f"cannot remove {self.path}: {error.strerror or error}") from error
        for folder in self.path.relative_to(root).parents[:-1]:
            with suppress(OSError):  # what is not empty stays
                (root / folder).rmdir()


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
        """Read what init has done here."""
        self.root = root
        self._all = paths.installed
        self._directory = paths.installed / project_key(root)
        self.done = _read(self._directory / _RECORD) or Installation(root=str(root))

    def holds(self, path: Path) -> bool:
        """Return whether init has written a file."""
        return any(one.path == self._name(path) for one in self.done.files)

    def is_as_written(self, path: Path, text: str) -> bool:
        """Return whether a text is what init has written into a file."""
        return WrittenFile(path=self._name(path), digest=_digest(text)) in self.done.files

    def original(self, path: Path) -> str | None:
        """Return what a file held before init wrote into it."""
        return files.read_text(self._backup(path))

    def note(self, path: Path, text: str, original: str | None) -> None:
        """Record what is written into a file, and keep what it held before."""
        name = self._name(path)
        written = WrittenFile(path=name, digest=_digest(text))
        others = tuple(one for one in self.done.files if one.path != name)
        self.done = evolve(self.done, files=(*others, written))
        files.make_directory(self._directory)
        if original is None:
            self._backup(path).unlink(missing_ok=True)
        else:
            files.replace(self._backup(path), original.encode("utf-8", "surrogateescape"))

    def write(self) -> None:
        """Write the record."""
        files.make_directory(self._directory)
        text = json.dumps(to_jsonable(self.done), indent=2) + "\n"
        files.replace(self._directory / _RECORD, text.encode())

    def remove(self) -> None:
        """Forget what init has done here."""
        shutil.rmtree(self._directory, ignore_errors=True)
        with suppress(OSError):
            self._all.rmdir()

    def is_last(self) -> bool:
        """Return whether init has done nothing in any other project that is still there."""
        others = (one for one in self._all.glob(f"*/{_RECORD}") if one.parent != self._directory)
        return not any(map(_is_of_a_project, others))

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _backup(self, path: Path) -> Path:
        return self._directory / f"{path.name}.before"


def _is_of_a_project(path: Path) -> bool:
    try:
        found = _read(path)
    except StorageError:
        return True
    return found is not None and Path(found.root).is_dir()


def _read(path: Path) -> Installation | None:
    content = files.read_bytes(path)
    if content is None:
        return None
    try:
        return read_as(Installation, json.loads(content))
    except (CodecError, ValueError, RecursionError) as error:
        raise StorageError(f"{path} cannot be read, move it away: {error}") from error


def _digest(text: str) -> str:
    """Return what a file's text is recognised by."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def read_own(path: Path, root: Path) -> str | None:
    """Read a file that must be the project's own."""
    files.confined(path, root)
    text = files.read_text(path)
    if text is None and path.is_symlink():
        raise StorageError(
            f"{path} is a symbolic link to {path.readlink()}, which is not there; nothing was"
            " written: make what it leads to, or remove the link"
        )
    return text

"""Changes to a person's files: planned, shown, and made only if the file is still the same."""

from difflib import unified_diff
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.errors import StorageError
from grove_core.storage import files

_NEW_FILE_MODE: Final = 0o644


@frozen(kw_only=True)
class FileChange:
    """What is to become of a file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def action(self) -> str:
        """What is done: ``create``, ``change`` or ``remove``."""
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
            _lines(self.before),
            _lines(self.after),
            "/dev/null" if self.before is None else old,
            "/dev/null" if self.after is None else new,
        )
        return "".join(lines)

    def make(self, root: Path) -> None:
        """Make the change."""
        files.confined(self.path, root)
        if self.before is None:
            self._create()
        elif self.after is None:
            self._remove()
        else:
            files.edit_text(self.path, self._edited, inside=root)

    def _create(self) -> None:
        self._check(files.read_text(self.path))
        content = (self.after or "").encode("utf-8", "surrogateescape")
        files.replace(self.path, content, mode=_NEW_FILE_MODE)

    def _remove(self) -> None:
        self._check(files.read_text(self.path))
        try:
            self.path.unlink()
        except OSError as error:
            raise StorageError(f"cannot remove {self.path}: {error.strerror or error}") from error

    def _edited(self, current: str) -> str:
        self._check(current)
        return self.after or ""

    def _check(self, current: str | None) -> None:
        if current != self.before:
            raise StorageError(f"{self.path} was changed meanwhile, nothing was done; try again")


def _lines(text: str | None) -> list[str]:
    """Split a text for a diff; of one that does not end in a line end, that is said."""
    if not text:
        return []
    *lines, last = text.split("\n")
    ended = [f"{line}\n" for line in lines]
    return ended if not last else [*ended, f"{last}\n\\ No newline at end of file\n"]


def refuse_dangling(path: Path, root: Path) -> None:
    """Make sure that no symbolic link on the way to a file leads to nothing."""
    for one in (path, *path.parents):
        if one == root:
            return
        if one.is_symlink() and not one.exists():
            raise StorageError(
                f"{one} is a symbolic link to {one.readlink()}, which is not there; nothing was"
                " written: make what it leads to, or remove the link"
            )

"""Files of JSON objects, one a line, that are only ever appended to."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from grove_core import BackendError

T = TypeVar("T")

_END_LENGTH: Final = 256


def line_of(document: Mapping[str, Any]) -> str:
    """Write an object as a line; ASCII, so that half a character survives as an escape.

    Args:
        document: The object.
    """
    return f"{json.dumps(document)}\n"


def objects_in(content: bytes) -> Iterator[dict[str, Any]]:
    """Read the objects of some lines; what cannot be read, conflict markers say, is left alone.

    Args:
        content: The lines.
    """
    for line in content.split(b"\n"):
        if not line.startswith(b"{"):
            continue
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            yield document


class _Look(NamedTuple):
    """How a file looked when it was read."""

    inode: int
    modified: int
    size: int


class Folded(Generic[T]):
    """What the lines of a file amount to, read on where the file has only grown."""

    def __init__(self, path: Path, nothing: T, fold: Callable[[T, bytes], T]) -> None:
        """Read nothing yet.

        Args:
            path: The file, whether it is there or not.
            nothing: What is known without any line.
            fold: Gives what is known after some lines, from what was known before and the lines.
        """
        self._path = path
        self._nothing = nothing
        self._fold = fold
        self._known = nothing
        self._end = b""
        self._look: _Look | None = None

    def value(self) -> T:
        """Read what is new; the same object as long as nothing has changed.

        Raises:
            BackendError: The file is there and cannot be read.
        """
        try:
            status = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self._known, self._look = self._nothing, None
            return self._known
        except OSError as error:
            raise BackendError(f"cannot read {self._path}: {error.strerror or error}") from error
        look, known = _Look(status.st_ino, status.st_mtime_ns, status.st_size), self._look
        if look == known:
            return self._known
        content = None
        if known is not None and known.inode == look.inode and look.size > known.size:
            content = self._grown_by(known.size)
        if content is None:
            self._known, self._end = self._nothing, b""
            content = _content_from(self._path, 0)
        self._known = self._fold(self._known, content)
        self._end = (self._end + content)[-_END_LENGTH:]
        # A last line without an end is read once more, whoever is writing it.
        self._look = look if content.endswith(b"\n") or not content else None
        return self._known

    def _grown_by(self, size: int) -> bytes | None:
        """Read what has come after what is known; ``None`` where something else stands there now.

        What writes a file anew, as git does, may give it the inode of the old one.
        """
        content = _content_from(self._path, size - len(self._end))
        return content[len(self._end) :] if content.startswith(self._end) else None


def _content_from(path: Path, start: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read()
    except OSError as error:
        raise BackendError(f"cannot read {path}: {error.strerror or error}") from error

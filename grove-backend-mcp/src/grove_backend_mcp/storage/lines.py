"""Files of JSON objects, one a line, that are only ever appended to."""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from grove_core import BackendError, StorageError, confined

T = TypeVar("T")

_END_LENGTH: Final = 256
_MOST_BYTES: Final = 256 * 1024 * 1024


def count_unreadable(content: bytes) -> int:
    """Count the lines that are no objects: conflict markers, torn writes."""
    lines = sum(1 for line in content.split(b"\n") if line.strip())
    return lines - sum(1 for _ in objects_in(content))


def line_of(document: Mapping[str, Any]) -> str:
    """Write an object as a line; ASCII, so that half a character survives as an escape."""
    return f"{json.dumps(document)}\n"


def objects_in(content: bytes) -> Iterator[dict[str, Any]]:
    """Read the objects of some lines; what cannot be read, conflict markers say, is left alone."""
    for line in content.split(b"\n"):
        if not line.startswith(b"{"):
            continue
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            yield document


def content_of(path: Path, start: int = 0, *, inside: Path | None = None) -> bytes:
    """Read a file; one that a repository holds may be anything."""
    try:
        # A pipe of that name would never end.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(confined(path, inside), flags), "rb") as file:  # noqa: PTH123 - a descriptor
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise BackendError(f"{path} is no plain file")
            if status.st_size > _MOST_BYTES:
                raise BackendError(f"{path} is larger than {_MOST_BYTES} bytes")
            file.seek(start)
            return file.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except StorageError as error:
        raise BackendError(str(error)) from error
    except OSError as error:
        raise BackendError(f"cannot read {path}: {error.strerror or error}") from error


class _Look(NamedTuple):
    """How a file looked when it was read."""

    inode: int
    modified: int
    size: int


class Folded(Generic[T]):
    """What the lines of a file amount to, read on where the file has only grown."""

    def __init__(
        self,
        path: Path,
        nothing: T,
        fold: Callable[[T, bytes], T],
        *,
        inside: Path | None = None,
    ) -> None:
        """Read nothing yet."""
        self._path = path
        self._nothing = nothing
        self._fold = fold
        self._inside = inside
        self._known = nothing
        self._length = 0
        self._end = b""
        self._look: _Look | None = None

    def value(self) -> T:
        """Read what is new; the same object as long as nothing has changed."""
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
        if known is not None and known.inode == look.inode and look.size >= self._length:
            content = self._grown()
        if content is None:
            self._known, self._length, self._end = self._nothing, 0, b""
            content = content_of(self._path, inside=self._inside)
        self._known = self._fold(self._known, content)
        self._length += len(content)
        self._end = (self._end + content)[-_END_LENGTH:]
        # A last line without an end is read once more, whoever is writing it.
        self._look = look if not self._end or self._end.endswith(b"\n") else None
        return self._known

    def _grown(self) -> bytes | None:
        """Read what has come after what is known."""
        content = content_of(self._path, self._length - len(self._end), inside=self._inside)
        return content[len(self._end) :] if content.startswith(self._end) else None

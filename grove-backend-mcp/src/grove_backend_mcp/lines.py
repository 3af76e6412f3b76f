"""Files of JSON objects, one a line, that are only ever appended to."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from grove_core import BackendError

T = TypeVar("T")


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
        grown = known is not None and known.inode == look.inode and look.size > known.size
        content = _content_from(self._path, known.size if known is not None and grown else 0)
        self._known = self._fold(self._known if grown else self._nothing, content)
        # A last line without an end is read once more, whoever is writing it.
        self._look = look if content.endswith(b"\n") or not content else None
        return self._known


def _content_from(path: Path, start: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read()
    except OSError as error:
        raise BackendError(f"cannot read {path}: {error.strerror or error}") from error

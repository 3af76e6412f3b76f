"""A file of JSON objects, one a line, that is appended to by several processes and by git."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Generic, TypeVar
from zlib import crc32

from attrs import frozen

from grove_core.storage.files import (
    append_text,
    confined,
    fingerprint_of,
    make_directory,
    read_bytes,
    replace,
)

T = TypeVar("T")

_MARK_FORM: Final = re.compile(r"j1 (0|[1-9][0-9]{0,15}) (0|[1-9][0-9]{0,9})")


@frozen(kw_only=True)
class Tail:
    """The lines that have come since an earlier look.

    Attributes:
        documents: The objects, in the order of the file.
        mark: What to ask with next time.
        whole: Whether these are all lines, because the file is new or is not the one from before
            with more at its end; otherwise they come after what is known.
        unreadable: How many of the lines hold no object: conflict markers, say.
    """

    documents: tuple[dict[str, Any], ...]
    mark: str
    whole: bool
    unreadable: int = 0


class JsonlStore(Generic[T]):
    """Appends lines all or nothing, reads on from where it was, and folds lines into a state.

    A last line that a crash has torn is healed by the next append. Lines that are no objects are
    left alone and skipped. Every object is written in ASCII, so that half a character of a path
    survives as an escape.
    """

    def __init__(
        self,
        path: Path,
        nothing: T,
        fold: Callable[[T, Iterable[Mapping[str, Any]]], T],
        *,
        inside: Path | None = None,
    ) -> None:
        """Read nothing yet.

        Args:
            path: The file; it need not exist.
            nothing: The state of an empty file.
            fold: From a state and further lines to the next state; changes neither.
            inside: A directory that symbolic links must not lead out of; ``None`` for anywhere.
        """
        self.path = path
        self._nothing = nothing
        self._fold = fold
        self._inside = inside
        self._state = nothing
        self._mark = ""
        self._look = ""

    def append(self, *documents: Mapping[str, Any]) -> None:
        """Append objects, all of them or none.

        Args:
            documents: What JSON can hold.

        Raises:
            StorageError: They could not be written; the file is then as it was.
        """
        append_text(self.path, _text_of(documents), inside=self._inside)

    def replace(self, *documents: Mapping[str, Any]) -> None:
        """Write objects in the place of all lines; for what can be had again.

        Args:
            documents: What JSON can hold.

        Raises:
            StorageError: They could not be written; the file is then as it was.
        """
        path = confined(self.path, self._inside)
        make_directory(self.path.parent)
        replace(path, _text_of(documents).encode("ascii"))

    def state(self) -> T:
        """Fold what has been written so far, by any process.

        Returns:
            The state; the same object as long as nothing has changed.

        Raises:
            StorageError: The file cannot be read.
        """
        look = fingerprint_of([self.path])
        if look == self._look:
            return self._state
        tail = self.since(self._mark)
        if tail.whole:
            self._state = self._nothing
        if tail.documents:
            self._state = self._fold(self._state, tail.documents)
        self._mark, self._look = tail.mark, look
        return self._state

    def naming(self, *texts: str) -> Iterator[Mapping[str, Any]]:
        """Read only the objects that hold a text, such as an id: a look-up in a long file.

        Args:
            texts: Whole strings of the objects, as keys or as values.

        Returns:
            The objects that hold one of them, in the order of the file.

        Raises:
            StorageError: The file cannot be read.
        """
        content = self._content()
        lines: dict[int, bytes] = {}
        for text in texts:
            quoted = json.dumps(text).encode()
            place = content.find(quoted)
            while place >= 0:
                start, end = content.rfind(b"\n", 0, place) + 1, content.find(b"\n", place)
                end = len(content) if end < 0 else end
                lines[start] = content[start:end]
                place = content.find(quoted, end)
        return _objects(b"\n".join(lines[start] for start in sorted(lines)))

    def since(self, mark: str) -> Tail:
        """Read what has come after an earlier look.

        Args:
            mark: The mark of that look; empty at first. It may be kept in a file: one that is
                damaged, or of another file, means that everything is read.

        Returns:
            The lines. A last one without its end is left for the next look, unless it is an object
            already.

        Raises:
            StorageError: The file cannot be read.
        """
        content = self._content()
        size = content.rfind(b"\n") + 1
        if size < len(content) and next(_objects(content[size:]), None) is not None:
            size = len(content)
        start = None
        # The file may not begin as it was.
        if match := _MARK_FORM.fullmatch(mark):
            known = content[: int(match[1])]
            if len(known) == int(match[1]) and crc32(known) == int(match[2]):
                start = len(known)
        rest = content[start or 0 : size]
        documents = tuple(_objects(rest))
        lines = sum(1 for line in rest.split(b"\n") if line.strip())
        return Tail(
            documents=documents,
            mark=f"j1 {size} {crc32(content[:size])}",
            whole=start is None,
            unreadable=lines - len(documents),
        )

    def _content(self) -> bytes:
        return read_bytes(confined(self.path, self._inside)) or b""


def _text_of(documents: Iterable[Mapping[str, Any]]) -> str:
    return "".join(f"{json.dumps(document)}\n" for document in documents)


def _objects(content: bytes) -> Iterator[dict[str, Any]]:
    for line in content.split(b"\n"):
        if not line.lstrip().startswith(b"{"):
            continue
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            yield document

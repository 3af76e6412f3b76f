"""What is new in the files since an earlier look, told without parsing all of them again."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from zlib import crc32

from grove_backend_markdown.reader import Reading, read_entries
from grove_core import Changes, Learning, __version__

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_HEADED_ID: Final = re.compile(rb"\n#{1,6}[ \t]+\[?[ \t\r]*([A-Za-z0-9_-]+)")


class FileMark(NamedTuple):
    """What a file was when it was read: as much as it takes to see what is new in it."""

    size: int
    checksum: int
    settled: int
    settled_checksum: int
    ids: Sequence[str]


class _News(NamedTuple):
    """What is new in a file."""

    learnings: tuple[Learning, ...]
    mark: FileMark


def changes_since(contents: Mapping[str, bytes], mark: str) -> Changes:
    """Return what has changed since an earlier answer."""
    known = _read_mark(mark)
    news = None if known is None else _read_on(contents, known)
    if news is not None:
        return _answer(news, whole=False)
    return _answer({name: _read(content) for name, content in contents.items()}, whole=True)


def _answer(news: Mapping[str, _News], *, whole: bool) -> Changes:
    learnings: dict[str, Learning] = {}
    for one in news.values():
        for learning in one.learnings:
            learnings.setdefault(learning.id, learning)
    return Changes(
        learnings=tuple(sorted(learnings.values(), key=lambda learning: learning.timestamp)),
        mark=_write_mark({name: one.mark for name, one in news.items()}),
        whole=whole,
    )


def _read_on(
    contents: Mapping[str, bytes], known: Mapping[str, FileMark]
) -> Mapping[str, _News] | None:
    """Read what is new in each file; ``None`` in any doubt."""
    if not known.keys() <= contents.keys():
        return None
    news: dict[str, _News] = {}
    for name, content in contents.items():
        one = _read_file_on(content, known[name]) if name in known else _read(content)
        if one is None:
            return None
        news[name] = one
    return news if _stand_once(news, contents) else None


def _read_file_on(content: bytes, known: FileMark) -> _News | None:
    settled = crc32(memoryview(content)[: known.settled])
    if settled != known.settled_checksum:
        return None
    rest = content[known.settled :]
    if len(content) == known.size and crc32(rest, settled) == known.checksum:
        return _News((), known)
    if known.settled and not rest.startswith(b"#"):
        return None
    reading = _reading_of(rest)
    if known.settled and reading.has_markers:
        return None
    is_there = {entry.learning.id for entry in reading.entries}.issuperset(known.ids)
    return _news_of(rest, reading, known.settled, settled) if is_there else None


def _read(content: bytes) -> _News:
    return _news_of(content, _reading_of(content), 0, 0)


def _reading_of(content: bytes) -> Reading:
    return read_entries(content.decode("utf-8", "surrogateescape"))


def _news_of(rest: bytes, reading: Reading, before: int, checksum: int) -> _News:
    """Put together what was read behind some bytes that were known, and their checksum."""
    end = _offset_of(rest, reading.settled)
    settled = crc32(memoryview(rest)[:end], checksum)
    mark = FileMark(
        size=before + len(rest),
        checksum=crc32(memoryview(rest)[end:], settled),
        settled=before + end,
        settled_checksum=settled,
        ids=tuple(
            entry.learning.id for entry in reading.entries if entry.first_line >= reading.settled
        ),
    )
    return _News(tuple(entry.learning for entry in reading.entries), mark)


def _offset_of(content: bytes, line: int) -> int:
    """Find where a line begins, from the end: it is the last entry's as a rule."""
    if line == 1:
        return 0
    behind = content.count(b"\n") - (line - 1)
    return len(content.rsplit(b"\n", behind + 1)[0]) + 1


def _stand_once(news: Mapping[str, _News], contents: Mapping[str, bytes]) -> bool:
    """Return whether no id that was read heads anything else."""
    ids = [learning.id.encode() for one in news.values() for learning in one.learnings]
    if not ids:
        return True
    headed: Counter[bytes] = Counter()
    for content in contents.values():
        # A file of one line, without an end, holds no entry.
        first_line = content[: content.find(b"\n") + 1].removeprefix(_BYTE_ORDER_MARK)
        headed.update(_HEADED_ID.findall(b"\n" + first_line))
        headed.update(_HEADED_ID.findall(content))
    return all(headed[one] == 1 for one in ids)


def _write_mark(files: Mapping[str, FileMark]) -> str:
    # Another version may read the same file otherwise.
    body = json.dumps([__version__, files], separators=(",", ":"))
    return f"{crc32(body.encode()):08x} {body}"


def _read_mark(text: str) -> Mapping[str, FileMark] | None:
    checksum, _, body = text.partition(" ")
    if not text.isascii() or checksum != f"{crc32(body.encode()):08x}":
        return None
    try:
        version, files = json.loads(body)
        marks = {name: FileMark(*values) for name, values in files.items()}
    except (AttributeError, RecursionError, TypeError, ValueError):
        return None
    return marks if version == __version__ else None

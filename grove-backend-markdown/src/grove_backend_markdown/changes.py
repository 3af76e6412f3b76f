"""What is new in the files since an earlier look, told without parsing all of them again."""

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from zlib import crc32

from grove_backend_markdown.reader import read_entries
from grove_core import Changes, Learning, __version__

_ENTRY_STARTS: Final = (b"### [", b"\n### [")


class FileMark(NamedTuple):
    """What a file was when it was read."""

    size: int
    checksum: int
    ends_whole: bool
    ids: Sequence[str]


class _News(NamedTuple):
    """What is new in a file."""

    learnings: Sequence[Learning]
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
    """Read what is new in each file; ``None`` where something is gone, or stands there twice."""
    news = {name: _read_file_on(content, known.get(name)) for name, content in contents.items()}
    ids = [each for one in news.values() for each in one.mark.ids]
    before = {each for one in known.values() for each in one.ids}
    return news if len({*ids}) == len(ids) and before.issubset(ids) else None


def _read_file_on(content: bytes, known: FileMark | None) -> _News:
    if known is None or crc32(memoryview(content)[: known.size]) != known.checksum:
        return _read(content)
    if len(content) == known.size:
        return _News((), known)
    added = content[known.size :]
    if not known.ends_whole or not added.startswith(_ENTRY_STARTS):
        return _read(content)
    learnings, mark = _read(added)
    checksum = crc32(added, known.checksum)
    grown = FileMark(len(content), checksum, mark.ends_whole, (*known.ids, *mark.ids))
    return _News(learnings, grown)


def _read(content: bytes) -> _News:
    reading = read_entries(content.decode("utf-8", "surrogateescape"))
    learnings = [entry.learning for entry in reading.entries]
    ids = [one.id for one in learnings]
    ends_whole = reading.ends_whole and content.endswith(b"\n")
    return _News(learnings, FileMark(len(content), crc32(content), ends_whole, ids))


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

"""What is new since an earlier answer, without reading the whole record again."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from grove_backend_mcp.storage.contents import Contents
from grove_backend_mcp.storage.lines import content_of
from grove_backend_mcp.storage.record import NOTHING, read_lines
from grove_core import Changes, Learning

_FORMAT: Final = "mcp1"
_MOST_LOOKED_UP: Final = 100


class _Mark(NamedTuple):
    """What was known at an earlier answer."""

    size: int
    checksum: int
    seen: str


def changes_since(contents: Contents, mark: str) -> Changes:
    """Return what has changed since an earlier answer."""
    # Before anything is read: what changes meanwhile is seen the next time.
    seen = _look_of(contents.seen.path)
    content = content_of(contents.record.path, inside=contents.record.root)
    now = _Mark(len(content), crc32(content), seen)
    known = _read_mark(mark)
    news = None if known is None or known.seen != seen else _news(contents, content, known)
    learnings = contents.learnings() if news is None else news
    return Changes(
        learnings=tuple(sorted(learnings, key=lambda one: one.timestamp)),
        mark=_write_mark(now),
        whole=news is None,
    )


def _news(contents: Contents, content: bytes, known: _Mark) -> Iterable[Learning] | None:
    """Return what lines at the end of the record are about; ``None`` where all is to be read."""
    if len(content) < known.size or crc32(content[: known.size]) != known.checksum:
        return None
    rest = content[known.size :]
    if rest and known.size and content[known.size - 1 : known.size] != b"\n":
        return None
    new = read_lines(NOTHING, rest)
    ids = new.learnings.keys() | new.statuses.keys()
    if len(ids) > _MOST_LOOKED_UP:
        return None
    recorded = read_lines(NOTHING, _lines_about(content, ids))
    others = contents.seen.learnings() if ids - recorded.learnings.keys() else {}
    found = (recorded.learnings.get(one) or others.get(one) for one in ids)
    return [recorded.now(one) for one in found if one is not None]


def _lines_about(content: bytes, ids: Iterable[str]) -> bytes:
    """Return the lines that name some learnings."""
    lines: dict[int, bytes] = {}
    for learning_id in ids:
        quoted = f'"{learning_id}"'.encode()
        place = content.find(quoted)
        while place >= 0:
            start, end = content.rfind(b"\n", 0, place) + 1, content.find(b"\n", place)
            end = len(content) if end < 0 else end
            lines[start] = content[start:end]
            place = content.find(quoted, end)
    return b"\n".join(lines[start] for start in sorted(lines))


def _look_of(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"


def _read_mark(text: str) -> _Mark | None:
    try:
        start, checksum, body = text.split(" ", 2)
        if start != _FORMAT or int(checksum) != crc32(body.encode("ascii")):
            return None
        size, content, seen = json.loads(body)
    except ValueError:
        return None
    return _Mark(size, content, seen)


def _write_mark(mark: _Mark) -> str:
    body = json.dumps(mark, separators=(",", ":"))
    return f"{_FORMAT} {crc32(body.encode('ascii'))} {body}"

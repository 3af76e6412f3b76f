"""Changes since an earlier answer, without reading everything again."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from grove_backend_totalrecall.contents import Contents
from grove_backend_totalrecall.lines import head_of
from grove_backend_totalrecall.paths import LARGEST_BYTES, MemoryFile
from grove_backend_totalrecall.reading import Entry, Reading, read_log
from grove_backend_totalrecall.record import fold
from grove_backend_totalrecall.standing import Texts
from grove_backend_totalrecall.store import Store
from grove_core import Changes, StorageError, fingerprint_of, read_text

_FORMAT: Final = "tr2"
_NEWEST: Final = 3
_UNSURE: Final = ""

_Readings = Sequence[tuple[MemoryFile, Reading]]


class _Beginning(NamedTuple):
    """What a file held, which it may only add to."""

    size: int
    checksum: int


class _Mark(NamedTuple):
    """What was known at an earlier answer."""

    others: str
    newest: Mapping[str, _Beginning]
    record: str
    ids: str
    claims: Sequence[str]


class _Look:
    """How everything looks, before anything is read: what changes meanwhile is seen next time."""

    def __init__(self, store: Store) -> None:
        paths = store.paths
        self.files = {file.name: file for file in paths.files()}
        self.logs = [
            file.name
            for file in self.files.values()
            if file.day is not None and file.path.parent == paths.daily
        ]
        self._fingerprints = [
            (name, fingerprint_of([file.path])) for name, file in self.files.items()
        ]
        self._around = fingerprint_of([paths.metadata]), time.tzname, time.timezone

    def without(self, names: Iterable[str]) -> str:
        """Say in a few characters how all files look but some."""
        left_out = frozenset(names)
        looks = [one for one in self._fingerprints if one[0] not in left_out]
        return sha256(repr((self._around, looks)).encode()).hexdigest()


class _Grown(NamedTuple):
    """A log whose new part says nothing about what was there before."""

    file: MemoryFile
    content: bytes
    entries: Sequence[Entry]


def changes_since(store: Store, mark: str) -> Changes:
    """Return what has changed since an earlier answer."""
    look = _Look(store)
    known = _read_mark(mark)
    return (known and _news(store, look, known)) or _everything(store, look)


def _everything(store: Store, look: _Look) -> Changes:
    newest = {name: _content_of(look.files[name].path) for name in look.logs[-_NEWEST:]}
    record = store.record.lines.since("").mark
    contents = store.contents()
    readings = contents.readings
    ids = {*_ids_in(readings), *store.record.entries()}
    held = {name: content for name, content in newest.items() if content is not None}
    mark = _Mark(
        others=look.without(held) if len(held) == len(newest) else _UNSURE,
        newest={name: _beginning(content) for name, content in held.items()},
        record=record,
        ids=f" {' '.join(ids)} ",
        claims=list(dict.fromkeys(_claims_in(readings))),
    )
    return _answer(contents, mark, whole=True)


def _news(store: Store, look: _Look, known: _Mark) -> Changes | None:
    """Return what the newest logs have got; ``None`` in any doubt."""
    latest = max(known.newest, default="")
    names = [name for name in look.logs if name in known.newest or name > latest]
    if not known.newest.keys() <= set(names) or look.without(names) != known.others:
        return None
    grown: list[_Grown] = []
    for name in names:
        one = _read_on(look.files[name], known.newest.get(name, _beginning(b"")))
        if one is None or any(_may_be_known(entry, known) for entry in one.entries):
            return None
        grown.append(one)
    ids = {entry.learning_id for one in grown for entry in one.entries}
    tail = store.record.lines.since(known.record)
    recorded = fold({}, tail.documents)
    if tail.whole or not recorded.keys() <= ids:
        return None
    newest = {one.file.name: _beginning(one.content) for one in grown[-_NEWEST:]}
    mark = known._replace(
        others=look.without(newest),
        newest=newest,
        record=tail.mark,
        ids=known.ids + "".join(f"{one} " for one in ids),
    )
    readings = [(one.file, Reading(tuple(one.entries), (), ())) for one in grown]
    return _answer(Contents(readings, recorded, {}, {}), mark, whole=False)


def _answer(contents: Contents, mark: _Mark, *, whole: bool) -> Changes:
    learnings = (one.learning for one in contents.learnings())
    return Changes(
        learnings=tuple(sorted(learnings, key=lambda learning: learning.timestamp)),
        mark=_write_mark(mark),
        whole=whole,
    )


def _read_on(file: MemoryFile, known: _Beginning) -> _Grown | None:
    """Read what a log has got since; ``None`` unless all else is as it was."""
    content = _content_of(file.path)
    if content is None or not _begins_with(content, known):
        return None
    if len(content) == known.size:
        return _Grown(file, content, ())
    before = read_log(_text(content[: known.size]), daily=True)
    now = read_log(_text(content), daily=True)
    count = len(before.entries)
    if now.entries[:count] != before.entries or now.marks != before.marks:
        return None
    return _Grown(file, content, now.entries[count:])


def _may_be_known(entry: Entry, known: _Mark) -> bool:
    """Return whether an entry may be about something known, or something known about it."""
    text = Texts({entry.learning_id: entry.summary})
    return (
        f" {entry.learning_id} " in known.ids
        or bool(entry.durable_id)
        or any(text.quoted_by(claim) for claim in known.claims)
    )


def _ids_in(readings: _Readings) -> Iterator[str]:
    """Return every id that stands anywhere, also where it is only mentioned."""
    for file, reading in readings:
        yield from (entry.learning_id for entry in reading.entries)
        yield from (mark.learning_id for mark in reading.marks if mark.learning_id)
        if file.day is None:
            heads = (head_of(note.text) for note in reading.notes if note.is_superseded)
            yield from (head.learning_id for head in heads if head)


def _claims_in(readings: _Readings) -> Iterator[str]:
    for file, reading in readings:
        yield from (mark.claim for mark in reading.marks if not mark.learning_id)
        if file.day is None:
            yield from (note.text for note in reading.notes if note.is_superseded)


def _read_mark(text: str) -> _Mark | None:
    try:
        start, checksum, body = text.split(" ", 2)
        if start != _FORMAT or int(checksum) != crc32(body.encode("ascii")):
            return None
        others, newest, record, ids, claims = json.loads(body)
    except ValueError:
        return None
    begun = {name: _Beginning(*one) for name, one in newest.items()}
    return _Mark(others, begun, record, ids, claims)


def _write_mark(mark: _Mark) -> str:
    body = json.dumps(mark, separators=(",", ":"))
    return f"{_FORMAT} {crc32(body.encode('ascii'))} {body}"


def _content_of(path: Path) -> bytes | None:
    """Read a log; ``None`` for one that cannot or should not be read."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_BYTES:
            return None
        text = read_text(path)
    except (OSError, StorageError):
        return None
    return None if text is None else _bytes(text)


def _beginning(content: bytes) -> _Beginning:
    return _Beginning(len(content), crc32(content))


def _begins_with(content: bytes, known: _Beginning) -> bool:
    return len(content) >= known.size and crc32(content[: known.size]) == known.checksum


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")

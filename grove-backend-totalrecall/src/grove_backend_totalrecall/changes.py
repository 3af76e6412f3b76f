"""Changes since an earlier answer, without reading everything again."""

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple
from zlib import crc32

from grove_backend_totalrecall.contents import Contents, superseded_claims
from grove_backend_totalrecall.lines import head_of
from grove_backend_totalrecall.paths import MemoryFile, read_file
from grove_backend_totalrecall.reader import Entry, Reading, read_log
from grove_backend_totalrecall.record import fold
from grove_backend_totalrecall.status import Readings, Texts
from grove_backend_totalrecall.store import Store
from grove_core import Changes, fingerprint_of

_FORMAT: Final = "tr2"
_NEWEST: Final = 3
_UNSURE: Final = ""


class _Mark(NamedTuple):
    """What was known at an earlier answer: the newest logs may only add to what they held."""

    others: str
    newest: Mapping[str, Sequence[int]]
    record: str
    ids: str
    claims: Sequence[str]


class _Look:
    """How everything looks, before anything is read: what changes meanwhile is seen next time."""

    def __init__(self, store: Store) -> None:
        paths = store.paths
        self.files = {file.name: file for file in paths.files()}
        self.logs = [
            name
            for name, file in self.files.items()
            if file.day is not None and file.path.parent == paths.daily
        ]
        self._around = fingerprint_of([paths.metadata]), time.tzname, time.timezone
        self._looks = {name: fingerprint_of([one.path]) for name, one in self.files.items()}

    def without(self, names: Collection[str]) -> str:
        """Say in a few characters how all files look but some."""
        looks = [one for one in self._looks.items() if one[0] not in names]
        return sha256(repr((self._around, looks)).encode()).hexdigest()


class _Grown(NamedTuple):
    """A log whose new part says nothing about what was there before."""

    file: MemoryFile
    content: bytes
    entries: Sequence[Entry]


def changes_since(store: Store, mark: str) -> Changes:
    """Return what has changed since an earlier answer."""
    look, known = _Look(store), _read_mark(mark)
    return (known and _news(store, look, known)) or _everything(store, look)


def _everything(store: Store, look: _Look) -> Changes:
    newest = {name: read_file(look.files[name].path) for name in look.logs[-_NEWEST:]}
    record = store.record.lines.since("").mark
    contents = store.contents()
    held = {name: content for name, content in newest.items() if content is not None}
    mark = _Mark(
        others=look.without(held) if len(held) == len(newest) else _UNSURE,
        newest={name: _size_and_sum(content) for name, content in held.items()},
        record=record,
        ids=f" {' '.join({*_ids_in(contents.readings), *store.record.entries()})} ",
        claims=list(dict.fromkeys(_claims_in(contents.readings))),
    )
    return _answer(contents, mark, whole=True)


def _news(store: Store, look: _Look, known: _Mark) -> Changes | None:
    """Return what the newest logs have got; ``None`` in any doubt."""
    latest = max(known.newest, default="")
    names = [name for name in look.logs if name in known.newest or name > latest]
    if not known.newest.keys() <= set(names) or look.without(names) != known.others:
        return None
    found = [_read_on(look.files[name], *known.newest.get(name, (0, 0))) for name in names]
    grown = [one for one in found if one is not None]
    entries = [entry for one in grown for entry in one.entries]
    if len(grown) < len(names) or any(_may_be_known(entry, known) for entry in entries):
        return None
    ids = {entry.learning_id for entry in entries}
    tail = store.record.lines.since(known.record)
    recorded = fold({}, tail.documents)
    if tail.whole or not recorded.keys() <= ids:
        return None
    newest = {one.file.name: _size_and_sum(one.content) for one in grown[-_NEWEST:]}
    mark = known._replace(
        others=look.without(newest),
        newest=newest,
        record=tail.mark,
        ids=known.ids + "".join(f"{one} " for one in ids),
    )
    readings = [(one.file, Reading(tuple(one.entries), (), ())) for one in grown]
    return _answer(Contents(readings, recorded, {}), mark, whole=False)


def _answer(contents: Contents, mark: _Mark, *, whole: bool) -> Changes:
    learnings = (one.learning for one in contents.learnings())
    body = json.dumps(mark, separators=(",", ":"))
    return Changes(
        learnings=tuple(sorted(learnings, key=lambda learning: learning.timestamp)),
        mark=f"{_FORMAT} {crc32(body.encode())} {body}",
        whole=whole,
    )


def _read_on(file: MemoryFile, size: int, checksum: int) -> _Grown | None:
    """Read what a log has got since; ``None`` unless all else is as it was."""
    content = read_file(file.path)
    if content is None or _size_and_sum(content[:size]) != (size, checksum):
        return None
    if len(content) == size:
        return _Grown(file, content, ())
    before = read_log(content[:size], daily=True)
    now = read_log(content, daily=True)
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


def _ids_in(readings: Readings) -> Iterator[str]:
    """Return every id that stands anywhere, also where it is only mentioned."""
    for _, reading in readings:
        yield from (entry.learning_id for entry in reading.entries)
        yield from (mark.learning_id for mark in reading.marks)
    heads = map(head_of, superseded_claims(readings))
    yield from (head.learning_id for head in heads if head)


def _claims_in(readings: Readings) -> Iterator[str]:
    for _, reading in readings:
        yield from (mark.claim for mark in reading.marks if not mark.learning_id)
    yield from superseded_claims(readings)


def _read_mark(text: str) -> _Mark | None:
    try:
        start, checksum, body = text.split(" ", 2)
        if start != _FORMAT or int(checksum) != crc32(body.encode("ascii")):
            return None
        fields: Any = json.loads(body)
    except ValueError:
        return None
    return _Mark(*fields)


def _size_and_sum(content: bytes) -> tuple[int, int]:
    return len(content), crc32(content)

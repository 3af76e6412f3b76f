"""All learnings of a project that are known here: grove's own record, and what others have written.

The record is the truth on this side of a server; git may merge its lines in any order.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from attrs import evolve

from grove_core import (
    BackendContext,
    Changes,
    CodecError,
    JsonlStore,
    Learning,
    LearningStatus,
    format_instant,
    is_learning_id,
    learning_from_dict,
    learning_to_dict,
    parse_instant,
)

MOST_NOTES: Final = 200
_KEY_LENGTH: Final = 16
_STATUSES: Final = {status.value: status for status in LearningStatus}
_NEXT: Final = timedelta(microseconds=1)
_MOST_LOOKED_UP: Final = 100
_BETWEEN_MARKS: Final = "|"


class Paths:
    """The files of one project."""

    def __init__(self, context: BackendContext, server: str) -> None:
        import hashlib  # it loads OpenSSL; what only detects the backend needs no paths

        real = os.path.realpath(context.root).encode("utf-8", "surrogateescape")
        key = hashlib.sha256(real).hexdigest()[:_KEY_LENGTH]
        own = context.home / "mcp" / key
        cached = context.home / "cache" / "mcp" / key / (server or "none")
        self.root: Path = context.root
        self.record: Path = context.root / ".grove" / "mcp.jsonl"
        self.journal: Path = own / "journal.jsonl"
        self.lock: Path = own / "delivery.lock"
        self.seen: Path = cached / "seen.jsonl"
        self.notes: Path = cached / "notes.jsonl"
        self.breaker: Path = cached / "breaker.json"
        self.synchronised: Path = cached / "synchronised"
        self.warnings: Path = cached / "warnings.txt"


class StatusChange(NamedTuple):
    """A status that a learning was given."""

    at: datetime
    status: LearningStatus


class Recorded(NamedTuple):
    """What lines of the record say."""

    learnings: Mapping[str, Learning]
    statuses: Mapping[str, StatusChange]

    def now(self, learning: Learning) -> Learning:
        """Give a learning the status it has by now."""
        change = self.statuses.get(learning.id)
        if change is None or change.status is learning.status:
            return learning
        return evolve(learning, status=change.status)

    def get(self, learning_id: str) -> Learning | None:
        """Return a learning as it is now."""
        learning = self.learnings.get(learning_id)
        return None if learning is None else self.now(learning)


_EMPTY: Final = Recorded({}, {})


class Record:
    """The record of one project."""

    def __init__(self, path: Path, root: Path) -> None:
        self.lines = JsonlStore(path, _EMPTY, _fold_record, inside=root)

    def contents(self) -> Recorded:
        """Read what is recorded; the same object as long as nothing has changed."""
        return self.lines.state()

    def about(self, ids: Iterable[str]) -> Recorded:
        """Read what is recorded of a few learnings."""
        return _fold_record(_EMPTY, self.lines.naming(*ids))

    def add(self, learning: Learning, at: datetime) -> bool:
        """Record a learning, unless its id is recorded."""
        if learning.id in self.contents().learnings:
            return False
        self.lines.append({"at": format_instant(at), "learning": learning_to_dict(learning)})
        return True

    def add_status(
        self, learning_id: str, status: LearningStatus, at: datetime, note: str = ""
    ) -> None:
        """Record a status; it counts as the latest, also where a clock was ahead before."""
        before = self.contents().statuses.get(learning_id)
        when = at if before is None else max(at, _after(before.at))
        line = {"at": format_instant(when), "id": learning_id, "status": status.value}
        self.lines.append(line | ({"note": note} if note else {}))


class CachedLearnings:
    """A file of learnings that the server can give again; the latest line about one counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = JsonlStore[Mapping[str, Learning]](path, {}, _fold_learnings)

    def learnings(self) -> Mapping[str, Learning]:
        """Read the learnings by id, oldest line first."""
        return self.lines.state()

    def add(self, learnings: Iterable[Learning], *, most: int | None = None) -> None:
        """Add learnings, or other versions of known ones; of too many the oldest go."""
        known = self.learnings()
        new = {one.id: one for one in learnings if known.get(one.id) != one}
        if most is not None and len(known) + len(new) > most:
            rest = {one: known[one] for one in known if one not in new}
            self.replace([*rest.values(), *new.values()][-most:])
        elif new:
            self.lines.append(*map(_document_of, new.values()))

    def replace(self, learnings: Iterable[Learning]) -> int:
        """Store these learnings and no others; return how many are new or other versions."""
        known, found = self.learnings(), {one.id: one for one in learnings}
        if known != found:
            self.lines.replace(*map(_document_of, found.values()))
        return sum(known.get(one.id) != one for one in found.values())


class Contents:
    """The files of a project, read again only when they have changed."""

    def __init__(self, paths: Paths) -> None:
        self.record = Record(paths.record, paths.root)
        self.seen = CachedLearnings(paths.seen)
        self.notes = CachedLearnings(paths.notes)

    def get(self, learning_id: str) -> Learning | None:
        """Return a learning as it is now; of two that have an id, grove's own."""
        recorded = self.record.contents()
        own = recorded.get(learning_id)
        if own is not None:
            return own
        other = self.seen.learnings().get(learning_id)
        return None if other is None else recorded.now(other)

    def learnings(self) -> Iterator[Learning]:
        """Return all learnings as they are now, each once."""
        recorded = self.record.contents()
        yield from map(recorded.now, recorded.learnings.values())
        for learning_id, learning in self.seen.learnings().items():
            if learning_id not in recorded.learnings:
                yield recorded.now(learning)

    def changes(self, mark: str) -> Changes:
        """Return what has changed since an earlier answer."""
        record_mark, _, seen_mark = mark.partition(_BETWEEN_MARKS)
        tail, seen = self.record.lines.since(record_mark), self.seen.lines.since(seen_mark)
        ids = {one for one in map(_id_in, tail.documents) if isinstance(one, str)}
        whole = tail.whole or seen.whole or bool(seen.documents) or len(ids) > _MOST_LOOKED_UP
        learnings = self.learnings() if whole else self._lookup(ids)
        return Changes(
            learnings=tuple(sorted(learnings, key=lambda one: one.timestamp)),
            mark=f"{tail.mark}{_BETWEEN_MARKS}{seen.mark}",
            whole=whole,
        )

    def _lookup(self, ids: Iterable[str]) -> Iterator[Learning]:
        """Read a few learnings without reading the whole record."""
        recorded = self.record.about(ids)
        for learning_id in ids:
            found = recorded.learnings.get(learning_id) or self.seen.learnings().get(learning_id)
            if found is not None:
                yield recorded.now(found)


def instant_in(document: Mapping[str, Any], key: str = "at") -> datetime | None:
    """Read an instant; ``None`` for what is none."""
    text = document.get(key)
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None


def _fold_record(known: Recorded, documents: Iterable[Mapping[str, Any]]) -> Recorded:
    learnings, statuses = dict(known.learnings), dict(known.statuses)
    for document in documents:
        learning_id, status = document.get("id"), _STATUSES.get(str(document.get("status")))
        if "learning" in document:
            learning = _learning_in(document)
            if learning is not None:
                learnings.setdefault(learning.id, learning)
        elif isinstance(learning_id, str) and status and (at := instant_in(document)):
            before = statuses.get(learning_id)
            change = StatusChange(at, status)
            if before is None or _rank(change) > _rank(before):
                statuses[learning_id] = change
    return Recorded(learnings, statuses)


def _fold_learnings(
    known: Mapping[str, Learning], documents: Iterable[Mapping[str, Any]]
) -> Mapping[str, Learning]:
    found = dict(known)
    for learning in filter(None, map(_learning_in, documents)):
        found.pop(learning.id, None)
        found[learning.id] = learning
    return found


def _rank(change: StatusChange) -> tuple[datetime, str]:
    # Two clones may have changed one in the same instant: any order, but the same for both.
    return change.at, change.status.value


def _after(instant: datetime) -> datetime:
    try:
        return instant + _NEXT
    except OverflowError:
        return instant  # somebody has written down the end of time


def _document_of(learning: Learning) -> dict[str, Any]:
    return {"learning": learning_to_dict(learning)}


def _learning_in(document: Mapping[str, Any]) -> Learning | None:
    try:
        learning = learning_from_dict(document.get("learning"))
    except CodecError:
        return None
    return learning if is_learning_id(learning.id) else None


def _id_in(document: Mapping[str, Any]) -> object:
    learning = document.get("learning")
    return learning.get("id") if isinstance(learning, dict) else document.get("id")

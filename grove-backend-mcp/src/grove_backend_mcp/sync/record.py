"""What is kept on this side of a server: grove's own record, and what others have written there.

The record is the truth on this side; git may merge its lines in any order.
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

STATUSES: Final = {status.value: status for status in LearningStatus}
_KEY_LENGTH: Final = 16
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
        self.breaker: Path = cached / "breaker.json"
        self.synchronised: Path = cached / "synchronised"


class StatusChange(NamedTuple):
    """A status that a learning was given; of two at one instant, the same one counts for all."""

    at: datetime
    status: str


class Recorded(NamedTuple):
    """What lines of the record say."""

    learnings: Mapping[str, Learning]
    statuses: Mapping[str, StatusChange]

    def now(self, learning: Learning) -> Learning:
        """Give a learning the status it has by now."""
        change = self.statuses.get(learning.id)
        return learning if change is None else evolve(learning, status=STATUSES[change.status])

    def get(self, learning_id: str) -> Learning | None:
        """Return a learning as it is now."""
        learning = self.learnings.get(learning_id)
        return None if learning is None else self.now(learning)


_EMPTY: Final = Recorded({}, {})


class Record(JsonlStore[Recorded]):
    """The record of one project."""

    def __init__(self, path: Path, root: Path) -> None:
        super().__init__(path, _EMPTY, _fold_record, inside=root)

    def about(self, ids: Iterable[str]) -> Recorded:
        """Read what is recorded of a few learnings."""
        return _fold_record(_EMPTY, self.naming(*ids))

    def add(self, learning: Learning, at: datetime) -> bool:
        """Record a learning, unless its id is recorded."""
        if learning.id in self.state().learnings:
            return False
        self.append({"at": format_instant(at), "learning": learning_to_dict(learning)})
        return True

    def add_status(
        self, learning_id: str, status: LearningStatus, at: datetime, note: str = ""
    ) -> None:
        """Record a status; it counts as the latest, also where a clock was ahead before."""
        before = self.state().statuses.get(learning_id)
        when = at if before is None else max(at, before.at + _NEXT)
        line = {"at": format_instant(when), "id": learning_id, "status": status.value}
        self.append(line | ({"note": note} if note else {}))


class CachedLearnings(JsonlStore[Mapping[str, Learning]]):
    """Learnings that the server can give again; the latest line about one counts."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, {}, _fold_learnings)

    def add(self, learnings: Iterable[Learning]) -> None:
        """Add learnings, or other versions of known ones."""
        known = self.state()
        if new := {one.id: one for one in learnings if known.get(one.id) != one}:
            self.append(*map(_document_of, new.values()))

    def hold(self, learnings: Iterable[Learning]) -> int:
        """Store these learnings and no others; return how many are new or other versions."""
        known, found = self.state(), {one.id: one for one in learnings}
        if known != found:
            self.replace(*map(_document_of, found.values()))
        return sum(known.get(one.id) != one for one in found.values())


class Contents:
    """All learnings of a project that are known here."""

    def __init__(self, paths: Paths) -> None:
        self.record = Record(paths.record, paths.root)
        self.seen = CachedLearnings(paths.seen)

    def get(self, learning_id: str) -> Learning | None:
        """Return a learning as it is now; of two that have an id, grove's own."""
        return next(self._of(self.record.state(), [learning_id]), None)

    def learnings(self) -> Iterator[Learning]:
        """Return all learnings as they are now, each once."""
        recorded = self.record.state()
        return self._of(recorded, {**recorded.learnings, **self.seen.state()})

    def _of(self, recorded: Recorded, ids: Iterable[str]) -> Iterator[Learning]:
        seen = self.seen.state()
        found = (recorded.learnings.get(one) or seen.get(one) for one in ids)
        return (recorded.now(one) for one in found if one is not None)

    def changes(self, mark: str) -> Changes:
        """Return what has changed since an earlier answer."""
        record_mark, _, seen_mark = mark.partition(_BETWEEN_MARKS)
        tail, seen = self.record.since(record_mark), self.seen.since(seen_mark)
        ids = {one for one in map(_id_in, tail.documents) if isinstance(one, str)}
        whole = tail.whole or seen.whole or bool(seen.documents) or len(ids) > _MOST_LOOKED_UP
        # A few are read without the whole record.
        learnings = self.learnings() if whole else self._of(self.record.about(ids), ids)
        return Changes(
            learnings=tuple(sorted(learnings, key=lambda one: one.timestamp)),
            mark=f"{tail.mark}{_BETWEEN_MARKS}{seen.mark}",
            whole=whole,
        )


def instant_in(document: Mapping[str, Any], key: str = "at") -> datetime | None:
    """Read an instant; ``None`` for what is none."""
    try:
        return parse_instant(str(document.get(key)))
    except (ValueError, OverflowError):
        return None


def _fold_record(known: Recorded, documents: Iterable[Mapping[str, Any]]) -> Recorded:
    learnings, statuses = dict(known.learnings), dict(known.statuses)
    for document in documents:
        learning_id, status, at = document.get("id"), document.get("status"), instant_in(document)
        if "learning" in document:
            learning = _learning_in(document)
            if learning is not None:
                learnings.setdefault(learning.id, learning)
        elif isinstance(learning_id, str) and at and str(status) in STATUSES:
            change = StatusChange(at, str(status))
            statuses[learning_id] = max(change, statuses.get(learning_id, change))
    return Recorded(learnings, statuses)


def _fold_learnings(
    known: Mapping[str, Learning], documents: Iterable[Mapping[str, Any]]
) -> Mapping[str, Learning]:
    found = dict(known)
    for learning in filter(None, map(_learning_in, documents)):
        found.pop(learning.id, None)
        found[learning.id] = learning
    return found


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

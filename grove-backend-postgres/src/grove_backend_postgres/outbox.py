"""What waits for the database, on this machine: a file that is there before anything is sent."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from attrs import frozen

from grove_core import (
    CodecError,
    JsonlStore,
    Learning,
    LearningStatus,
    edit_text,
    format_instant,
    learning_from_dict,
    learning_to_dict,
    parse_instant,
)

_ACTIVE, _ARCHIVED, _SUPERSEDED = (
    LearningStatus.ACTIVE,
    LearningStatus.ARCHIVED,
    LearningStatus.SUPERSEDED,
)
_FINALITY: Final = {_ACTIVE: 0, _ARCHIVED: 1, _SUPERSEDED: 2}


@frozen(kw_only=True)
class StatusChange:
    """A change of a learning's status, as somebody made it who may not have known of others."""

    status: LearningStatus
    at: datetime
    was: LearningStatus
    note: str = ""


def counts(change: StatusChange, stored: LearningStatus, stored_at: datetime | None) -> bool:
    """Return whether a change counts, in whatever order changes arrive."""
    if stored is _SUPERSEDED and _SUPERSEDED not in (change.status, change.was):
        return False
    if stored_at is None or (stored is _ARCHIVED and change.status is _SUPERSEDED):
        return True
    return (change.at, _FINALITY[change.status]) >= (stored_at, _FINALITY[stored])


class Entry(NamedTuple):
    """Something that waits."""

    document: Mapping[str, Any]
    learning_id: str
    what: Learning | StatusChange


class Tail(NamedTuple):
    """What has come after an earlier look."""

    mark: str
    entries: tuple[Entry, ...]
    unreadable: int

    @property
    def ids(self) -> tuple[str, ...]:
        """The learnings that the entries are about, each once."""
        return tuple(dict.fromkeys(one.learning_id for one in self.entries))


class Outbox:
    """The file of one project."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = JsonlStore[None](path, None, lambda nothing, _: nothing)

    def since(self, mark: str) -> Tail:
        """Read what has come after an earlier look; everything where lines have been taken out."""
        tail = self._lines.since(mark)
        entries = tuple(filter(None, map(_entry_of, tail.documents)))
        # Version 0.1 wrote a first line of its own.
        others = sum("outbox" not in one for one in tail.documents) - len(entries)
        return Tail(tail.mark, entries, tail.unreadable + others)

    def all(self) -> Tail:
        """Read everything."""
        return self.since("")

    def about(self, ids: Collection[str]) -> list[Entry]:
        """Read what waits that is about a few learnings."""
        found = map(_entry_of, self._lines.naming(*ids))
        return [one for one in found if one is not None and one.learning_id in ids]

    def add(self, learnings: Iterable[Learning]) -> None:
        """Have learnings wait."""
        self._append([{"learning": learning_to_dict(one)} for one in learnings])

    def add_change(self, learning_id: str, change: StatusChange) -> None:
        """Have a change of a learning's status wait."""
        at, status, was = format_instant(change.at), change.status.value, change.was.value
        note = {"note": change.note} if change.note else {}
        self._append([{"id": learning_id, "status": status, "at": at, "was": was, **note}])

    def remove(self, entries: Collection[Entry]) -> None:
        """Take out what the database has; everything else stays as it is."""
        gone = set(map(_text_of, entries))

        def without(text: str) -> str:
            lines = text.splitlines(keepends=True)
            return "".join(one for one in lines if one.rstrip("\n") not in gone)

        if gone and self._lines.path.exists():
            edit_text(self._lines.path, without)

    def _append(self, documents: Collection[Mapping[str, Any]]) -> None:
        if documents:
            self._lines.append(*documents)


def _text_of(entry: Entry) -> str:
    return json.dumps(entry.document)


def new_learnings(entries: Iterable[Entry]) -> dict[str, Learning]:
    """Return the learnings that wait, by id."""
    return {one.learning_id: one.what for one in entries if isinstance(one.what, Learning)}


def _entry_of(document: Mapping[str, Any]) -> Entry | None:
    try:
        if "learning" in document:
            learning = learning_from_dict(document["learning"])
            return Entry(document, learning.id, learning)
        change = StatusChange(
            status=LearningStatus(document["status"]),
            at=parse_instant(document["at"]),
            was=LearningStatus(document["was"]),
            note=str(document.get("note", "")),
        )
        return Entry(document, str(document["id"]), change)
    except (CodecError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None

"""What all files hold at one moment, put together learning by learning."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from attrs import evolve

from grove_backend_totalrecall.foreign import Stored, marks_in, notes_of
from grove_backend_totalrecall.lines import head_of
from grove_backend_totalrecall.paths import MemoryFile
from grove_backend_totalrecall.reading import Entry, Reading
from grove_backend_totalrecall.record import NOTHING, Recorded
from grove_backend_totalrecall.standing import (
    EPOCH,
    Copy,
    Marks,
    Place,
    PlacedMark,
    Texts,
    instant_of,
    status_of,
)
from grove_core import (
    Category,
    CodecError,
    Confidence,
    Learning,
    LearningStatus,
    Scope,
    is_learning_id,
    learning_from_dict,
    learning_to_dict,
)

_ID_DATE: Final = re.compile(r"cl_(\d{4})(\d{2})(\d{2})_")


_Copy = tuple[Copy, Path]


class Known(NamedTuple):
    """The paths where a learning stands, what is recorded of it, and what that makes of it."""

    copies: Sequence[_Copy]
    rest: Mapping[str, Any] | None
    stored: Stored


class Contents:
    """What all files hold at one moment; a learning is put together when it is asked for."""

    def __init__(
        self,
        readings: Sequence[tuple[MemoryFile, Reading]],
        recorded: Mapping[str, Recorded],
        statuses: Mapping[str, LearningStatus],
        known: dict[str, Known],
    ) -> None:
        self.readings = readings
        self._recorded = recorded
        self._statuses = statuses
        self._known = known
        self.logs = sum(file.day is not None for file, _ in readings)
        self._copies = _copies_in(readings)

    @cached_property
    def _marks(self) -> Marks:
        return Marks(marks_in(self.readings), self._quotable)

    @cached_property
    def _quotable(self) -> Texts:
        """The summaries, which marks and registers may quote."""
        return Texts({one: _telling(copies).entry.summary for one, copies in self._copies.items()})

    @cached_property
    def _superseded(self) -> frozenset[str]:
        """The learnings whose claim a register calls superseded, with their id or word for word."""
        claims = [
            note.text
            for file, reading in self.readings
            if file.day is None
            for note in reading.notes
            if note.is_superseded
        ]
        found: set[str] = set()
        for claim in claims:
            head = head_of(claim)
            found.update([head.learning_id] if head else self._quotable.quoted_by(claim))
        return frozenset(found)

    def learning(self, learning_id: str) -> Stored | None:
        """Return a learning of grove's."""
        copies = self._copies.get(learning_id)
        if copies is None:
            return None
        recorded = self._recorded.get(learning_id, NOTHING)
        known = self._known.get(learning_id)
        if known is None or known.copies != copies or known.rest != recorded.rest:
            known = Known(copies, recorded.rest, _put_together(copies, recorded))
            self._known[learning_id] = known
        learning = known.stored.learning
        outside = [
            self._statuses[copy.entry.durable_id]
            for copy, _ in copies
            if copy.entry.durable_id in self._statuses
        ]
        if learning_id in self._superseded:
            outside.append(LearningStatus.SUPERSEDED)
        entries = [copy for copy, _ in copies]
        status = status_of(entries, recorded.changes, self.marks_about(learning_id), outside)
        return known.stored._replace(learning=evolve(learning, status=status))

    def marks_about(self, learning_id: str) -> Sequence[PlacedMark]:
        """Return the marks about a learning of grove's, in the order of the logs."""
        copies = self._copies.get(learning_id, ())
        logged = [Place(copy.day, copy.entry.line) for copy, _ in copies if copy.day is not None]
        return self._marks.about(learning_id, min(logged, default=None))

    def learnings(self) -> list[Stored]:
        """Return all learnings of grove's, in the order of the files."""
        found = map(self.learning, self._copies)
        return [one for one in found if one is not None]

    def lost(self) -> list[str]:
        """Name the learnings that are recorded and stand in no file any more."""
        return sorted(set(self._recorded) - set(self._copies))

    @cached_property
    def notes(self) -> Mapping[str, Stored]:
        """What others have written down, by ids made up here."""
        taken = {
            (copy.name, copy.entry.line) for copies in self._copies.values() for copy, _ in copies
        }
        return dict(notes_of(self.readings, taken, self._statuses))


def _copies_in(readings: Sequence[tuple[MemoryFile, Reading]]) -> dict[str, list[_Copy]]:
    """Find the paths of each learning; a mere reference to it is none."""
    found: dict[str, list[_Copy]] = {}
    for file, reading in readings:
        for entry in reading.entries:
            if is_learning_id(entry.learning_id):
                copy = Copy(entry, file.name, file.day)
                found.setdefault(entry.learning_id, []).append((copy, file.path))
    for learning_id, copies in list(found.items()):
        if any(copy.entry.is_behind for copy, _ in copies):
            found[learning_id] = _without_references(copies)
    return {one: copies for one, copies in found.items() if copies}


def _without_references(copies: Sequence[_Copy]) -> list[_Copy]:
    """Tell a promoted item with the id behind its text from one that says something about it."""
    heads = {one[0].entry.summary: one for one in copies if not one[0].entry.is_behind}
    quotable = Texts({summary: summary for summary in heads})

    def is_copy(entry: Entry) -> bool:
        if not entry.is_behind:
            return True
        return bool(quotable.quoted_by(entry.summary) if heads else entry.durable_id)

    return [one for one in copies if is_copy(one[0].entry)]


def _telling(copies: Sequence[_Copy]) -> Copy:
    """Return the place that has the summary: what was promoted says it better, in one line."""
    return next((copy for copy, _ in copies if copy.day is None), copies[0][0])


def _put_together(copies: Sequence[_Copy], recorded: Recorded) -> Stored:
    # A log's entry says most.
    fullest, path = next((one for one in copies if one[0].entry.detail is not None), copies[0])
    promoted = next((copy for copy, _ in copies if copy.day is None), fullest)
    learning = evolve(_learning_of(fullest), summary=promoted.entry.summary)
    return Stored(
        learning=_with_rest(learning, recorded),
        path=path,
        line=fullest.entry.line,
        complete=recorded.rest is not None
        and (fullest.entry.detail is not None or "detail" in recorded.rest),
    )


def _learning_of(copy: Copy) -> Learning:
    """Make a learning of what an entry says; the rest is as usual."""
    entry = copy.entry
    return Learning(
        id=entry.learning_id,
        category=entry.category or Category.PATTERN,
        summary=entry.summary,
        detail=entry.detail or "",
        session_id="",
        timestamp=EPOCH if copy.day is None else instant_of(copy.day, entry.time),
        scope=entry.scope or Scope.PROJECT,
        confidence=entry.confidence or Confidence.MEDIUM,
        tags=entry.tags or (),
        context_files=entry.context_files or (),
        ticket_id=entry.ticket_id,
        supersedes=entry.supersedes,
    )


def _with_rest(learning: Learning, recorded: Recorded) -> Learning:
    if recorded.rest:
        document = learning_to_dict(learning) | dict(recorded.rest) | {"id": learning.id}
        try:
            return learning_from_dict(document)
        except CodecError:
            pass  # somebody has edited the record
    return learning if learning.timestamp != EPOCH else evolve(learning, timestamp=_day(learning))


def rest_of(learning: Learning, entry: Learning) -> dict[str, Any]:
    """Return what an entry does not give back."""
    said = learning_to_dict(entry)
    return {
        key: value
        for key, value in learning_to_dict(learning).items()
        if key not in {"id", "status"} and said.get(key) != value
    }


def _day(learning: Learning) -> datetime:
    match = _ID_DATE.match(learning.id)
    try:
        return datetime(*map(int, match.groups()), tzinfo=UTC) if match else EPOCH  # type: ignore[arg-type,misc]
    except ValueError:
        return EPOCH

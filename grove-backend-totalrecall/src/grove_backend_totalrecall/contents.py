"""What all files hold at one moment, put together learning by learning and note by note."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from attrs import evolve

from grove_backend_totalrecall.lines import Entry, head_of
from grove_backend_totalrecall.notes import Note
from grove_backend_totalrecall.paths import MemoryFile
from grove_backend_totalrecall.record import NOTHING, Recorded
from grove_backend_totalrecall.status import (
    EPOCH,
    Copy,
    Marks,
    Place,
    PlacedMark,
    Readings,
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

_ID_DATE: Final = re.compile(r"cl_(\d{8})_")
_SUMMARY_LENGTH: Final = 200
_DIGEST_LENGTH: Final = 10
_STEM_LENGTH: Final = 40


class Stored(NamedTuple):
    """A learning and where it is."""

    learning: Learning
    path: Path
    line: int
    complete: bool


class Contents:
    """What all files hold at one moment; a learning is put together when it is asked for."""

    def __init__(
        self,
        readings: Readings,
        recorded: Mapping[str, Recorded],
        statuses: Mapping[str, LearningStatus],
    ) -> None:
        self.readings = readings
        self._recorded = recorded
        self._statuses = statuses
        self.logs = sum(file.day is not None for file, _ in readings)
        self._copies = _copies_in(readings)

    @cached_property
    def _marks(self) -> Marks:
        return Marks(self.readings, self._quotable)

    @cached_property
    def _quotable(self) -> Texts:
        """The summaries, which marks and registers may quote."""
        return Texts(
            {
                one: (_promoted(copies) or copies[0]).entry.summary
                for one, copies in self._copies.items()
            }
        )

    @cached_property
    def _superseded(self) -> frozenset[str]:
        """The learnings whose claim a register calls superseded, with their id or word for word."""
        found: set[str] = set()
        notes = (one for file, reading in self.readings if not file.day for one in reading.notes)
        for note in (one for one in notes if one.is_superseded):
            head = head_of(note.text)
            found.update([head.learning_id] if head else self._quotable.quoted_by(note.text))
        return frozenset(found)

    def learning(self, learning_id: str) -> Stored | None:
        """Return a learning of grove's."""
        copies = self._copies.get(learning_id)
        if copies is None:
            return None
        recorded = self._recorded.get(learning_id, NOTHING)
        durable_ids = (copy.entry.durable_id for copy in copies)
        outside = {self._statuses[one] for one in durable_ids if one in self._statuses}
        if learning_id in self._superseded:
            outside.add(LearningStatus.SUPERSEDED)
        marks = self.marks_about(learning_id)
        status = status_of(copies, recorded.changes, marks, outside)
        # A log's entry says most; what was promoted has the better summary.
        fullest = next((one for one in copies if one.entry.detail is not None), copies[0])
        summary = (_promoted(copies) or fullest).entry.summary
        learning = _with_rest(_learning_of(fullest, summary), recorded.rest or {})
        has_detail = fullest.entry.detail is not None or "detail" in (recorded.rest or {})
        return Stored(
            learning=evolve(learning, status=status),
            path=fullest.file.path,
            line=fullest.entry.line,
            complete=recorded.rest is not None and has_detail,
        )

    def marks_about(self, learning_id: str) -> Sequence[PlacedMark]:
        """Return the marks about a learning of grove's, in the order of the logs."""
        copies = self._copies.get(learning_id, ())
        logged = [Place(one.file.day, one.entry.line) for one in copies if one.file.day is not None]
        return self._marks.about(learning_id, min(logged, default=None))

    def learnings(self) -> list[Stored]:
        """Return all learnings of grove's, in the order of the files."""
        found = map(self.learning, self._copies)
        return [one for one in found if one is not None]

    @cached_property
    def notes(self) -> Mapping[str, Stored]:
        """What others have written down, as partial learnings by ids made up here."""
        entries = (copy for copies in self._copies.values() for copy in copies)
        taken = {(copy.file.name, copy.entry.line) for copy in entries}
        found = {
            learning.id: (learning, note, file)
            for file, reading in self.readings
            for note in reading.notes
            if (file.name, note.line) not in taken
            for learning in (_learning_of_note(note, file),)
        }
        marks = Marks(self.readings, Texts({one: note.text for one, (_, note, _) in found.items()}))
        notes: dict[str, Stored] = {}
        for one, (learning, note, file) in found.items():
            about = marks.about(one, None if file.day is None else Place(file.day, note.line))
            superseded = note.is_superseded or (bool(about) and about[-1].mark.word == "superseded")
            status = LearningStatus.SUPERSEDED if superseded else LearningStatus.ACTIVE
            status = self._statuses.get(note.durable_id, status)
            notes[one] = Stored(
                evolve(learning, status=status), file.path, note.line, complete=False
            )
        return notes


def _copies_in(readings: Readings) -> dict[str, list[Copy]]:
    """Find where each learning stands; a mere reference to it does not count."""
    found: dict[str, list[Copy]] = {}
    for file, reading in readings:
        for entry in reading.entries:
            if is_learning_id(entry.learning_id):
                found.setdefault(entry.learning_id, []).append(Copy(entry, file))
    for learning_id, copies in list(found.items()):
        if any(copy.entry.is_behind for copy in copies):
            found[learning_id] = _without_references(copies)
    return {one: copies for one, copies in found.items() if copies}


def _without_references(copies: Sequence[Copy]) -> list[Copy]:
    """Tell a promoted item with the id behind its text from one that says something about it."""
    heads = {one.entry.summary for one in copies if not one.entry.is_behind}
    quotable = Texts({summary: summary for summary in heads})

    def is_copy(entry: Entry) -> bool:
        if not entry.is_behind:
            return True
        return bool(quotable.quoted_by(entry.summary) if heads else entry.durable_id)

    return [one for one in copies if is_copy(one.entry)]


def _promoted(copies: Sequence[Copy]) -> Copy | None:
    return next((one for one in copies if one.file.day is None), None)


def _learning_of(copy: Copy, summary: str) -> Learning:
    """Make a learning of what an entry says; the rest is as usual."""
    entry, day = copy.entry, copy.file.day
    return Learning(
        id=entry.learning_id,
        category=entry.category or Category.PATTERN,
        summary=summary,
        detail=entry.detail or "",
        session_id="",
        timestamp=_day_in(entry.learning_id) if day is None else instant_of(day, entry.time),
        scope=entry.scope or Scope.PROJECT,
        confidence=entry.confidence or Confidence.MEDIUM,
        tags=entry.tags or (),
        context_files=entry.context_files or (),
        ticket_id=entry.ticket_id,
        supersedes=entry.supersedes,
    )


def _day_in(learning_id: str) -> datetime:
    match = _ID_DATE.match(learning_id)
    try:
        return datetime.strptime(match[1], "%Y%m%d").replace(tzinfo=UTC) if match else EPOCH
    except ValueError:
        return EPOCH


def _with_rest(learning: Learning, rest: Mapping[str, Any]) -> Learning:
    if not rest:
        return learning
    try:
        return learning_from_dict(learning_to_dict(learning) | dict(rest) | {"id": learning.id})
    except CodecError:
        return learning  # somebody has edited the record


def rest_of(learning: Learning, entry: Learning) -> dict[str, Any]:
    """Return what an entry does not give back."""
    said = learning_to_dict(entry)
    return {
        key: value
        for key, value in learning_to_dict(learning).items()
        if key not in {"id", "status"} and said.get(key) != value
    }


def _learning_of_note(note: Note, file: MemoryFile) -> Learning:
    digest = hashlib.sha256(f"{file.name}\n{note.text}".encode("utf-8", "replace")).hexdigest()
    stem = re.sub(r"[^A-Za-z0-9-]+", "-", file.path.stem).strip("-") or "memory"
    return Learning(
        id=note.durable_id or f"tr-{stem[:_STEM_LENGTH]}-{digest[:_DIGEST_LENGTH]}",
        category=Category.DOMAIN,
        summary=note.text[:_SUMMARY_LENGTH],
        detail="\n".join(filter(None, (note.text, note.detail))),
        session_id="",
        timestamp=_time_of(note, file),
        confidence=note.confidence or Confidence.MEDIUM,
        context_files=(file.name,),
    )


def _time_of(note: Note, file: MemoryFile) -> datetime:
    if file.day is not None:
        return instant_of(file.day, note.time)
    try:
        return datetime.fromtimestamp(int(file.path.stat().st_mtime), UTC)
    except (OSError, OverflowError, ValueError):
        return EPOCH

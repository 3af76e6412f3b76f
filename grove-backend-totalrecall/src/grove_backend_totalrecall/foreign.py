"""What others have written down in Total Recall, as far as it can be a learning."""

import hashlib
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final, NamedTuple

from attrs import evolve

from grove_backend_totalrecall.paths import MemoryFile
from grove_backend_totalrecall.reading import Note, Reading
from grove_backend_totalrecall.standing import EPOCH, Marks, Place, PlacedMark, Texts, instant_of
from grove_core import Category, Confidence, Learning, LearningStatus

_DATE: Final = re.compile(r"\b[0-9]{4}-[01][0-9]-[0-3][0-9]\b")
_SUMMARY_LENGTH: Final = 200
_DIGEST_LENGTH: Final = 10
_STEM_LENGTH: Final = 40


class Stored(NamedTuple):
    """A learning and where it is."""

    learning: Learning
    path: Path
    line: int
    complete: bool


def notes_of(
    readings: Sequence[tuple[MemoryFile, Reading]],
    taken: Container[tuple[str, int]],
    statuses: Mapping[str, LearningStatus],
) -> Iterator[tuple[str, Stored]]:
    """Make partial learnings of notes."""
    found = {
        learning.id: (learning, note, file)
        for file, reading in readings
        for note in reading.notes
        if (file.name, note.line) not in taken
        for learning in (_learning_of_note(note, file),)
    }
    texts = Texts({one: note.text for one, (_, note, _) in found.items()})
    marks = Marks(marks_in(readings), texts)
    for one, (learning, note, file) in found.items():
        place = None if file.day is None else Place(file.day, note.line)
        about = marks.about(one, place)
        superseded = note.is_superseded or (bool(about) and about[-1].mark.word == "superseded")
        status = LearningStatus.SUPERSEDED if superseded else LearningStatus.ACTIVE
        status = statuses.get(note.durable_id, status)
        yield one, Stored(evolve(learning, status=status), file.path, note.line, complete=False)


def marks_in(readings: Sequence[tuple[MemoryFile, Reading]]) -> Iterator[PlacedMark]:
    """Return the marks of all daily logs, each with its place."""
    for file, reading in readings:
        if file.day is not None:
            yield from (PlacedMark(Place(file.day, mark.line), mark) for mark in reading.marks)


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
    written = _DATE.search(f"{note.section}\n{note.text}\n{note.detail}")
    try:
        if written is not None:
            return instant_of(date.fromisoformat(written[0]), "")
        return datetime.fromtimestamp(int(file.path.stat().st_mtime), UTC)
    except (OSError, OverflowError, ValueError):
        return EPOCH

"""What others have written down in Total Recall, as far as it can be a learning."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from attrs import evolve

from grove_backend_totalrecall.places import MemoryFile
from grove_backend_totalrecall.reading import Note, Reading
from grove_backend_totalrecall.standing import EPOCH, Marks, Place, instant_of
from grove_backend_totalrecall.stored import Stored
from grove_core import Category, Confidence, Learning, LearningStatus

_SUMMARY_LENGTH: Final = 200
_DIGEST_LENGTH: Final = 10
_STEM_LENGTH: Final = 40


def notes_of(
    readings: Sequence[tuple[MemoryFile, Reading]],
    marks: Marks,
    statuses: Mapping[str, LearningStatus],
) -> Iterator[tuple[str, Stored]]:
    """Make partial learnings of notes.

    Args:
        readings: What each file holds.
        marks: The marks of all logs.
        statuses: What Total Recall's metadata says, by durable id.

    Yields:
        An id made up here, or the note's durable one, and the learning.
    """
    for file, reading in readings:
        for note in reading.notes:
            learning = _learning_of_note(note, file)
            superseded = note.is_superseded or any(
                one.mark.word == "superseded"
                for one in marks.about(learning.id, learning.summary, _place_of(note, file))
            )
            status = LearningStatus.SUPERSEDED if superseded else LearningStatus.ACTIVE
            status = statuses.get(note.durable_id, status)
            yield (
                learning.id,
                Stored(evolve(learning, status=status), file.path, note.line, complete=False),
            )


def _learning_of_note(note: Note, file: MemoryFile) -> Learning:
    digest = hashlib.sha256(f"{file.name}\n{note.text}".encode("utf-8", "replace")).hexdigest()
    stem = re.sub(r"[^A-Za-z0-9-]+", "-", file.path.stem).strip("-") or "memory"
    where = f"{file.name}: {note.section}" if note.section else file.name
    return Learning(
        id=note.durable_id or f"tr-{stem[:_STEM_LENGTH]}-{digest[:_DIGEST_LENGTH]}",
        category=Category.DOMAIN,
        summary=note.text[:_SUMMARY_LENGTH],
        detail="\n".join(filter(None, (note.text, note.detail, f"({where}, line {note.line})"))),
        session_id="",
        timestamp=_time_of(note, file),
        confidence=note.confidence or Confidence.MEDIUM,
    )


def _place_of(note: Note, file: MemoryFile) -> Place | None:
    return None if file.day is None else Place(file.day, note.line)


def _time_of(note: Note, file: MemoryFile) -> datetime:
    if file.day is not None:
        return instant_of(file.day, note.time)
    try:
        return datetime.fromtimestamp(file.path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return EPOCH

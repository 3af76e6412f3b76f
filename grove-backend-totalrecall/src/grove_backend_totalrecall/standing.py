"""Where a learning stands: what grove has recorded, and what Total Recall's users have noted."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from grove_backend_totalrecall.reading import Entry, Mark
from grove_backend_totalrecall.record import StatusChange
from grove_core import LearningStatus

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of what has none."""
_WORDS: Final = {"superseded": LearningStatus.SUPERSEDED, "restored": LearningStatus.ACTIVE}
_ENTRY_STATUSES: Final = (LearningStatus.ARCHIVED, LearningStatus.SUPERSEDED)
_SHORTEST_CLAIM: Final = 15
_MINUTE: Final = timedelta(minutes=1)
_FILLING: Final = re.compile(r"[\W_]+")


class Place(NamedTuple):
    """A line of a daily log; logs only grow, so that what comes later was written later.

    Attributes:
        day: The local day of the log.
        line: The line, from 1.
    """

    day: date
    line: int


class DatedMark(NamedTuple):
    """A note in a daily log that a claim no longer holds, or holds again.

    Attributes:
        at: The minute, UTC.
        place: Where it stands.
        mark: The note.
    """

    at: datetime
    place: Place
    mark: Mark


class Copy(NamedTuple):
    """An entry and where it stands.

    Attributes:
        entry: The entry.
        name: The file, relative to Total Recall's root.
        day: The local day of a daily log; ``None`` in every other file.
    """

    entry: Entry
    name: str
    day: date | None


class Marks:
    """The marks of all logs, to be found by what they are about."""

    def __init__(self, marks: Iterable[DatedMark]) -> None:
        self._by_id: dict[str, list[DatedMark]] = {}
        self._by_claim: list[tuple[str, DatedMark]] = []
        for one in marks:
            if one.mark.learning_id:
                self._by_id.setdefault(one.mark.learning_id, []).append(one)
            elif claim := _essence(one.mark.claim):
                self._by_claim.append((claim, one))

    def about(self, learning_id: str, summary: str, place: Place | None) -> Sequence[DatedMark]:
        """Find the marks about a learning.

        Args:
            learning_id: Its id.
            summary: Its summary, which a person may have quoted.
            place: Where it stands in the logs, if it does: a mark from before is about another
                one. Times would not tell: logs do not say in which time zone they were written.
        """
        found = list(self._by_id.get(learning_id, ()))
        if self._by_claim:
            essence = _essence(summary)
            found += [one for claim, one in self._by_claim if _is_same(claim, essence)]
        return [one for one in found if place is None or one.place > place]


def dated(mark: Mark, day: date) -> DatedMark:
    """Say when a mark was made.

    Args:
        mark: The mark.
        day: The local day of its log.
    """
    return DatedMark(instant_of(day, mark.time), Place(day, mark.line), mark)


def status_of(
    copies: Sequence[Copy],
    changes: Iterable[StatusChange],
    marks: Iterable[DatedMark],
    outside: Iterable[LearningStatus],
) -> LearningStatus:
    """Tell where a learning stands.

    Args:
        copies: The places where it is.
        changes: The statuses that grove has recorded.
        marks: The marks about it.
        outside: What Total Recall's own metadata says of its copies.

    Returns:
        What Total Recall's registers or metadata say, which have no time; else the latest of the
        others, else what stands in the entry itself.
    """
    said = set(outside) | {
        one.entry.status
        for one in copies
        if one.day is None and one.entry.status is LearningStatus.SUPERSEDED
    }
    for status in (LearningStatus.SUPERSEDED, LearningStatus.ARCHIVED):
        if status in said:
            return status
    latest = _latest(list(changes), list(marks))
    if latest is not None:
        return latest
    in_entry = (one.entry.status for one in copies)
    return next((one for one in in_entry if one in _ENTRY_STATUSES), LearningStatus.ACTIVE)


def _latest(changes: Sequence[StatusChange], marks: Sequence[DatedMark]) -> LearningStatus | None:
    """Tell what was said last: grove has recorded the second, of a person only the minute is known.

    Within a minute the logs tell what came first: grove leaves a mark behind a person's.
    """
    if not changes:
        return _said_by(max(marks, key=lambda one: one.place)) if marks else None
    recorded = max(changes, key=lambda one: one.at)
    foreign = [one for one in marks if not one.mark.learning_id]
    if not foreign:
        return recorded.status
    last = max(foreign, key=lambda one: one.place)
    is_answered = any(one.mark.learning_id and one.place > last.place for one in marks)
    is_later = recorded.at >= last.at + _MINUTE
    return recorded.status if is_answered or is_later else _said_by(last)


def _said_by(mark: DatedMark) -> LearningStatus:
    return _WORDS[mark.mark.word]


def instant_of(day: date, time: str) -> datetime:
    """Tell what a local day and time are in UTC.

    Args:
        day: The local day.
        time: ``HH:MM``, or anything else for the day's beginning.
    """
    try:
        hour, minute = map(int, time.split(":"))
        local = datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001 - local on purpose
    except ValueError:
        local = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - local on purpose
    try:
        return local.astimezone(UTC)
    except (OverflowError, OSError, ValueError):
        return local.replace(tzinfo=UTC)


def _essence(text: str) -> str:
    return _FILLING.sub(" ", text.casefold()).strip()


def _is_same(claim: str, summary: str) -> bool:
    if claim == summary:
        return True
    shorter = min(len(claim), len(summary))
    return shorter >= _SHORTEST_CLAIM and (claim in summary or summary in claim)

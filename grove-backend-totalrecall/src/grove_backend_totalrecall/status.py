"""Where a learning stands: what grove has recorded, and what Total Recall's users have noted."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Final, NamedTuple

from grove_backend_totalrecall.lines import Entry, Mark
from grove_backend_totalrecall.paths import MemoryFile
from grove_backend_totalrecall.reader import Reading
from grove_backend_totalrecall.record import StatusChange
from grove_core import LearningStatus

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of what has none."""
_WORDS: Final = {"superseded": LearningStatus.SUPERSEDED, "restored": LearningStatus.ACTIVE}
_ENTRY_STATUSES: Final = (LearningStatus.ARCHIVED, LearningStatus.SUPERSEDED)
_DAY: Final = timedelta(days=1)
_LEAST_SHARE: Final = 0.6
"""So much of the longer text a quotation and a summary must have in common."""
_FILLING: Final = re.compile(r"[\W_]+")
_CUT_OFF: Final = ("…", "...")

Readings = Sequence[tuple[MemoryFile, Reading]]


class Place(NamedTuple):
    """A line of a daily log; logs only grow, so that what comes later was written later."""

    day: date
    line: int


class PlacedMark(NamedTuple):
    """A note in a daily log that a claim no longer holds, or holds again."""

    place: Place
    mark: Mark


class Copy(NamedTuple):
    """An entry and where it stands."""

    entry: Entry
    file: MemoryFile


class Texts:
    """Texts, to be found by a quotation of them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    @cached_property
    def _essences(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one, text in self._texts.items():
            found.setdefault(_essence(text), []).append(one)
        return found

    def quoted_by(self, claim: str) -> Sequence[str]:
        """Find what a quotation is of."""
        wanted = _essence(claim)
        if not wanted:
            return ()
        if same := self._essences.get(wanted):
            return same
        if claim.rstrip().endswith(_CUT_OFF):
            near = [one for one in self._essences if one.startswith(wanted)]
        else:
            near = [one for one in self._essences if _is_most_of(one, wanted)]
        return self._essences[near[0]] if len(near) == 1 else ()


class Marks:
    """The marks of all logs, to be found by what they are about."""

    def __init__(self, readings: Readings, texts: Texts) -> None:
        """Sort the marks by what they name or quote."""
        self._named: dict[str, list[PlacedMark]] = {}
        self._quoting: dict[str, list[PlacedMark]] = {}
        for file, reading in readings:
            for mark in reading.marks if file.day is not None else ():
                one = PlacedMark(Place(file.day or date.min, mark.line), mark)
                if mark.learning_id:
                    self._named.setdefault(mark.learning_id, []).append(one)
                    continue
                for quoted in texts.quoted_by(mark.claim):
                    self._quoting.setdefault(quoted, []).append(one)

    def about(self, learning_id: str, place: Place | None) -> Sequence[PlacedMark]:
        """Find the marks about a text."""
        quoting = self._quoting.get(learning_id, ())
        if place is not None:
            quoting = [one for one in quoting if _is_after(one.place, place)]
        found = [*self._named.get(learning_id, ()), *quoting]
        return sorted(found, key=lambda one: one.place)


def _is_after(one: Place, other: Place) -> bool:
    return one > other or other.day - one.day == _DAY


def status_of(
    copies: Sequence[Copy],
    changes: Sequence[StatusChange],
    marks: Sequence[PlacedMark],
    outside: Collection[LearningStatus],
) -> LearningStatus:
    """Tell where a learning stands."""
    said = {*outside, *(one.entry.status for one in copies if one.file.day is None)}
    if LearningStatus.SUPERSEDED in said:
        return LearningStatus.SUPERSEDED
    if LearningStatus.ARCHIVED in outside:
        return LearningStatus.ARCHIVED
    recorded = max(changes, key=lambda one: one.at, default=None)
    if marks and (recorded is None or len(marks) > recorded.marks):
        return _WORDS[marks[-1].mark.word]
    if recorded is not None:
        return recorded.status
    in_entry = (one.entry.status for one in copies)
    return next((one for one in in_entry if one in _ENTRY_STATUSES), LearningStatus.ACTIVE)


def instant_of(day: date, time: str) -> datetime:
    """Return what a local day and time are in UTC."""
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


def _is_most_of(text: str, other: str) -> bool:
    """Return whether one text is a part of the other, and most of it."""
    shorter, longer = sorted((text, other), key=len)
    return len(shorter) >= len(longer) * _LEAST_SHARE and f" {shorter} " in f" {longer} "

"""Where a learning stands: what grove has recorded, and what Total Recall's users have noted."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Final, NamedTuple

from grove_backend_totalrecall.reading import Entry, Mark
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
    name: str
    day: date | None


class Texts:
    """Texts, to be found by a quotation of them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    @cached_property
    def _essences(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one, text in self._texts.items():
            found.setdefault(essence(text), []).append(one)
        return found

    @cached_property
    def _by_length(self) -> Sequence[str]:
        return sorted(self._essences, key=len)

    def quoted_by(self, claim: str) -> Sequence[str]:
        """Find what a quotation is of."""
        wanted = essence(claim)
        if not wanted:
            return ()
        if same := self._essences.get(wanted):
            return same
        if claim.rstrip().endswith(_CUT_OFF):
            near = [one for one in self._by_length if one.startswith(wanted)]
        else:
            near = [one for one in self._of_like_length(wanted) if _holds_one(one, wanted)]
        return self._essences[near[0]] if len(near) == 1 else ()

    def _of_like_length(self, wanted: str) -> Sequence[str]:
        shortest, longest = len(wanted) * _LEAST_SHARE, len(wanted) / _LEAST_SHARE
        start = bisect_left(self._by_length, shortest, key=len)
        return self._by_length[start : bisect_right(self._by_length, longest, key=len)]


class Marks:
    """The marks of all logs, to be found by what they are about."""

    def __init__(self, marks: Iterable[PlacedMark], texts: Texts) -> None:
        """Sort the marks by what they name or quote."""
        self._named: dict[str, list[PlacedMark]] = {}
        self._quoting: dict[str, list[PlacedMark]] = {}
        for one in marks:
            if one.mark.learning_id:
                self._named.setdefault(one.mark.learning_id, []).append(one)
                continue
            for quoted in texts.quoted_by(one.mark.claim):
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
    outside: Iterable[LearningStatus],
) -> LearningStatus:
    """Tell where a learning stands."""
    said = set(outside) | {
        one.entry.status
        for one in copies
        if one.day is None and one.entry.status is LearningStatus.SUPERSEDED
    }
    for status in (LearningStatus.SUPERSEDED, LearningStatus.ARCHIVED):
        if status in said:
            return status
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


def essence(text: str) -> str:
    """Normalise a text so that a quotation of it is the same."""
    return _FILLING.sub(" ", text.casefold()).strip()


def _holds_one(text: str, other: str) -> bool:
    shorter, longer = sorted((text, other), key=len)
    return f" {shorter} " in f" {longer} "

"""Choosing what is worth showing among what was found, and saying why the rest is not."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from grove_core.model.learning import LearningStats
from grove_core.quotation import shown_name
from grove_core.retrieval import RetrievalStrategy
from grove_core.retrieval.ranking import FLOOR, RECENCY_WEIGHT, Ranked, in_order, own_of
from grove_core.retrieval.terms import Entry, IndexedText, file_keys, tag_keys
from grove_core.stats.lines import microseconds

MOST_WITHOUT_QUERY: Final = 3
RECENT_DAYS: Final = 30
MOST_BY_STRATEGY: Final = {
    RetrievalStrategy.CONSERVATIVE: 3,
    RetrievalStrategy.MODERATE: 5,
    RetrievalStrategy.AGGRESSIVE: 10,
}
# Of the terms of two learnings, together: from here on the second one tells nothing new.
SAME_SHARE: Final = 0.7
_DENIALS: Final = frozenset("cannot don't neither never no none nor not without".split())
_PUNCTUATION: Final = "\"'`()[]{}<>,;:.!?"
_MICROSECONDS_A_DAY: Final = 86_400_000_000

SHOWN: Final = "shown"
SHOWN_BEFORE: Final = "shown before in this session"
NO_EXACT_MATCH: Final = "no exact tag or file, which the conservative strategy asks for"
BEYOND_LIMIT: Final = "others fit better, and no more are shown at once"


class Assessment(NamedTuple):
    """What became of a learning that was found."""

    ranked: Ranked
    reason: str


class Choice(NamedTuple):
    """What is to be shown."""

    chosen: Sequence[Ranked]
    assessments: Sequence[Assessment]

    @property
    def beyond(self) -> int:
        """How many more would fit."""
        return sum(one.reason == BEYOND_LIMIT for one in self.assessments)


def choose(
    ranked: Sequence[Ranked],
    strategy: RetrievalStrategy,
    limit: int,
    now: datetime,
    *,
    floor: float = FLOOR,
    exact: Collection[str] = (),
    shown: Collection[str] = (),
) -> Choice:
    """Choose what is worth showing; nothing is a correct answer."""
    selection = _Selection(ranked, min(limit, MOST_BY_STRATEGY[strategy]), shown)
    recent = microseconds(now) - RECENT_DAYS * _MICROSECONDS_A_DAY
    # Where others allow it, what is merely recent comes after what fits.
    late: list[tuple[Ranked, str]] = []
    for one in ranked:
        reason = ""
        if one.score.relevance < floor:
            reason = f"relevance {one.score.relevance:.5f} is below the threshold {floor:g}"
        elif strategy is RetrievalStrategy.CONSERVATIVE and not is_exact(one, exact):
            reason = NO_EXACT_MATCH
        if reason and strategy is RetrievalStrategy.AGGRESSIVE and one.entry.created >= recent:
            late.append((one, reason))
        else:
            selection.place(one, reason)
    for one, reason in sorted(late, key=lambda each: -each[0].entry.created):
        # Where there is no room left, what it lacks is why.
        selection.place(one, "" if selection.has_room else reason)
    return selection.choice()


def choose_without_query(
    ranked: Sequence[Ranked],
    stats: Mapping[str, LearningStats],
    limit: int,
    *,
    shown: Collection[str] = (),
) -> Choice:
    """Choose what to show when nothing is known about the work: the most proven recent ones."""

    def worth(one: Ranked, seen: LearningStats | None) -> tuple[float, int, str]:
        proven = seen.referenced if seen is not None else 0
        # In a score recency counts for little; here, where nothing else is known, for all it is.
        fresh = one.score.recency ** (1 / RECENCY_WEIGHT)
        return -fresh * one.score.boost * (1.0 + proven), -one.entry.created, one.entry.id

    selection = _Selection(ranked, min(limit, MOST_WITHOUT_QUERY), shown)
    usage = [(one, stats.get(one.entry.id)) for one in ranked]
    for one, _ in in_order(
        usage, lambda pair: worth(pair[0], own_of(pair[1])), lambda pair: worth(*pair)
    ):
        selection.place(one, "")
    return selection.choice()


def exact_matches(tags: Iterable[str], files: Iterable[str], said: str) -> frozenset[str]:
    """Name the exact tags and files of a query, as the conservative strategy asks for them."""
    words = (word.strip(_PUNCTUATION) for word in said.split())
    return frozenset((*tag_keys((*tags, *words)), *file_keys(files)))


def is_exact(one: Ranked, exact: Collection[str]) -> bool:
    """Return whether a learning has a tag or names a file that is asked for."""
    return any(key in exact for key in one.text.keys.split())


def says_the_same(one: Ranked, other: Ranked) -> bool:
    """Return whether somebody who has read one learning gains nothing by another."""
    words, others = _words_of(one.text), _words_of(other.text)
    share = len(words & others) / (len(words | others) or 1)
    return share >= SAME_SHARE and _turns_of(one.entry) == _turns_of(other.entry)


def _words_of(text: IndexedText) -> frozenset[str]:
    return frozenset(f"{text.summary} {text.detail}".split())


def _turns_of(entry: Entry) -> frozenset[str]:
    """Pick the words that turn what a text says into something else: denials and numbers."""
    fields = entry.fields()
    words = f"{fields['summary']} {fields['detail']}".lower().replace("’", "'").split()
    plain = (word.strip(_PUNCTUATION) for word in words)
    return frozenset(
        "not" if word in _DENIALS or word.endswith("n't") else word
        for word in plain
        if word in _DENIALS or word.endswith("n't") or any(map(str.isdigit, word))
    )


class _Selection:
    """Taking what fits, one after the other."""

    def __init__(self, ranked: Sequence[Ranked], most: int, shown: Collection[str]) -> None:
        self._most = most
        self._shown = shown
        self._known = [one for one in ranked if one.entry.id in shown]
        self._chosen: list[Ranked] = []
        self._assessments: list[Assessment] = []

    @property
    def has_room(self) -> bool:
        """Whether one more may be taken."""
        return len(self._chosen) < self._most

    def place(self, one: Ranked, objection: str) -> None:
        """Take one, unless it was shown, or does not fit, or tells nothing new, or is one more."""
        reason = SHOWN_BEFORE if one.entry.id in self._shown else objection
        if not reason:
            same = next((known for known in self._known if says_the_same(known, one)), None)
            if same is not None:
                reason = f"says the same as {shown_name(same.entry.id)}"
            elif not self.has_room:
                reason = BEYOND_LIMIT
        if not reason:
            self._chosen.append(one)
            self._known.append(one)
        self._assessments.append(Assessment(one, reason or SHOWN))

    def choice(self) -> Choice:
        return Choice(tuple(self._chosen), tuple(self._assessments))

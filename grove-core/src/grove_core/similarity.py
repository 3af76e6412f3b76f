"""How much two texts say the same, by the stems of the words they share: rare words count more."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from math import log
from typing import Final, NamedTuple

from grove_core.stemmer import STOP_WORDS, stems
from grove_core.text import one_line, remove_invisible

_TOKEN: Final = re.compile(r"[^\W_]+")
_LONGEST_WORD_WITHOUT_BLANKS: Final = 4
_NO_JOINERS: Final = str.maketrans("", "", "\u200c\u200d")
# Of two summaries, the one that is held by the other.
_CONTAINED_LENGTH_MIN: Final = 10
_CONTAINED_SHARE_MIN: Final = 0.6
# A text that holds fewer of the rarest words of another is not compared any further.
_PROBES: Final = 14
_SHARED_MIN: Final = 0.4
_SAME_SUMMARY: Final = 0.5
_SAME_WHOLE: Final = 0.4
_SAME_WHOLE_ALONE: Final = 0.5
_SMOOTHING: Final = 8
# Of the words of the shorter of two summaries: so many make one topic, fewer with a common tag.
_TOPIC_SHARE: Final = 0.75
_TOPIC_WORDS_MIN: Final = 3
_TOPIC_SHARE_WITH_TAG: Final = 0.5
_TOPIC_WORDS_MIN_WITH_TAG: Final = 2


def terms_in(text: str) -> frozenset[str]:
    """Return the stems of the words that tell what a text is about."""
    words: set[str] = set()
    for word in _TOKEN.findall(text.lower()):
        is_one = word.isascii() or len(word) <= _LONGEST_WORD_WITHOUT_BLANKS
        # Chinese, Japanese, Thai and their like put no blanks between words.
        if is_one or not any("\u0e00" <= one <= "\u0eff" or one >= "\u3040" for one in word):
            words.add(word)
        else:
            words.update(word[at : at + 2] for at in range(len(word) - 1))
    return frozenset(stems(words - STOP_WORDS).values())


def overlap(
    first: frozenset[str], second: frozenset[str], weights: Mapping[str, float] | None = None
) -> float:
    """Weigh what two sets share against all that is in either (0 to 1)."""
    if weights is None:
        return len(first & second) / (len(first | second) or 1)
    heaviest = max(weights.values(), default=1.0)

    def weight(terms: frozenset[str]) -> float:
        return sum(weights.get(term, heaviest) for term in sorted(terms))

    every = weight(first | second)
    return weight(first & second) / every if every else 0.0


def normalised_summary(summary: str) -> str:
    """Bring a summary into the form in which summaries are compared."""
    if summary.isascii() and summary.isprintable():
        line = one_line(summary.lower())
    else:
        visible = remove_invisible(summary).translate(_NO_JOINERS)
        folded = unicodedata.normalize("NFKC", visible).casefold()
        line = one_line(unicodedata.normalize("NFKC", folded))
    start, end = 0, len(line)
    while start < end and not line[start].isalnum():
        start += 1
    while end > start and not line[end - 1].isalnum():
        end -= 1
    return line[start:end] or line


def repeats(first: str, second: str) -> bool:
    """Return whether one of two normalised summaries holds nearly all of the other."""
    if first == second:
        return True
    shorter, longer = (first, second) if len(first) < len(second) else (second, first)
    if len(shorter) < max(_CONTAINED_LENGTH_MIN, _CONTAINED_SHARE_MIN * len(longer)):
        return False
    start = longer.find(shorter)
    while start >= 0:
        if _is_bound(longer, start) and _is_bound(longer, start + len(shorter)):
            return True
        start = longer.find(shorter, start + 1)
    return False


class Topic(NamedTuple):
    """What a summary is about."""

    words: frozenset[str]
    tags: frozenset[str]

    def is_same(self, other: "Topic") -> bool:
        """Return whether another summary is about the same, however differently it puts it."""
        common = len(self.words & other.words)
        shorter = min(len(self.words), len(other.words))
        if common >= max(_TOPIC_WORDS_MIN, _TOPIC_SHARE * shorter):
            return True
        enough = max(_TOPIC_WORDS_MIN_WITH_TAG, _TOPIC_SHARE_WITH_TAG * shorter)
        return common >= enough and not self.tags.isdisjoint(other.tags)


def topic_of(summary: str, tags: Iterable[str]) -> Topic:
    """Take a summary apart."""
    return Topic(terms_in(summary), frozenset(tags))


class Known(NamedTuple):
    """A lesson that others are compared with."""

    key: str
    summary: str
    normalised: str
    summary_terms: frozenset[str]
    terms: frozenset[str]
    subjects: frozenset[str]


class SimilarityIndex:
    """Lessons by their words."""

    def __init__(self) -> None:
        """Begin with none."""
        self._known: list[Known] = []
        self._by_summary: dict[str, list[int]] = {}
        self._by_term: dict[str, list[int]] = {}

    def add(self, key: str, summary: str, detail: str) -> None:
        """Add a lesson."""
        one = _lesson(key, summary, detail)
        place = len(self._known)
        self._known.append(one)
        self._by_summary.setdefault(one.normalised, []).append(place)
        for term in one.terms:
            self._by_term.setdefault(term, []).append(place)

    def find(
        self, summary: str, detail: str, ignored: Collection[str] = ()
    ) -> tuple[Known, bool] | None:
        """Find a lesson that says the same, and whether it repeats the summary itself."""
        new = _lesson("", summary, detail)
        number = len(self._known) + _SMOOTHING
        weights = {
            term: log(1 + number / (1 + len(self._by_term.get(term, ())))) for term in new.terms
        }
        probes = sorted(
            new.terms, key=lambda term: (term not in new.summary_terms, -weights[term], term)
        )[:_PROBES]
        shared = Counter(place for term in probes for place in self._by_term.get(term, ()))
        places = sorted({*shared, *self._by_summary.get(new.normalised, ())})
        compared = [
            (shared[place], one)
            for place, one in ((place, self._known[place]) for place in places)
            if one.key not in ignored
        ]
        for _, one in compared:
            if repeats(new.normalised, one.normalised):
                return one, True
        for common, one in compared:
            if common >= _SHARED_MIN * len(probes) and _say_the_same(new, one, weights):
                return one, False
        return None


def _lesson(key: str, summary: str, detail: str) -> Known:
    first, second = terms_in(summary), terms_in(detail)
    return Known(
        key=key,
        summary=summary,
        normalised=normalised_summary(summary),
        summary_terms=first,
        terms=first | second,
        subjects=first & second,
    )


def _say_the_same(first: Known, second: Known, weights: Mapping[str, float]) -> bool:
    if first.subjects - second.terms and second.subjects - first.terms:
        return False
    whole = overlap(first.terms, second.terms, weights)
    if whole >= _SAME_WHOLE_ALONE:
        return True
    in_summaries = overlap(first.summary_terms, second.summary_terms, weights)
    return whole >= _SAME_WHOLE and in_summaries >= _SAME_SUMMARY


def _is_bound(text: str, position: int) -> bool:
    """Return whether a word may end before a position; scripts without blanks allow it anywhere."""
    around = text[max(position - 1, 0) : position + 1]
    if position in {0, len(text)} or not around.isalnum():
        return True
    return any(unicodedata.category(character) == "Lo" for character in around)

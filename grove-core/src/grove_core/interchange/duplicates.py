"""Finding among thousands of learnings the ones that say what an entry says."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any, Final

from attrs import frozen

from grove_core.model.learning import Candidate
from grove_core.model.value import Value
from grove_core.reflection.duplicates import normalised_summary, repeats
from grove_core.reflection.similarity import Terms, say_the_same, terms_of

_WORD: Final = re.compile(r"[^\W_]+")
_PROBES: Final = 14
_SHARED_MIN: Final = 0.4
_SMOOTHING: Final = 8


@frozen(kw_only=True, eq=False, repr=False)
class KnownLearning(Value):
    """A learning that is there, as far as it is compared."""

    learning_id: str
    summary: str
    normalised: str
    terms: Terms


class DuplicateIndex:
    """Learnings by their words."""

    def __init__(self) -> None:
        """Know none yet."""
        self._known: list[KnownLearning] = []
        self._by_summary: dict[str, int] = {}
        self._by_term: dict[str, list[int]] = {}
        self._by_word: dict[str, list[int]] = {}
        # Under the rarest subject and the rarest word of a summary, as far as was known by then.
        self._by_subject: dict[str | None, list[int]] = {}
        self._by_rare_word: dict[str | None, list[int]] = {}

    def add(self, learning_id: str, summary: str, detail: str) -> None:
        """Get to know a learning."""
        place = len(self._known)
        one = KnownLearning(
            learning_id=learning_id,
            summary=summary,
            normalised=normalised_summary(summary),
            terms=terms_of(summary, detail),
        )
        self._known.append(one)
        self._by_summary.setdefault(one.normalised, place)
        words = _words(one.normalised)
        _file(self._by_subject, [self._rarest(one.terms.subjects, self._by_term)], place)
        _file(self._by_rare_word, [self._rarest(words, self._by_word)], place)
        _file(self._by_term, one.terms.whole, place)
        _file(self._by_word, words, place)

    def find(self, candidate: Candidate) -> KnownLearning | None:
        """Find a learning that says what a candidate says, unless the candidate supersedes it."""
        normalised = normalised_summary(candidate.summary)
        same = self._by_summary.get(normalised)
        places = [same] if same is not None else []
        terms = terms_of(candidate.summary, candidate.detail)
        weights = {term: self._weight(term) for term in terms.whole}
        places += self._near(normalised, terms, weights)
        for one in (self._known[place] for place in places):
            if one.learning_id in candidate.supersedes:
                continue
            if repeats(normalised, one.normalised) or say_the_same(terms, one.terms, weights):
                return one
        return None

    def _weight(self, term: str) -> float:
        number = len(self._known) + _SMOOTHING
        return log(1 + number / (1 + len(self._by_term.get(term, ()))))

    def _near(self, normalised: str, terms: Terms, weights: dict[str, float]) -> list[int]:
        """Pick those that hold enough of the rarest words, and may say the same."""
        order = sorted(
            terms.whole, key=lambda term: (term not in terms.summary, -weights[term], term)
        )
        probes = order[:_PROBES]
        enough = max(_SHARED_MIN * len(probes), 1)
        return [
            place
            for place in sorted(self._comparable(normalised, terms))
            if sum(term in self._known[place].terms.whole for term in probes) >= enough
        ]

    def _comparable(self, normalised: str, terms: Terms) -> set[int]:
        """Find those that mention all subjects of the other one, or all words of its summary."""
        words = _words(normalised)
        subject = self._rarest(terms.subjects, self._by_term)
        word = self._rarest(words, self._by_word)
        if subject is None or word is None:
            return set(range(len(self._known)))
        found = {*self._by_term.get(subject, ()), *self._by_word.get(word, ())}
        for keys, filed in ((terms.whole, self._by_subject), (words, self._by_rare_word)):
            for key in (None, *keys):
                found.update(filed.get(key, ()))
        return found

    def _rarest(self, keys: Iterable[str], filed: Mapping[str, Sequence[int]]) -> str | None:
        return min(keys, key=lambda key: (len(filed.get(key, ())), key), default=None)


def _file(filed: dict[Any, list[int]], keys: Iterable[str | None], place: int) -> None:
    for key in keys:
        filed.setdefault(key, []).append(place)


def _words(normalised: str) -> frozenset[str]:
    """Split a summary where one that is held by another may begin and end."""
    if not normalised.isascii() and any(unicodedata.category(one) == "Lo" for one in normalised):
        return frozenset()
    return frozenset(_WORD.findall(normalised))

"""Finding among thousands of learnings the ones that say what an entry says.

The rules are those of a reflection (``reflection.duplicates``, ``reflection.similarity``). There,
every candidate is compared with every learning; here, words lead to those worth comparing.
"""

from collections import Counter
from math import log
from typing import Final

from attrs import frozen

from grove_core.model.learning import Candidate
from grove_core.model.value import Value
from grove_core.reflection.duplicates import normalised_summary, repeats
from grove_core.reflection.similarity import Terms, say_the_same, terms_of

_PROBES: Final = 14
_SHARED_MIN: Final = 0.4
_SMOOTHING: Final = 8


@frozen(kw_only=True, eq=False, repr=False)
class KnownLearning(Value):
    """A learning that is there, as far as it is compared.

    Attributes:
        learning_id: Its id.
        summary: Its summary.
        normalised: The same, normalised for comparison.
        terms: Its words.
    """

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

    def add(self, learning_id: str, summary: str, detail: str) -> None:
        """Get to know a learning.

        Args:
            learning_id: Its id.
            summary: Its summary.
            detail: Its detail.
        """
        place = len(self._known)
        one = KnownLearning(
            learning_id=learning_id,
            summary=summary,
            normalised=normalised_summary(summary),
            terms=terms_of(summary, detail),
        )
        self._known.append(one)
        self._by_summary.setdefault(one.normalised, place)
        for term in one.terms.whole:
            self._by_term.setdefault(term, []).append(place)

    def find(self, candidate: Candidate) -> KnownLearning | None:
        """Find a learning that says what a candidate says, unless the candidate supersedes it.

        Args:
            candidate: The candidate.

        Returns:
            The learning, or ``None``.
        """
        normalised = normalised_summary(candidate.summary)
        same = self._by_summary.get(normalised)
        places = [same] if same is not None else []
        terms = terms_of(candidate.summary, candidate.detail)
        weights = {term: self._weight(term) for term in terms.whole}
        places += self._near(terms, weights)
        for one in (self._known[place] for place in places):
            if one.learning_id in candidate.supersedes:
                continue
            if repeats(normalised, one.normalised) or say_the_same(terms, one.terms, weights):
                return one
        return None

    def _weight(self, term: str) -> float:
        number = len(self._known) + _SMOOTHING
        return log(1 + number / (1 + len(self._by_term.get(term, ()))))

    def _near(self, terms: Terms, weights: dict[str, float]) -> list[int]:
        """Pick those that hold enough of the rarest words."""
        order = sorted(
            terms.whole, key=lambda term: (term not in terms.summary, -weights[term], term)
        )
        probes = order[:_PROBES]
        shared = Counter(place for term in probes for place in self._by_term.get(term, ()))
        enough = _SHARED_MIN * len(probes)
        return sorted(place for place, count in shared.items() if count >= enough)

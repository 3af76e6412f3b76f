"""Candidates that say again what a learning says already, and submissions that come twice."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from attrs import frozen

from grove_core.model.learning import Candidate, Learning, LearningStatus, Rejection
from grove_core.model.value import Value
from grove_core.reflection.limits import SUMMARY_LENGTH_MAX
from grove_core.reflection.similarity import candidates_for, say_the_same, terms_of
from grove_core.text import clean_line, one_line, remove_invisible

_CONTAINED_LENGTH_MIN: Final = 10
_CONTAINED_SHARE_MIN: Final = 0.6
_NO_JOINERS: Final = str.maketrans("", "", "\u200c\u200d")


@frozen(kw_only=True, eq=False, repr=False)
class KnownSummary(Value):
    """A summary that a candidate must not repeat."""

    summary: str
    normalised: str
    detail: str = ""
    learning_id: str | None = None
    position: int | None = None

    @property
    def text(self) -> str:
        """Summary and detail in lower case."""
        return f"{self.summary}\n{self.detail}".lower()


def normalised_summary(summary: str) -> str:
    """Bring a summary into the form in which summaries are compared."""
    visible = remove_invisible(summary).translate(_NO_JOINERS)
    folded = unicodedata.normalize("NFKC", visible).casefold()
    line = one_line(unicodedata.normalize("NFKC", folded))
    start, end = 0, len(line)
    while start < end and not line[start].isalnum():
        start += 1
    while end > start and not line[end - 1].isalnum():
        end -= 1
    return line[start:end] or line


def known_summaries(existing: Iterable[Learning]) -> tuple[KnownSummary, ...]:
    """List the summaries of stored learnings that a candidate must not repeat."""
    return tuple(
        KnownSummary(
            summary=clean_line(learning.summary, SUMMARY_LENGTH_MAX),
            normalised=normalised_summary(learning.summary),
            detail=learning.detail,
            learning_id=learning.id,
        )
        for learning in existing
        if learning.status is LearningStatus.ACTIVE
    )


def find_duplicate(candidate: Candidate, known: Sequence[KnownSummary]) -> Rejection | None:
    """Object to a candidate that says what a known one says."""
    normalised = normalised_summary(candidate.summary)
    for other in known:
        if repeats(normalised, other.normalised) and other.learning_id not in candidate.supersedes:
            return _rejection(other)
    return _find_similar(candidate, known)


def _find_similar(candidate: Candidate, known: Sequence[KnownSummary]) -> Rejection | None:
    terms = terms_of(candidate.summary, candidate.detail)
    near, weights = candidates_for(terms, [other.text for other in known])
    for place in near:
        other = known[place]
        if other.learning_id in candidate.supersedes:
            continue
        if say_the_same(terms, terms_of(other.summary, other.detail), weights):
            return _rejection(other, similar=True)
    return None


def repeats(first: str, second: str) -> bool:
    """Return whether two normalised summaries say the same."""
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


def fingerprint(candidate: Candidate) -> str:
    """Digest all content of a candidate, so that one sent twice is recognised."""
    content = (
        candidate.category.value,
        candidate.summary,
        candidate.detail,
        candidate.scope.value,
        candidate.confidence.value,
        sorted(criterion.value for criterion in candidate.criteria_met),
        sorted(candidate.tags),
        sorted(candidate.context_files),
        sorted(candidate.supersedes),
    )
    return hashlib.sha256(json.dumps(content).encode("ascii")).hexdigest()


def _is_bound(text: str, position: int) -> bool:
    """Return whether a word may end before a position; scripts without blanks allow it anywhere."""
    around = text[max(position - 1, 0) : position + 1]
    if position in {0, len(text)} or not around.isalnum():
        return True
    return any(unicodedata.category(character) == "Lo" for character in around)


def _rejection(other: KnownSummary, *, similar: bool = False) -> Rejection:
    verb = "says in other words what" if similar else "repeats"
    if other.learning_id is None:
        number = (other.position or 0) + 1
        says = " says" if similar else ""
        return Rejection(
            reason=f'{verb} candidate {number} of this submission ("{other.summary}"){says}: send'
            " it once, with all that is to be said",
            field="summary",
        )
    says = " says" if similar else ""
    return Rejection(
        reason=f'{verb} {other.learning_id} ("{other.summary}"){says}: leave it out, or, if it'
        f' corrects or completes that learning, add "supersedes": ["{other.learning_id}"]',
        field="summary",
        existing_id=other.learning_id,
    )

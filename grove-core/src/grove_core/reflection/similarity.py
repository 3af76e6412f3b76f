"""How much two texts say the same, by the words they share: rare words count more."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Final

from attrs import frozen

from grove_core.model.value import Value

_TOKEN: Final = re.compile(r"[^\W_]+")
_STOPWORDS: Final = frozenset(
    """a about after again all also although always an and any are as at be because been before
    being but by can cannot could did do does doing done each else even ever every for from get gets
    got had has have having he her here his how however i if in into is it its itself just let like
    made make makes many may might more most much must my need needs never no nor not now of off on
    once one only onto or other our out over own per rather same see seen shall she should since so
    some still such than that the their them then there therefore these they this those though
    through thus to too under until up upon us use used uses using very via was way we well were
    what when where whether which while who whose why will with within without would yes yet you
    your""".split()
)
_ENDINGS: Final = (
    *("ations", "ation", "ingly", "edly", "ments", "ment", "ions", "ings", "ness", "able", "ible"),
    *("ion", "ing", "ers", "ies", "er", "ed", "es", "ly", "s", "e", "y", "i"),
)
_SHORTEST_STEM: Final = 4
_LONGEST_WORD_WITHOUT_BLANKS: Final = 4
# A learning that holds fewer of a candidate's rare words is not compared any further.
_SHARED_MIN: Final = 0.4
_PROBES: Final = 14
_SAME_SUMMARY: Final = 0.5
_SAME_WHOLE: Final = 0.4
_SAME_WHOLE_ALONE: Final = 0.5
_NEARLY_EQUAL: Final = 0.93
_SMOOTHING: Final = 8
# How rare a term is shows in this many texts as well as in all.
_SAMPLE: Final = 1_000


@frozen(kw_only=True, eq=False, repr=False)
class Terms(Value):
    """The words of a learning that tell what it is about, without their endings."""

    summary: frozenset[str]
    whole: frozenset[str]
    subjects: frozenset[str]


def terms_of(summary: str, detail: str) -> Terms:
    """Read the terms of a learning."""
    first, second = stems(summary), stems(detail)
    return Terms(summary=first, whole=first | second, subjects=first & second)


def stems(text: str) -> frozenset[str]:
    """Split a text into words without endings; each stem is a beginning of its word."""
    found: set[str] = set()
    for word in _TOKEN.findall(text.lower()):
        if word in _STOPWORDS:
            continue
        if word.isascii() or len(word) <= _LONGEST_WORD_WITHOUT_BLANKS or not _is_unspaced(word):
            found.add(_stem(word))
        else:
            found.update(word[at : at + 2] for at in range(len(word) - 1))
    return frozenset(found)


def _is_unspaced(word: str) -> bool:
    """Tell scripts that put no blanks between words: Chinese, Japanese, Thai and their like."""
    return any("\u0e00" <= character <= "\u0eff" or character >= "\u3040" for character in word)


def _stem(word: str) -> str:
    for _ in range(2):
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
                word = word[: -len(ending)]
                break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2]:
        word = word[:-1]
    return word


def weights_for(terms: Iterable[str], texts: Sequence[str]) -> dict[str, float]:
    """Weigh terms by how few of the known texts hold them."""
    sample = texts[:: max(1, len(texts) // _SAMPLE)]
    number = len(sample) + _SMOOTHING
    return {
        term: log(1 + number / (1 + sum(term in text for text in sample))) for term in set(terms)
    }


def candidates_for(terms: Terms, texts: Sequence[str]) -> tuple[list[int], dict[str, float]]:
    """Pick the texts that are worth a closer look."""
    weights = weights_for(terms.whole, texts)
    order = sorted(terms.whole, key=lambda term: (term not in terms.summary, -weights[term], term))
    probes = order[:_PROBES]
    enough = _SHARED_MIN * len(probes)
    near = [
        place
        for place, text in enumerate(texts)
        if sum(probe in text for probe in probes) >= enough
    ]
    return near, weights


def say_the_same(first: Terms, second: Terms, weights: Mapping[str, float]) -> bool:
    """Return whether two learnings say the same in other words."""
    whole = _shared(first.whole, second.whole, weights)
    if whole >= _NEARLY_EQUAL:
        return not (_own(first, second) and _own(second, first))
    if _own(first, second) and _own(second, first):
        return False
    if whole >= _SAME_WHOLE_ALONE:
        return True
    return whole >= _SAME_WHOLE and (
        _shared(first.summary, second.summary, weights) >= _SAME_SUMMARY
    )


def _own(first: Terms, second: Terms) -> frozenset[str]:
    """Find subjects of the first that the second does not mention at all."""
    return first.subjects - second.whole


def _shared(first: frozenset[str], second: frozenset[str], weights: Mapping[str, float]) -> float:
    """Weigh what two sets share against all that is in either (0 to 1)."""
    heaviest = max(weights.values(), default=1.0)

    def weight(terms: frozenset[str]) -> float:
        return sum(weights.get(term, heaviest) for term in sorted(terms))

    every = weight(first | second)
    return weight(first & second) / every if every else 0.0

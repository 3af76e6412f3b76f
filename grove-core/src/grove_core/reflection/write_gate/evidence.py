"""What speaks for a candidate: topics and names of its own, and how it relates them."""

import re
from collections.abc import Sequence
from typing import Final

from grove_core.reflection.write_gate.reading import Sentence

RELATIONS: Final = {
    "cause": re.compile(
        r"\b(?:because|since|due to|therefore|thus|hence|otherwise|or else|which is why|that is why"
        r"|as a result|results? in|leads? to|caus(?:es|ed)|reason|so that|so|means)\b"
    ),
    "condition": re.compile(
        r"\b(?:if|unless|until|when|whenever|while|once|before|after|without|except|during|within"
        r"|every|per|by default|even though|as long as|as soon as|between|first|below|above|till)\b"
    ),
    "limit": re.compile(
        r"\b(?:must|only|never|cannot|can't|can not|does not|doesn't|do not|don't|did not|didn't"
        r"|won't"
        r"|is not|isn't|are not|aren't|has no|have no|there is no|at most|at least|no longer"
        r"|not allowed|required|exactly|alone|nobody|none|more than|less than)\b"
    ),
    "contrast": re.compile(
        r"\b(?:instead|rather than|but|although|however|despite|in spite of|unlike|whereas"
        r"|not (?:the"
        r"|a|an|by|in|from|to|per|on|for|at)|over|chose|chosen|preferred|kept|than|still)\b"
    ),
}
"""Kinds of relation, each with the words that English states it with."""

EFFECTS: Final = frozenset(
    """
    accepts arrives asked belongs blocks breaks broke came clips comes complained corrupts cost
    costs counted counts crashed crashes cuts deadlocks decides deletes differs dies dropped drops
    duplicates empty expires fail failed fails freezes gets goes hangs hung ignored ignores insisted
    insists keeps kills lacks lands leaks locked locks lose loses lost missed misses
    needs overwrites overwrote pays prints ran reads refused refuses rejected rejects repeats
    resets restarts returns runs said saw sees sends sent shows showed silently skips stale starts
    stays stood stopped stops strips takes throws told took treats truncates waits wants
    writes wrong
    """.split()
)
"""What things were seen to do: verbs in the third person or the past, and what they led to."""

EXACT: Final = frozenset(
    """
    one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty
    hundred thousand half third quarter second last once twice double single both per
    seconds minute minutes min hour hours day days week weeks month months year years night nightly
    midnight noon monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday
    fridays saturday saturdays sunday sundays january february march april june
    july august september october november december spring summer autumn winter
    only nobody nothing none same own our ours us
    """.split()
)
"""Amounts, moments, and words that single something out."""

REASONED: Final = frozenset({"cause", "contrast"})
"""The relations that make a lesson of a change."""


def topics(sentences: Sequence[Sentence]) -> frozenset[str]:
    """Collect what the sentences are about beyond programming at large."""
    return frozenset[str]().union(*(sentence.topics for sentence in sentences))


def names(sentences: Sequence[Sentence]) -> frozenset[str]:
    """Collect what the sentences name."""
    return frozenset[str]().union(*(sentence.names for sentence in sentences))


def relations(sentences: Sequence[Sentence]) -> frozenset[str]:
    """Collect the kinds of relation that the sentences state."""
    return frozenset(
        kind
        for kind, pattern in RELATIONS.items()
        if any(pattern.search(sentence.text) for sentence in sentences)
    )


def words_among(listed: frozenset[str], sentences: Sequence[Sentence]) -> int:
    """Count the different words of a list that the sentences hold."""
    return len({word for sentence in sentences for word in sentence.words if word in listed})


def is_pinned(sentence: Sentence) -> bool:
    """Return whether a sentence says something countable or nameable of a thing."""
    if not sentence.topics and not sentence.names:
        return False
    return bool(sentence.names) or not EXACT.isdisjoint(sentence.words)

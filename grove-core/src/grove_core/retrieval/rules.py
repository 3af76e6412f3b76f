"""The rule scorer: exact tags, partial tags, file overlap, keywords.

The weights are those of the design documents; the scorer is kept as ``retrieval.engine = "rules"``
and as the baseline that any better engine is measured against.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from grove_core.model.learning import Learning
from grove_core.model.memory import Query

EXACT_TAG_WEIGHT: Final = 1.0
FILE_WEIGHT: Final = 0.8
PARTIAL_TAG_WEIGHT: Final = 0.5
KEYWORD_WEIGHT: Final = 0.3

_SHORTEST_KEYWORD: Final = 3
_SHORTEST_PARTIAL: Final = 4
_WORD: Final = re.compile(r"\w+(?:[-_]\w+)*")
_STOP_WORDS: Final = frozenset(
    (
        "about after all also and any are because been before but can cannot could did does "
        "done each for from get had has have how into its just more most much must need new not "
        "now off one only other our out over own same should some such than that the their them "
        "then there these they this those too under use used using very was were what when "
        "where which while who why will with would you your add fix make ticket issue task work "
    ).split()
)


def rule_relevance(query: Query, learning: Learning) -> tuple[float, tuple[str, ...]]:
    """Score how well a learning fits a query, by rules alone.

    Args:
        query: What is looked for.
        learning: The learning to score.

    Returns:
        Relevance 0 to 1, absolute, and the reasons in a few words each.
    """
    score = 0.0
    reasons: list[str] = []
    named = keywords(f"{query.text} {query.ticket_title}")
    exact, partial = _tag_matches({*query.tags, *named}, learning.tags)
    if exact:
        score += EXACT_TAG_WEIGHT
        reasons.append("tag " + ", ".join(exact))
    elif partial:
        score += PARTIAL_TAG_WEIGHT
        reasons.append("part of tag " + ", ".join(partial))
    files = [file for file in learning.context_files if overlaps(file, query.files)]
    if files:
        score += FILE_WEIGHT
        reasons.append("file " + ", ".join(files))
    wanted = named | keywords(f"{query.ticket_description} {query.error_signature}")
    found = _found_keywords(wanted, learning)
    if found:
        score += KEYWORD_WEIGHT * len(found)
        reasons.append("words " + ", ".join(found))
    if query.ticket_id and query.ticket_id == learning.ticket_id:
        score += EXACT_TAG_WEIGHT
        reasons.append(f"ticket {query.ticket_id}")
    return min(1.0, score), tuple(reasons)


def keywords(text: str) -> frozenset[str]:
    """Pick the words of a text that say what it is about.

    Args:
        text: Free text.

    Returns:
        Lower-case words of three letters or more that are no stop words.
    """
    return frozenset(
        word
        for word in _WORD.findall(text.lower())
        if len(word) >= _SHORTEST_KEYWORD and word not in _STOP_WORDS and not word.isdigit()
    )


def overlaps(file: str, others: Iterable[str]) -> bool:
    """Tell whether a path names the same file as one of others, as far as one can see.

    Args:
        file: A POSIX path.
        others: POSIX paths, perhaps relative to another directory.

    Returns:
        Whether one is equal to, or the tail of, the other.
    """
    parts = PurePosixPath(file).parts
    for other in others:
        other_parts = PurePosixPath(other).parts
        shorter = min(len(parts), len(other_parts))
        if shorter and parts[-shorter:] == other_parts[-shorter:]:
            return True
    return False


def _tag_matches(wanted: set[str], tags: tuple[str, ...]) -> tuple[list[str], list[str]]:
    exact = [tag for tag in tags if tag in wanted]
    partial = [
        tag
        for tag in tags
        if any(
            min(len(word), len(tag)) >= _SHORTEST_PARTIAL and (word in tag or tag in word)
            for word in wanted
        )
    ]
    return exact, partial


def _found_keywords(wanted: frozenset[str], learning: Learning) -> list[str]:
    text = f"{learning.summary}\n{learning.detail}".lower()
    words = frozenset(_WORD.findall(text))
    return sorted(
        word
        for word in wanted
        if word in words or (len(word) >= _SHORTEST_PARTIAL and word in text)
    )

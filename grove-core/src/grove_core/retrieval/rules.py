"""The rule scorer: exact tags, partial tags, file overlap, keywords."""

import re
from collections.abc import Iterable
from typing import Final

from grove_core.model.learning import Learning
from grove_core.model.memory import Filters, Hit, Query

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
    return _Scorer(query).relevance(learning)


def rule_hits(
    query: Query, learnings: Iterable[Learning], filters: Filters, *, notes: Iterable[Learning] = ()
) -> list[Hit]:
    """Search learnings by rules alone: all that a backend without a search of its own needs.

    Args:
        query: What is looked for; an empty query finds everything, with relevance 0.
        learnings: What is searched.
        filters: What may be returned.
        notes: What is searched as well and is known in part only, such as notes of others.

    Returns:
        At most as many hits as the filters say, in the order of ``best_first``.
    """
    scorer = _Scorer(query)
    hits: list[Hit] = []
    for complete, some in ((True, learnings), (False, notes)):
        for learning in filter(filters.admit, some):
            relevance, reasons = scorer.relevance(learning)
            if relevance or query.is_empty:
                hit = Hit(
                    learning=learning, relevance=relevance, complete=complete, reasons=reasons
                )
                hits.append(hit)
    return best_first(hits)[: filters.limit]


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """Sort what a search has found.

    Args:
        hits: The hits.

    Returns:
        The most relevant ones first, of equally relevant ones the newest; ids decide the rest.
    """
    return sorted(
        hits, key=lambda hit: (-hit.relevance, -hit.learning.timestamp.timestamp(), hit.learning.id)
    )


class _Scorer:
    """A query, prepared for being compared with many learnings."""

    def __init__(self, query: Query) -> None:
        self.query = query
        named = keywords(f"{query.text} {query.ticket_title}")
        wanted = named | keywords(f"{query.ticket_description} {query.error_signature}")
        self._wanted = sorted(wanted)
        self._tags = named.union(query.tags)
        self._long_words = [word for word in self._tags if len(word) >= _SHORTEST_PARTIAL]
        self._files: dict[str, list[list[str]]] = {}
        for parts in map(_parts, query.files):
            if parts:
                self._files.setdefault(parts[-1], []).append(parts)

    def relevance(self, learning: Learning) -> tuple[float, tuple[str, ...]]:
        score = 0.0
        reasons: list[str] = []
        if exact := [tag for tag in learning.tags if tag in self._tags]:
            score += EXACT_TAG_WEIGHT
            reasons.append("tag " + ", ".join(exact))
        elif partial := self._partial_tags(learning.tags):
            score += PARTIAL_TAG_WEIGHT
            reasons.append("part of tag " + ", ".join(partial))
        if files := [file for file in learning.context_files if self._names(file)]:
            score += FILE_WEIGHT
            reasons.append("file " + ", ".join(files))
        if found := self._found_keywords(learning):
            score += KEYWORD_WEIGHT * len(found)
            reasons.append("words " + ", ".join(found))
        ticket = self.query.ticket_id
        if ticket and ticket == learning.ticket_id:
            score += EXACT_TAG_WEIGHT
            reasons.append(f"ticket {ticket}")
        return min(1.0, score), tuple(reasons)

    def _partial_tags(self, tags: tuple[str, ...]) -> list[str]:
        return [
            tag
            for tag in tags
            if len(tag) >= _SHORTEST_PARTIAL
            and any(word in tag or tag in word for word in self._long_words)
        ]

    def _names(self, file: str) -> bool:
        parts = _parts(file)
        same_name = self._files.get(parts[-1], ()) if parts else ()
        return any(_is_tail(parts, other) for other in same_name)

    def _found_keywords(self, learning: Learning) -> list[str]:
        text = f"{learning.summary}\n{learning.detail}".lower()
        return [
            word
            for word in self._wanted
            if word in text and (len(word) >= _SHORTEST_PARTIAL or _stands_alone(word, text))
        ]


def keywords(text: str) -> frozenset[str]:
    """Pick the words of a text that say what it is about."""
    return frozenset(
        word
        for word in _WORD.findall(text.lower())
        if len(word) >= _SHORTEST_KEYWORD and word not in _STOP_WORDS and not word.isdigit()
    )


def overlaps(file: str, others: Iterable[str]) -> bool:
    """Return whether a path names the same file as one of others, as far as one can see."""
    parts = _parts(file)
    return any(_is_tail(parts, _parts(other)) for other in others)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _is_tail(parts: list[str], others: list[str]) -> bool:
    shorter = min(len(parts), len(others))
    return shorter > 0 and parts[-shorter:] == others[-shorter:]


def _stands_alone(word: str, text: str) -> bool:
    """Return whether a word is one of a text's, and not just a part of one."""
    return re.search(rf"(?<!\w)(?<!\w-){re.escape(word)}(?!-?\w)", text) is not None

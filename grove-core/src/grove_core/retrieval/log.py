"""The retrieval log: what each start and prompt of a session considered, one JSON line each."""

import json
from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

from grove_core.retrieval.choosing import SHOWN, Choice
from grove_core.retrieval.ranking import Score

MOST_CANDIDATES: Final = 20
"""How many of the best are logged, besides those that were shown."""
MOST_LINES: Final = 64
NO_ROOM: Final = "no room left in max_chars"
_VERSION: Final = 2
_LONGEST_NAME: Final = 200
_MOST_PARTS: Final = 30
_DIGITS: Final = 6


class LoggedCandidate(NamedTuple):
    """A learning that was considered, its place among all, and what became of it."""

    id: str
    rank: int
    score: Score
    reason: str


class Retrieval(NamedTuple):
    """A search for learnings to show; neither the prompt nor any word of it is kept."""

    at: str
    via: str
    strategy: str
    limit: int
    floor: float
    max_chars: int
    engine: str
    complete: bool
    failed: Sequence[str]
    found: int
    candidates: Sequence[LoggedCandidate]

    @property
    def shown(self) -> Sequence[str]:
        """Ids of what was shown, best first."""
        return [one.id for one in self.candidates if one.reason == SHOWN]


def candidates_of(choice: Choice, shown: Collection[str]) -> list[LoggedCandidate]:
    """Take the best of what was found, and all that was shown."""
    return [
        LoggedCandidate(
            ranked.entry.id,
            rank,
            _rounded(ranked.score),
            NO_ROOM if reason == SHOWN and ranked.entry.id not in shown else reason,
        )
        for rank, (ranked, reason) in enumerate(choice.assessments, 1)
        if rank <= MOST_CANDIDATES or reason == SHOWN
    ]


def _rounded(score: Score) -> Score:
    """Bound what a plugin may have made up, and leave out digits that say nothing."""
    parts = list(score.parts.items())[:_MOST_PARTS]
    return Score(
        total=round(score.total, _DIGITS),
        relevance=round(score.relevance, _DIGITS),
        recency=round(score.recency, _DIGITS),
        boost=round(score.boost, _DIGITS),
        parts={name[:_LONGEST_NAME]: round(value, _DIGITS) for name, value in parts},
        reasons=[name[:_LONGEST_NAME] for name in score.reasons[:_MOST_PARTS]],
    )


def to_line(retrieval: Retrieval) -> str:
    """Write a retrieval as a line."""
    candidates = [{**one._asdict(), "score": one.score._asdict()} for one in retrieval.candidates]
    document = {"v": _VERSION, **retrieval._asdict(), "candidates": candidates}
    return json.dumps(document, separators=(",", ":")) + "\n"


def from_line(line: str) -> Retrieval | None:
    """Read a line; one that is torn or of another version is none."""
    try:
        document: dict[str, Any] = json.loads(line)
        if document.pop("v") != _VERSION:
            return None
        candidates = [
            LoggedCandidate(**{**one, "score": Score(**one["score"])})
            for one in document["candidates"]
        ]
        return Retrieval(**{**document, "candidates": candidates})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def bounded(content: bytes) -> bytes:
    """Make room in a log that is full; the session's start and the newest lines stay."""
    if content.count(b"\n") < MOST_LINES:
        return content
    lines = content.splitlines(keepends=True)
    return b"".join([lines[0], *lines[-MOST_LINES // 2 :]])

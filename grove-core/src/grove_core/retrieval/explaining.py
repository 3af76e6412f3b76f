"""Scores in words and numbers, for people who ask why something was found."""

from typing import Any

from grove_core.retrieval.ranking import Score

_ROUNDED = 4


def explanation_of(score: Score) -> dict[str, Any]:
    """Return a score with all it is made of, as plain values."""
    parts = {name: round(value, _ROUNDED) for name, value in score.parts.items()}
    return {**score._replace(parts=parts)._asdict()}


def lines_of(score: Score) -> list[str]:
    """Return what a score is made of."""
    factors = f"relevance {score.relevance:.4f} × recency {score.recency:.2f}"
    lines = [f"score {score.total:.4f} = {factors} × usage {score.boost:.2f}"]
    parts = [f"{name} {value:+.2f}" for name, value in score.parts.items() if value]
    if parts:
        lines.append(f"relevance from {', '.join(parts)}")
    if score.reasons:
        lines.append(f"relevance because of {', '.join(score.reasons)}")
    return lines

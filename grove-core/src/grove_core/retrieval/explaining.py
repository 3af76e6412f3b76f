"""Scores in words and numbers, for people who ask why something was found."""

from typing import Any

from grove_core.retrieval.ranking import Score

_ROUNDED = 4


def explanation_of(score: Score) -> dict[str, Any]:
    """Give a score with all it is made of, as plain values.

    Args:
        score: The score.

    Returns:
        ``total``, ``relevance``, ``recency`` and ``boost``, of which the first is the product of
        the others, in ``parts`` what the relevance is made of, and in ``reasons`` what a plugin's
        engine or backend says.
    """
    parts = {name: round(value, _ROUNDED) for name, value in score.parts.items()}
    return {**score._replace(parts=parts)._asdict()}


def lines_of(score: Score) -> list[str]:
    """Say what a score is made of.

    Args:
        score: The score.

    Returns:
        One line on the score, and one on the relevance where that has parts or reasons.
    """
    factors = f"relevance {score.relevance:.4f} × recency {score.recency:.2f}"
    lines = [f"score {score.total:.4f} = {factors} × boost {score.boost:.2f}"]
    parts = [f"{name} {value:+.2f}" for name, value in score.parts.items() if value]
    if parts:
        lines.append(f"relevance from {', '.join(parts)}")
    if score.reasons:
        lines.append(f"relevance because of {', '.join(score.reasons)}")
    return lines

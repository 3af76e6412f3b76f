"""How reviews went, counted from the sessions that grove remembers."""

from collections.abc import Sequence

from grove_core import GateSessions, Share
from grove_review.state import Past, read


def past_reviews(sessions: GateSessions) -> list[Past]:
    """Collect the reviews that have ended in this project."""
    return [one for session in sessions.all() for one in read(sessions.state(session)).past]


def outcomes_of(past: Sequence[Past]) -> dict[str, Share]:
    """Count how reviews ended."""
    approved = [one for one in past if one.outcome == "approved"]
    given_up = [one for one in past if one.outcome == "given_up"]
    found = [one for one in past if one.issues]
    at_first = [one for one in approved if not one.issues]
    total = len(past)
    return {
        "approved": Share(len(approved), total),
        "approved at first look": Share(len(at_first), total),
        "issues found": Share(len(found), total),
        "given up": Share(len(given_up), total),
    }


def templates_of(past: Sequence[Past]) -> dict[str, Share]:
    """Count how often each block message led to a review."""
    attempts = [one for each in past for one in each.attempts if one.template != "issues"]
    names = sorted({one.template for one in attempts})
    led = ("success", "issues")
    return {
        name: Share(
            sum(one.outcome in led for one in attempts if one.template == name),
            sum(one.outcome != "" for one in attempts if one.template == name),
        )
        for name in names
    }

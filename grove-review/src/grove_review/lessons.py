"""Where reviews and learnings meet: the order of both, and what the numbers tell."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import evolve

from grove_core import (
    GateAnswer,
    GateSessions,
    GroveError,
    Insight,
    Learning,
    ReflectionContext,
    Rejection,
)
from grove_review.outcomes import outcomes_of, past_reviews
from grove_review.settings import NAME
from grove_review.state import read, write

_ENOUGH: Final = 10
"""Fewer reviews tell nothing."""
_OFTEN: Final = 0.3


def objection(context: ReflectionContext) -> Rejection | None:
    """Object to a learning while the review of the work is owed."""
    try:
        sessions = GateSessions(NAME, context.root)
        session = sessions.find(context.session_id)
    except GroveError:
        return None
    if read(sessions.state(session)).cycle is None:
        return None
    reason = "the review of this work is still owed; have it reviewed, then write down what holds"
    return Rejection(reason=reason)


def note_learning(learning: Learning) -> None:
    """Keep beside a review that had found something what was learned in its session."""
    if not learning.session_id:
        return
    try:
        sessions = GateSessions(NAME)
        session = sessions.find(learning.session_id)
    except GroveError:
        return
    past = read(sessions.state(session)).past
    if not past or not past[-1].issues:
        return

    def change(stored: Mapping[str, Any]) -> GateAnswer:
        state = read(stored)
        *others, latest = state.past
        names = tuple(dict.fromkeys((*latest.learnings, learning.id)))
        noted = (*others, evolve(latest, learnings=names))
        return GateAnswer(state=write(evolve(state, past=noted)))

    sessions.update(session, change)


def insights() -> Sequence[Insight]:
    """Tell how reviews went, once there are enough of them."""
    past = past_reviews(GateSessions(NAME))
    if len(past) < _ENOUGH:
        return []
    outcomes = outcomes_of(past)
    given_up = outcomes["given up"]
    found = outcomes["issues found"]
    evidence = {name: share.count for name, share in outcomes.items()} | {"reviews": len(past)}
    if (given_up.rate or 0) > _OFTEN:
        advice = "Look whether the reviewer agent can be started at all: `grove doctor`."
    else:
        advice = "`grove reviewer stats` shows more."
    message = (
        f"{found.count} of {found.total} reviews found something;"
        f" {given_up.count} were asked for in vain."
    )
    kind = "reviews"
    return [Insight(kind=kind, message=message, suggestion=advice, evidence=evidence, priority=3)]

"""Where reviews and learnings meet: the order of both, and what came of issues."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from grove_core import (
    GateAnswer,
    GateSessions,
    GroveError,
    Learning,
    ReflectionContext,
    Rejection,
)
from grove_review.settings import NAME
from grove_review.state import read, write


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

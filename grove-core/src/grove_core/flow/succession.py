"""Which learning has taken another one's place."""

from collections.abc import Iterable

from grove_core.flow.event_history import find_events
from grove_core.memory.backends import FoundLearning
from grove_core.model.events import Corrected, StatsEvent
from grove_core.model.learning import Learning, LearningStatus
from grove_core.workspace import Workspace


def find_successor(
    workspace: Workspace, learning: Learning, events: Iterable[StatsEvent] | None = None
) -> FoundLearning | None:
    """Find what took a learning's place: as the log says, else as the other one says itself."""
    if learning.status is not LearningStatus.SUPERSEDED:
        return None
    if events is None:
        events = [one.event for one in find_events(workspace, [Corrected], [learning.id])]
    named = [
        one.superseded_by
        for one in events
        if isinstance(one, Corrected) and one.learning_id == learning.id
    ]
    for name in reversed(named):
        successor = workspace.library.get(name) if name else None
        if successor is not None:
            return successor
    others = workspace.library.iterate()
    return next((one for one in others if learning.id in one.hit.learning.supersedes), None)

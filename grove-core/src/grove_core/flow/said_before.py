"""What a session has logged already: a submission that is sent again says nothing new."""

from collections.abc import Collection, Mapping

from grove_core.flow.event_history import find_events
from grove_core.model.events import Corrected, Referenced
from grove_core.workspace import Workspace


def said_to_be_wrong(
    workspace: Workspace, session_id: str, ids: Collection[str]
) -> set[tuple[str, str | None]]:
    """Find the corrections that a session has logged."""
    if not ids:
        return set()
    return {
        (event.learning_id, event.superseded_by)
        for event in (one.event for one in find_events(workspace, [Corrected], ids))
        if isinstance(event, Corrected) and event.session_id == session_id
    }


def uses_logged(
    workspace: Workspace, session_id: str, ids: Collection[str]
) -> Mapping[str, list[Referenced]]:
    """Find the uses that a session has logged."""
    found: dict[str, list[Referenced]] = {}
    for event in (one.event for one in find_events(workspace, [Referenced], ids)) if ids else ():
        if isinstance(event, Referenced) and event.session_id == session_id:
            found.setdefault(event.learning_id, []).append(event)
    return found


def adds_something(use: Referenced, logged: Collection[Referenced]) -> bool:
    """Return whether a use says anything that none before it has said."""
    return not any(
        use.how in (None, one.how) and use.ticket_id in (None, one.ticket_id) for one in logged
    )

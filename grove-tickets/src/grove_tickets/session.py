"""Plain sessions: no ticket system, the work itself is what a session is about."""

from collections.abc import Sequence

from grove_core import Detection, ProjectContext, TicketProbe, hookimpl

grove_api = 2


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer the system that is there when no other is."""
    return [TicketProbe(name="session", detect=detect, per_session=True)]


def detect(context: ProjectContext) -> Detection:  # noqa: ARG001 - a session is everywhere
    """Find a session, which is always there."""
    return Detection(marker="the session itself", note="a session is a unit of work by itself")

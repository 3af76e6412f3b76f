"""SessionEnd: what was shown and not used is dismissed, and the state is closed but resumable."""

from typing import TYPE_CHECKING

from attrs import evolve

from grove_core.flow.gatekeeper import Change, move
from grove_core.flow.lifecycle import (
    OpenSessions,
    debt_notice,
    dismiss,
    log_dismissals,
    new_session,
)
from grove_core.hosts.contract import SILENCE, Answer, HookInput
from grove_core.model.gate import SessionChange, SessionEnded
from grove_core.model.session import EventType, Session
from grove_core.tracing import event

if TYPE_CHECKING:
    from grove_core.workspace import Workspace


def handle(workspace: "Workspace", call: HookInput) -> Answer:
    """Close a session's state."""
    before: list[Session] = []

    def change(stored: Session) -> Change:
        before[:] = [stored]
        # The last stop has measured already, and a session that goes on takes a new baseline: the
        # time left is too short to ask git.
        ended = evolve(
            dismiss(workspace, stored), ended_at=workspace.now, baseline=None, measurement=None
        )
        lines = stored.measurement.lines if stored.measurement is not None else None
        measured = SessionChange(lines=lines) if stored.baseline is not None else None
        note = event(EventType.SESSION_END, workspace.now, reason=call.reason)
        return Change(session=ended, events=[SessionEnded(change=measured)], trace=[note])

    moved = move(
        workspace,
        call.session_id,
        change,
        absent=lambda: new_session(workspace, call),
        cause="session_end",
    )
    log_dismissals(workspace, before[0], moved.session)
    workspace.prefilter.remove(call.session_id)
    open_sessions = OpenSessions(workspace)
    if debt_notice(moved.session):
        open_sessions.add(call.session_id)
    else:
        open_sessions.remove(call.session_id)
    return SILENCE

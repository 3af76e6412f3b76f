"""SessionEnd of a session that was not only written down by ``hooks.idle``."""

from typing import TYPE_CHECKING

from grove_core.hosts.contract import SILENCE, Answer, HookInput
from grove_core.services.sessions import end_session, new_session

if TYPE_CHECKING:
    from grove_core.workspace import Workspace


def handle(workspace: "Workspace", call: HookInput) -> Answer:
    """Close a session's state."""
    end_session(
        workspace, call.session_id, call.reason, absent=lambda: new_session(workspace, call)
    )
    return SILENCE

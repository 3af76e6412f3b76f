"""SessionEnd of a session that was not only written down by ``hooks.idle``."""

from typing import TYPE_CHECKING

from grove_core.hosts.contract import SILENCE, Answer, HookInput
from grove_core.services.sessions import end_session, new_session

if TYPE_CHECKING:
    from grove_core.project import Project


def handle(project: "Project", call: HookInput) -> Answer:
    """Close a session's state."""
    end_session(project, new_session(project, call), call.reason)
    return SILENCE

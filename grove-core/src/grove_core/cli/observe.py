"""``grove observe``."""

from typing import Final

import rich_click as click
from attrs import evolve

from grove_core.cli.invocation import Invocation, Result, grove_command, session_option
from grove_core.cli.sessions_of import find_session
from grove_core.flow.gatekeeper import Change, move
from grove_core.flow.secret_refusals import refuse_secrets
from grove_core.model.session import EventType, Session, SubagentObservation
from grove_core.text import clean_line
from grove_core.tracing import event

_LONGEST_NOTE: Final = 500


@click.command("observe")
@click.argument("note")
@session_option
@grove_command
def command(invocation: Invocation, *, note: str, session_id: str | None) -> Result:
    """Leave a one-line note for the agent that will reflect.

    Subagents do not reflect themselves: their notes are shown to the agent that closes the ticket.
    """
    text = clean_line(note, _LONGEST_NOTE)
    if not text:
        raise click.UsageError("a note needs words")
    refuse_secrets(invocation.workspace, text, "the note")
    invocation, session = find_session(invocation, session_id)
    workspace = invocation.workspace
    observation = SubagentObservation(note=text, timestamp=workspace.now)

    def change(stored: Session) -> Change:
        kept = evolve(stored, observations=(*stored.observations, observation))
        number = len(kept.observations)
        noted = event(EventType.OBSERVATION_RECORDED, workspace.now, number=number)
        return Change(session=kept, trace=[noted])

    moved = move(workspace, session.id, change, absent=lambda: session, cause="observation")
    count = len(moved.session.observations)
    return Result(
        document={"session_id": session.id, "note": text, "observations": count},
        human=lambda console: console.print(f"Noted ({count} in this session)."),
    )

"""``grove skip``."""

import rich_click as click
from attrs import evolve

from grove_core.cli.invocation import Invocation, Result, grove_command, session_option
from grove_core.cli.sessions_of import find_session
from grove_core.flow.gatekeeper import Change, move, skip_event, ticket_of
from grove_core.flow.secret_refusals import refuse_secrets
from grove_core.hosts.claude_code import SESSION_ID_VARIABLE
from grove_core.model.gate import SkipAccepted
from grove_core.model.reflection import SkipDecider, SkipDecision
from grove_core.model.session import Session
from grove_core.reflection.limits import REMARK_LENGTH_MAX
from grove_core.text import clean_line


@click.command("skip")
@click.argument("reason")
@click.option(
    "--decider",
    type=click.Choice([SkipDecider.AGENT.value, SkipDecider.USER.value]),
    help="Who decided; by default the agent when its client runs this command, else you.",
)
@session_option
@grove_command
def command(
    invocation: Invocation, *, reason: str, decider: str | None, session_id: str | None
) -> Result:
    """Say why there is nothing to write down; opens the gate.

    REASON is logged, so that skips can be looked at later.
    """
    text = clean_line(reason, REMARK_LENGTH_MAX)
    if not text:
        raise click.UsageError("a skip needs a reason; say in a few words why")
    refuse_secrets(invocation.workspace, text, "the reason")
    invocation, session = find_session(invocation, session_id)
    workspace = invocation.workspace
    decision = SkipDecision(
        reason=text,
        decider=_decider(decider, by_client=SESSION_ID_VARIABLE in workspace.environment),
        timestamp=workspace.now,
        lines_changed=session.measurement.lines if session.measurement else None,
    )

    def change(stored: Session) -> Change:
        rested = evolve(stored, last_rejections=(), recovered_from=None)
        return Change(session=rested, events=[SkipAccepted(decision=decision)])

    ticket_id = ticket_of(session.gate)
    moved = move(workspace, session.id, change, absent=lambda: session, cause="skip")
    workspace.log_events([skip_event(session.id, decision, ticket_id)])
    status = moved.session.gate.status
    return Result(
        document={
            "session_id": session.id,
            "gate": status,
            "reason": text,
            "decider": decision.decider,
        },
        human=lambda console: console.print(f"Skipped. The gate is {status.value}."),
    )


def _decider(named: str | None, *, by_client: bool) -> SkipDecider:
    if named is not None:
        return SkipDecider(named)
    return SkipDecider.AGENT if by_client else SkipDecider.USER

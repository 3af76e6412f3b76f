"""``grove skip``."""

import rich_click as click

from grove_core.cli.app import Invocation, find_session, grove_command
from grove_core.cli.options import session_option
from grove_core.cli.result import Result
from grove_core.hosts.claude_code import SESSION_ID_VARIABLE
from grove_core.model.reflection import SkipDecider
from grove_core.services.requests import read_reason, skip


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
    text = read_reason(invocation.workspace, reason)
    if not text:
        raise click.UsageError("a skip needs a reason; say in a few words why")
    invocation, session = find_session(invocation, session_id)
    workspace = invocation.workspace
    by_client = SESSION_ID_VARIABLE in workspace.environment
    return Result.of(skip(workspace, session, text, _decider(decider, by_client=by_client)))


def _decider(named: str | None, *, by_client: bool) -> SkipDecider:
    if named is not None:
        return SkipDecider(named)
    return SkipDecider.AGENT if by_client else SkipDecider.USER

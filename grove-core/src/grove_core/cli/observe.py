"""``grove observe``."""

import rich_click as click

from grove_core.cli.app import Invocation, find_session, grove_command
from grove_core.cli.options import session_option
from grove_core.cli.result import Result
from grove_core.services.requests import observe, read_note


@click.command("observe")
@click.argument("note")
@session_option
@grove_command
def command(invocation: Invocation, *, note: str, session_id: str | None) -> Result:
    """Leave a one-line note for the agent that will reflect.

    Subagents do not reflect themselves: their notes are shown to the agent that closes the ticket.
    """
    text = read_note(invocation.workspace, note)
    if not text:
        raise click.UsageError("a note needs words")
    invocation, session = find_session(invocation, session_id)
    return Result.of(observe(invocation.workspace, session, text))

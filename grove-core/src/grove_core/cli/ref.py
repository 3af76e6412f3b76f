"""``grove ref``."""

import rich_click as click

from grove_core.cli.app import Invocation, find_session, grove_command
from grove_core.cli.options import session_option
from grove_core.cli.result import Result
from grove_core.cli.suggestions import learning_ids
from grove_core.services.requests import refer


@click.command("ref")
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=learning_ids)
@click.option("--how", metavar="TEXT", help="How it helped, in a few words.")
@session_option
@grove_command
def command(
    invocation: Invocation, *, ids: tuple[str, ...], how: str | None, session_id: str | None
) -> Result:
    """Record that learnings were used.

    Use counts: it decides what later sessions are shown. Exit code 1 when no learning has one of
    the ids; the others count.
    """
    invocation, session = find_session(invocation, session_id)
    return Result.of(refer(invocation.workspace, session, ids, how))

"""``grove ref``."""

import rich_click as click

from grove_core.cli.invocation import Invocation, Result, grove_command, session_option
from grove_core.cli.sessions_of import find_session
from grove_core.cli.suggestions import learning_ids
from grove_core.errors import LearningNotFoundError
from grove_core.flow.gatekeeper import ticket_of
from grove_core.flow.references import mark_used, unknown_ids
from grove_core.reflection.limits import REMARK_LENGTH_MAX
from grove_core.reflection.secrets.screening import find_leak
from grove_core.reflection.submission import UsedLearning
from grove_core.text import clean_line


@click.command("ref")
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=learning_ids)
@click.option("--how", metavar="TEXT", help="How it helped, in a few words.")
@session_option
@grove_command
def command(
    invocation: Invocation, *, ids: tuple[str, ...], how: str | None, session_id: str | None
) -> Result:
    """Record that learnings were used.

    Use counts: it decides what later sessions are shown.
    """
    invocation, session = find_session(invocation, session_id)
    workspace = invocation.workspace
    remark = clean_line(how, REMARK_LENGTH_MAX) if how else None
    leak = find_leak(remark, workspace.config.secrets.allow, "--how")
    unknown = unknown_ids(workspace, session, ids)
    if unknown:
        raise LearningNotFoundError(
            f"no learning has the id {', '.join(unknown)}; `grove search WORDS` finds ids"
        )
    if leak is not None:
        remark = None
    used = [UsedLearning(id=one, how=remark) for one in dict.fromkeys(ids)]
    mark_used(workspace, session, used, ticket_of(session.gate))
    names = [one.id for one in used]
    return Result(
        document={"session_id": session.id, "referenced": names},
        human=lambda console: console.print(f"Recorded: {', '.join(names)}."),
        ids=names,
        warnings=(f"{leak.words}; the use was recorded without it",) if leak is not None else (),
    )

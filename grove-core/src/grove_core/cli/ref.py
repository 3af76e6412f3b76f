"""``grove ref``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import rich_click as click

from grove_core.cli.invocation import Invocation, Result, grove_command, session_option
from grove_core.cli.sessions_of import find_session
from grove_core.cli.suggestions import learning_ids
from grove_core.flow.gatekeeper import ticket_of
from grove_core.flow.references import mark_used, unknown_ids
from grove_core.reflection.limits import REMARK_LENGTH_MAX
from grove_core.reflection.secrets.screening import find_leak
from grove_core.reflection.submission import UsedLearning
from grove_core.text import clean_line

if TYPE_CHECKING:
    from rich.console import Console


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
    workspace = invocation.workspace
    remark = clean_line(how, REMARK_LENGTH_MAX) if how else None
    leak = find_leak(remark, workspace.config.secrets.allow, "--how")
    warnings = [f"{leak.words}; the use was recorded without it"] if leak is not None else []
    if leak is not None:
        remark = None
    unknown = unknown_ids(workspace, session, dict.fromkeys(ids))
    names = [one for one in dict.fromkeys(ids) if one not in unknown]
    used = [UsedLearning(id=one, how=remark) for one in names]
    mark_used(workspace, session, used, ticket_of(session.gate))
    document: dict[str, Any] = {
        "session_id": session.id,
        "referenced": names,
        "unknown": unknown,
    }
    if unknown:
        document["error"] = _unknown(unknown)
        warnings.append(document["error"])

    def human(console: "Console") -> None:
        if names:
            console.print(f"Recorded: {', '.join(names)}.")

    return Result(
        document=document,
        human=human,
        ids=names,
        exit_code=1 if unknown else 0,
        warnings=warnings,
    )


def _unknown(ids: Sequence[str]) -> str:
    return f"no learning has the id {', '.join(ids)}; `grove search WORDS` finds ids"

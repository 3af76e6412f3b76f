"""``grove sessions``."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.cli.session_argument import debt_document, ticket_in_words
from grove_core.cli.timeparse import local_time, time_ago
from grove_core.flow.session_debts import Life, debts_of, life_of
from grove_core.flow.session_files import SessionFiles, modified_at, survey
from grove_core.model.session import Session
from grove_core.text import clean_line
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

_EMPTY: Final = "it is empty: the process that made it died before it wrote"
_LONGEST_PATH: Final = 300
_STYLES: Final = {Life.LIVE: "green", Life.ENDED: "dim", Life.DIED: "yellow"}


@click.command("sessions")
@click.option("--all", "everywhere", is_flag=True, help="Sessions of all projects.")
@click.option("--limit", type=click.IntRange(min=1), help="At most this many.")
@grove_command
def command(invocation: Invocation, *, everywhere: bool, limit: int | None) -> Result:
    """List the sessions of this project, the one that was written last first.

    A session is live, has ended, or died: then its client is gone, or it has been idle for a day.
    What a session owes stays visible until it is paid. State that cannot be read is named with the
    reason, of whatever project it was.
    """
    workspace = invocation.workspace
    found = survey(workspace)
    root = str(workspace.root)
    own = [
        one.session
        for one in found
        if one.session is not None and (everywhere or one.session.project_root == root)
    ]
    document = {
        "count": len(own[:limit]),
        "total": len(own),
        "sessions": [_document(one, workspace) for one in own[:limit]],
        "unreadable": _unreadable(found),
        "set_aside": _set_aside(found),
    }
    return Result(
        document=document,
        human=lambda console: _human(own[:limit], document, workspace, everywhere, console),
        ids=[one.id for one in own[:limit]],
    )


def _document(session: Session, workspace: Workspace) -> dict[str, Any]:
    gate = session.gate
    return {
        "id": session.id,
        "state": life_of(session, workspace),
        "gate": gate.status,
        "ticket": gate.ticket,
        "closed": gate.cycle.tickets if gate.cycle is not None else (),
        "blocks": gate.breaker.cycle_blocks,
        "notes": len(session.observations),
        "injected": len(session.injected),
        "debts": [debt_document(one) for one in debts_of(session)],
        "project_root": session.project_root,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "ended_at": session.ended_at,
    }


def _unreadable(found: Sequence[SessionFiles]) -> list[dict[str, Any]]:
    return [
        {
            "session_id": one.session_id,
            "path": one.state,
            "reason": one.fault or _EMPTY,
            "modified_at": modified_at(one.state),
        }
        for one in found
        if one.state is not None and one.session is None
    ]


def _set_aside(found: Sequence[SessionFiles]) -> list[dict[str, Any]]:
    return [
        {"session_id": one.session_id, "path": path, "modified_at": modified_at(path)}
        for one in found
        for path in one.set_aside
    ]


def _human(
    sessions: Sequence[Session],
    document: dict[str, Any],
    workspace: Workspace,
    everywhere: bool,  # noqa: FBT001 - the command's own flag
    console: "Console",
) -> None:
    for session in sessions:
        _print_session(session, workspace, console)
        if everywhere:
            console.print(f"    {clean_line(session.project_root, _LONGEST_PATH)}", style="dim")
    if not document["total"]:
        where = "" if everywhere else " of this project; --all lists those of others"
        console.print(f"grove knows no session{where}.")
    elif document["total"] > document["count"]:
        console.print(f"{document['count']} of {document['total']} shown.", style="dim")
    for one in document["unreadable"]:
        console.print(f"{one['path']} cannot be read: {one['reason']}", style="yellow")
    for one in document["set_aside"]:
        when = _when(one["modified_at"])
        console.print(f"{one['path']} could not be read and was set aside{when}", style="yellow")


def _when(moment: datetime | None) -> str:
    return f" at {local_time(moment)}" if moment is not None else ""


def _print_session(session: Session, workspace: Workspace, console: "Console") -> None:
    from rich.text import Text

    life = life_of(session, workspace)
    line = Text()
    line.append(session.id, style="bold")
    line.append(f"  {life.value}", style=_STYLES[life])
    line.append(f"  gate {session.gate.status.value}")
    line.append(
        f"  written {local_time(session.updated_at)},"
        f" {time_ago(session.updated_at, workspace.now)}",
        style="dim",
    )
    console.print(line)
    about = _about(session)
    if about:
        console.print(f"    {about}")
    for debt in debts_of(session):
        since = f", since {local_time(debt.since)}" if debt.since is not None else ""
        console.print(f"    {debt}{since}", style="yellow")


def _about(session: Session) -> str:
    blocks = session.gate.breaker.cycle_blocks
    parts = []
    if session.gate.ticket is not None:
        parts.append(f"ticket {ticket_in_words(session.gate.ticket)}")
    parts += [
        counted(number, noun)
        for number, noun in (
            (blocks, "block"),
            (len(session.observations), "note"),
            (len(session.injected), "shown learning"),
        )
        if number
    ]
    return ", ".join(parts)

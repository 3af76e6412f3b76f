"""``grove status``."""

from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.invocation import Invocation, Result, grove_command
from grove_core.cli.sessions_of import newest_live_session
from grove_core.flow.lifecycle import debt_notice
from grove_core.flow.messages import name_of
from grove_core.model.memory import Health
from grove_core.model.session import Session
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

CHECK_SECONDS: Final = 2.0
_MOST_SESSIONS: Final = 30


@click.command("status")
@grove_command
def command(invocation: Invocation) -> Result:
    """Show the project, the gate of the live session, the backends and what waits.

    Exit code 0 whatever it shows.
    """
    workspace = invocation.workspace
    session = newest_live_session(workspace)
    systems = workspace.tickets().all
    backends = [
        {
            "name": one.backend.name,
            "primary": one.state.is_primary,
            "health": workspace.library.health(one),
        }
        for one in workspace.library.project_backends
    ]
    checks = _checks(workspace)
    debts = _debts(workspace)
    waiting = [entry.learning.id for entry in workspace.outbox.entries(workspace.root)]
    numbers = workspace.statistics()
    document: dict[str, Any] = {
        "root": workspace.root,
        "home": workspace.paths.home,
        "initialised": workspace.project.initialised,
        "session": _session_document(session),
        "installed_ticket_systems": [one.probe.name for one in systems],
        "ticket_systems": [one.probe.name for one in systems if one.takes_part],
        "active_ticket_system": next((one.probe.name for one in systems if one.is_active), None),
        "backends": backends,
        "checks": checks,
        "debts": debts,
        "outbox": waiting,
        "statistics": {
            "reflections": numbers.reflections,
            "skips": numbers.skips,
            "cycles": numbers.cycles_by_outcome,
        },
        "config_problems": [str(problem) for problem in workspace.loaded_config.problems],
    }
    return Result(
        document=document,
        human=lambda console: _human(workspace, session, document, console),
        warnings=document["config_problems"],
    )


def _session_document(session: Session | None) -> dict[str, Any] | None:
    if session is None:
        return None
    gate = session.gate
    return {
        "id": session.id,
        "gate": gate.status,
        "ticket": gate.ticket,
        "closed": gate.cycle.tickets if gate.cycle is not None else (),
        "blocks": gate.breaker.cycle_blocks,
        "updated_at": session.updated_at,
    }


def _checks(workspace: Workspace) -> list[dict[str, Any]]:
    checks = []
    for provided in workspace.plugins.health_checks():
        health = workspace.plugins.call(
            provided, provided.value.run, workspace.context(), seconds=CHECK_SECONDS, default=None
        )
        if isinstance(health, Health):
            checks.append({"name": provided.value.name, "health": health})
    return checks


def _debts(workspace: Workspace) -> list[str]:
    notices = [
        debt_notice(session)
        for session in workspace.sessions.list(_MOST_SESSIONS)
        if session.project_root == str(workspace.root)
    ]
    return [notice for notice in notices if notice]


def _human(
    workspace: Workspace,
    session: Session | None,
    document: dict[str, Any],
    console: "Console",
) -> None:
    state = "initialised" if workspace.project.initialised else "not initialised (grove init)"
    console.print(f"Project   {workspace.root} ({state})")
    console.print(f"Session   {_describe_session(session)}")
    active = document["active_ticket_system"] or "none is used here"
    if not document["installed_ticket_systems"]:
        active = "none installed (pip install grove-tickets)"
    also = [one for one in document["ticket_systems"] if one != active]
    console.print(f"Tickets   {active}{', also ' + ', '.join(also) if also else ''}")
    for backend in document["backends"] or [None]:
        if backend is None:
            console.print("Backend   none installed (pip install grove-backend-markdown)")
            continue
        health = backend["health"]
        mark = "works" if health.ok else "FAILS"
        role = " (primary)" if backend["primary"] else ""
        console.print(f"Backend   {backend['name']}{role} {mark}: {health.detail}")
    for check in document["checks"]:
        if not check["health"].ok:
            console.print(f"Check     {check['name']}: {check['health'].detail}", style="yellow")
    if document["outbox"]:
        console.print(f"Outbox    {len(document['outbox'])} waiting for their backend")
    numbers = workspace.statistics()
    console.print(
        f"So far    {numbers.reflections.completed} reflections,"
        f" {numbers.reflections.accepted} learnings accepted, {numbers.skips.total} skips"
    )
    for debt in document["debts"]:
        console.print(debt, style="yellow")


def _describe_session(session: Session | None) -> str:
    if session is None:
        return "none is live here"
    gate = session.gate
    text = f"{session.id}, gate {gate.status.value}"
    if gate.status.owes_reflection and gate.cycle is not None:
        text += f" ({', '.join(name_of(one) for one in gate.cycle.tickets) or 'its changes'})"
    elif gate.ticket is not None:
        text += f", working on {name_of(gate.ticket)} {gate.ticket.title}"
    return text

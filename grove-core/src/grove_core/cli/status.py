"""``grove status``."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.result import Result
from grove_core.cli.timeparse import local_time
from grove_core.clock import format_instant
from grove_core.model.memory import Health
from grove_core.model.session import Session
from grove_core.model.statistics import Statistics
from grove_core.plugins.discovery import BACKEND_GROUP, TICKET_GROUP
from grove_core.services.messages import name_of, past_reflection
from grove_core.services.overview import liveness_of, pending_reflections, sessions_here
from grove_core.services.packages import (
    blocked_plugins,
    describe_blocked,
    fixes_of,
    install_command_for,
)
from grove_core.services.sessions import is_over
from grove_core.services.settings import backend_warnings
from grove_core.services.sync import synchronised_at
from grove_core.session_server import ServerRecords, SessionServer
from grove_core.stats.document import share_document
from grove_core.text import clean_line, counted
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

CHECK_SECONDS: Final = 2.0
_LONGEST_PATH: Final = 4096
_LONGEST_DETAIL: Final = 160
_LONGEST_TITLE: Final = 120
_MOST_NAMED: Final = 3
"""Of sessions, pending reflections and faults, so that it all stays on one screen."""


@click.command("status")
@grove_command
def command(invocation: Invocation) -> Result:
    """Show the project, the gates of the live sessions, the backends and what waits.

    Exit code 0 whatever it shows.
    """
    workspace = invocation.workspace
    sessions = sessions_here(workspace)
    live = [one for one in sessions if not is_over(one, workspace)]
    systems = workspace.tickets().all
    healths = workspace.library.healths(servers=False)
    backends = [
        {"name": one.spec.name, "primary": one.is_primary, "health": healths[one.spec.name]}
        for one in workspace.library.states
        if one.is_active
    ]
    checks = _checks(workspace)
    warnings = backend_warnings(workspace)
    pending = [notice for one in sessions if (notice := _pending(one, workspace))]
    waiting = workspace.outbox.entries(workspace.root)
    servers = workspace.library.freshness()
    homes = workspace.library.destinations(one.learning.scope for one in waiting)
    numbers = workspace.statistics()
    servers_of = ServerRecords(workspace.paths.cache)
    document: dict[str, Any] = {
        "root": workspace.root,
        "home": workspace.paths.home,
        "initialised": workspace.project.initialised,
        "session": _session_document(live[0], servers_of) if live else None,
        "live_sessions": [_session_document(one, servers_of) for one in live],
        "installed_ticket_systems": [one.probe.name for one in systems],
        "ticket_systems": [one.probe.name for one in systems if one.takes_part],
        "active_ticket_system": next((one.probe.name for one in systems if one.is_active), None),
        "backends": backends,
        "checks": checks,
        "log_faults": list(_log_faults(numbers)),
        "pending": pending,
        "outbox": [entry.learning.id for entry in waiting],
        "servers": [
            {
                "source": one.source or None,
                "synchronised_at": format_instant(at) if (at := synchronised_at(one)) else None,
                "waiting": one.waiting,
                "fault": one.fault or None,
            }
            for one in servers
        ],
        "outbox_unreadable": workspace.outbox.unreadable(),
        "statistics": _numbers_document(numbers),
        "config_problems": [str(problem) for problem in workspace.loaded_config.problems],
        "warnings": warnings,
    }
    return Result(
        document=document,
        human=lambda console: _human(workspace, live, document, homes, console),
        warnings=(*document["config_problems"], *warnings),
    )


def _log_faults(numbers: Statistics) -> Iterator[str]:
    """Name what of the event logs counts for nothing."""
    for one in numbers.log.faults:
        if one.unreadable_count:
            what = f"lines that cannot be read: {one.unreadable_count}"
            yield f"{one.path}:{one.unreadable[0]}: {what}; grove doctor names them"
        if one.unknown:
            yield f"{one.path}: events of a newer grove: {one.unknown}"


def _numbers_document(numbers: Statistics) -> dict[str, Any]:
    reflections = numbers.reflections
    return {
        "learnings": numbers.learnings,
        "active": numbers.by_status.get("active", 0),
        "hit_rate": share_document(numbers.usage.hits),
        "reflections": {
            "submissions": reflections.submissions,
            "completed": reflections.completed,
            "candidates": reflections.candidates,
            "accepted": reflections.accepted,
        },
        "skips": {"total": numbers.skips.total, "by_decider": numbers.skips.by_decider},
        "cycles": numbers.gate.by_outcome,
    }


def _session_document(session: Session, servers: ServerRecords) -> dict[str, Any]:
    gate = session.gate
    return {
        "server": servers.read(session.id),
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


def _pending(session: Session, workspace: Workspace) -> str:
    """Say that a reflection is pending."""
    if session.recovered_from is not None:
        return past_reflection(session)
    if is_over(session, workspace):
        return _pending_of_past(session, workspace)
    broken = session.gate.broken_cycles
    if not broken:
        return ""
    tickets = [name_of(ticket) for cycle in broken for ticket in cycle.tickets]
    return (
        f"grove: session {session.id} was let go without its reflection"
        f" ({', '.join(tickets) or 'its changes'}); if you know what it taught:"
        f" grove reflect --session-id {session.id}"
    )


def _pending_of_past(session: Session, workspace: Workspace) -> str:
    pending = pending_reflections(session)
    if not pending:
        return ""
    tickets = ", ".join(name_of(ticket) for one in pending for ticket in one.tickets)
    state = liveness_of(session, workspace).value
    return (
        f"grove: session {session.id} {state} without the reflection it owed"
        f" ({tickets or 'its changes'}); if you know what it taught:"
        f" grove reflect --session-id {session.id}"
    )


def _human(
    workspace: Workspace,
    live: Sequence[Session],
    document: dict[str, Any],
    homes: Sequence[str],
    console: "Console",
) -> None:
    state = "initialised" if workspace.project.initialised else "not initialised (grove init)"
    console.print(f"Project   {clean_line(str(workspace.root), _LONGEST_PATH)} ({state})")
    for session in live[:_MOST_NAMED]:
        console.print(f"Session   {_describe_session(session)}")
        server = ServerRecords(workspace.paths.cache).read(session.id)
        if server is not None:
            console.print(f"          {_describe_server(server)}", style="dim")
    if not live:
        console.print("Session   none is live here")
    _print_rest(len(live), "grove sessions", console)
    active = document["active_ticket_system"] or "none is used here"
    if not document["installed_ticket_systems"]:
        active = _nothing_of(TICKET_GROUP, workspace)
    also = [one for one in document["ticket_systems"] if one != active]
    console.print(f"Tickets   {active}{', also ' + ', '.join(also) if also else ''}")
    _print_backends(document, workspace, console)
    _print_faults(document, console)
    if document["outbox"]:
        named = " and ".join(homes) or "their backend"
        console.print(f"Outbox    {len(document['outbox'])} waiting for {named}")
    for one in document["servers"]:
        source = one["source"] or "a memory server, of which none is used here"
        at = one["synchronised_at"]
        asked = f"in line as of {at}" if at else "not in line yet"
        waits = f", {len(one['waiting'])} waiting for it" if one["waiting"] else ""
        console.print(f"Server    {source}: {asked}{waits}", markup=False)
        if one["fault"]:
            fault = clean_line(one["fault"], _LONGEST_DETAIL)
            console.print(f"          {fault}", style="yellow", markup=False)
            console.print("          → grove backends asks it, and says what helps", style="dim")
    console.print(f"So far    {_describe_numbers(document['statistics'])}")
    for notice in document["pending"][:_MOST_NAMED]:
        console.print(notice, style="yellow")
    _print_rest(len(document["pending"]), "grove doctor", console)


def _print_rest(count: int, command: str, console: "Console") -> None:
    """Say where what is left out is named."""
    if count > _MOST_NAMED:
        console.print(f"          and {count - _MOST_NAMED} more: {command}", style="dim")


def _describe_numbers(numbers: dict[str, Any]) -> str:
    reflections, hits = numbers["reflections"], numbers["hit_rate"]
    parts = [counted(numbers["active"], "active learning")]
    if hits["total"]:
        times = counted(hits["count"], "time")
        parts.append(f"used {times} in {counted(hits['total'], 'showing')}")
    accepted = f"{reflections['accepted']} of {counted(reflections['candidates'], 'candidate')}"
    parts.append(f"{counted(reflections['submissions'], 'reflection')} with {accepted} accepted")
    parts.append(counted(numbers["skips"]["total"], "skip"))
    return ", ".join(parts)


def _nothing_of(group: str, workspace: Workspace) -> str:
    """Say why no plugin of a group is there."""
    blocked = blocked_plugins(workspace, group)
    if blocked:
        return f"none can be used: {describe_blocked(blocked)} ({fixes_of(blocked)})"
    return f"none installed ({install_command_for(group)})"


def _print_backends(document: dict[str, Any], workspace: Workspace, console: "Console") -> None:
    for backend in document["backends"]:
        health = backend["health"]
        mark = "works" if health.ok else "FAILS"
        role = " (primary)" if backend["primary"] else ""
        console.print(f"Backend   {backend['name']}{role} {mark}: {_short(health)}")
    if not document["backends"]:
        console.print(f"Backend   {_nothing_of(BACKEND_GROUP, workspace)}")
    elif blocked := blocked_plugins(workspace, BACKEND_GROUP):
        console.print(f"Backend   {describe_blocked(blocked)}")


def _short(health: Health) -> str:
    """Cut a detail, which may name many faults, so that it all stays on one screen."""
    return clean_line(health.detail, _LONGEST_DETAIL)


def _print_faults(document: dict[str, Any], console: "Console") -> None:
    for fault in document["log_faults"][:_MOST_NAMED]:
        console.print(f"Log       {fault}", style="yellow")
    _print_rest(len(document["log_faults"]), "grove doctor", console)
    for path in document["outbox_unreadable"][:_MOST_NAMED]:
        console.print(f"Outbox    {path} cannot be read; it stays where it is", style="yellow")
    _print_rest(len(document["outbox_unreadable"]), "grove doctor", console)
    for check in document["checks"]:
        if not check["health"].ok:
            health = check["health"]
            words = f"{check['name']}: {_short(health)}; grove doctor tells all"
            console.print(f"Check     {words}", style="yellow")


def _describe_server(server: SessionServer) -> str:
    counted_here = counted(server.by_server, "hook")
    if not server.alive:
        return f"its server has ended after {counted_here}; the client starts it for the next"
    text = f"its server lives since {local_time(server.since)}, {counted_here} answered"
    return text + (
        f", {counted(server.by_command, 'stop')} without it" if server.by_command else ""
    )


def _describe_session(session: Session) -> str:
    gate = session.gate
    text = f"{session.id}, gate {gate.status.value}"
    if gate.status.owes_reflection and gate.cycle is not None:
        text += f" ({', '.join(name_of(one) for one in gate.cycle.tickets) or 'its changes'})"
    elif gate.ticket is not None:
        text += f", working on {name_of(gate.ticket)}"
        title = clean_line(gate.ticket.title, _LONGEST_TITLE)
        text += f" {json.dumps(title, ensure_ascii=False)}" if title else ""
    return text

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
from grove_core.model.statistics import LogFault, Statistics
from grove_core.plugins.discovery import BACKEND_GROUP, TICKET_GROUP
from grove_core.project import Project
from grove_core.services.messages import name_of, past_reflection
from grove_core.services.overview import PendingKind, pending_reflections, sessions_here
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

if TYPE_CHECKING:
    from rich.console import Console

CHECK_SECONDS: Final = 2.0
_LONGEST_PATH: Final = 4096
_LONGEST_DETAIL: Final = 160
_LONGEST_TITLE: Final = 120
_MOST_NAMED: Final = 3
"""Of sessions, pending reflections and faults, so that it all stays on one screen."""

_Row = tuple[str | None, str, str]
"""What it is about (empty: the same as above; ``None``: no column), a text, and its style."""


@click.command("status")
@grove_command
def command(invocation: Invocation) -> Result:
    """Show the project, the gates of the live sessions, the backends and what waits.

    Exit code 0 whatever it shows.
    """
    project = invocation.project
    document = _collect(project)

    def human(console: "Console") -> None:
        for label, text, style in _rows(project, document):
            console.print(text if label is None else f"{label:<9} {text}", style=style)

    return Result(
        document=document,
        human=human,
        warnings=(*document["config_problems"], *document["warnings"]),
    )


def _collect(project: Project) -> dict[str, Any]:
    sessions = sessions_here(project)
    servers = ServerRecords(project.paths.cache)
    live = [_session_document(one, servers) for one in sessions if not is_over(one, project)]
    systems = project.tickets().all
    healths = project.library.healths(servers=False)
    numbers = project.statistics()
    return {
        "root": project.root,
        "home": project.paths.home,
        "initialised": project.files.initialised,
        "session": live[0] if live else None,
        "live_sessions": live,
        "installed_ticket_systems": [one.probe.name for one in systems],
        "ticket_systems": [one.probe.name for one in systems if one.enabled],
        "active_ticket_system": next((one.probe.name for one in systems if one.is_active), None),
        "backends": [
            {"name": one.spec.name, "primary": one.is_primary, "health": healths[one.spec.name]}
            for one in project.library.states
            if one.is_active
        ],
        "checks": list(_checks(project)),
        "log_faults": [_fault_of(one) for one in numbers.log.faults],
        "pending": [text for one in sessions for text in _pending(one, project)],
        "outbox": [entry.learning.id for entry in project.outbox.entries(project.root)],
        "servers": [
            {
                "source": one.source or None,
                "synchronised_at": format_instant(at) if (at := synchronised_at(one)) else None,
                "waiting": one.waiting,
                "fault": one.fault or None,
            }
            for one in project.library.freshness()
        ],
        "outbox_unreadable": project.outbox.unreadable(),
        "statistics": _numbers_document(numbers),
        "config_problems": [str(problem) for problem in project.loaded_config.problems],
        "warnings": backend_warnings(project),
    }


def _fault_of(fault: LogFault) -> str:
    from grove_core.report.text import fault_of  # seldom needed

    return fault_of(fault)


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


def _checks(project: Project) -> Iterator[dict[str, Any]]:
    for provided in project.plugins.health_checks():
        health = project.plugins.call(
            provided,
            "run",
            provided.value.run,
            project.context(),
            seconds=CHECK_SECONDS,
            default=None,
        )
        if isinstance(health, Health):
            yield {"name": provided.value.name, "health": health}


def _pending(session: Session, project: Project) -> Iterator[str]:
    """Say which reflections a past session owes, and a live one was let go without."""
    if session.recovered_from is not None or is_over(session, project):
        if text := past_reflection(session):
            yield text
        return
    for one in pending_reflections(session):
        if one.kind is PendingKind.BREAKER:
            how = f"if you know what it taught: grove reflect --session-id {session.id}"
            yield f"grove: session {session.id} {one}; {how}"


def _rows(project: Project, document: dict[str, Any]) -> Iterator[_Row]:
    state = "initialised" if document["initialised"] else "not initialised (grove init)"
    yield "Project", f"{clean_line(str(project.root), _LONGEST_PATH)} ({state})", ""
    yield from _session_rows(document["live_sessions"])
    active = document["active_ticket_system"] or "none is used here"
    if not document["installed_ticket_systems"]:
        active = _nothing_of(TICKET_GROUP, project)
    also = [one for one in document["ticket_systems"] if one != active]
    yield "Tickets", f"{active}{', also ' + ', '.join(also) if also else ''}", ""
    yield from _backend_rows(document["backends"], project)
    yield from _fault_rows(document)
    if document["outbox"]:
        scopes = [one.learning.scope for one in project.outbox.entries(project.root)]
        named = " and ".join(project.library.destinations(scopes)) or "their backend"
        yield "Outbox", f"{len(document['outbox'])} waiting for {named}", ""
    for one in document["servers"]:
        source = one["source"] or "a memory server, of which none is used here"
        at = one["synchronised_at"]
        asked = f"in line as of {at}" if at else "not in line yet"
        waits = f", {len(one['waiting'])} waiting for it" if one["waiting"] else ""
        yield "Server", f"{source}: {asked}{waits}", ""
        if one["fault"]:
            yield "", clean_line(one["fault"], _LONGEST_DETAIL), "yellow"
            yield "", "→ grove backends asks it, and says what helps", "dim"
    yield "So far", _describe_numbers(document["statistics"]), ""
    yield from _first(document["pending"], None, "grove doctor")


def _first(
    texts: Sequence[object], label: str | None, command: str, more: str = ""
) -> Iterator[_Row]:
    """Name the first few, and where the others are named."""
    for text in texts[:_MOST_NAMED]:
        yield label, f"{text}{more}", "yellow"
    yield from _others(len(texts), command)


def _others(count: int, command: str) -> Iterator[_Row]:
    if count > _MOST_NAMED:
        yield "", f"and {count - _MOST_NAMED} more: {command}", "dim"


def _session_rows(sessions: Sequence[dict[str, Any]]) -> Iterator[_Row]:
    for session in sessions[:_MOST_NAMED]:
        yield "Session", _describe_session(session), ""
        if session["server"] is not None:
            yield "", _describe_server(session["server"]), "dim"
    if not sessions:
        yield "Session", "none is live here", ""
    yield from _others(len(sessions), "grove sessions")


def _backend_rows(backends: Sequence[dict[str, Any]], project: Project) -> Iterator[_Row]:
    for backend in backends:
        health = backend["health"]
        mark = "works" if health.ok else "FAILS"
        role = " (primary)" if backend["primary"] else ""
        detail = clean_line(health.detail, _LONGEST_DETAIL)
        yield "Backend", f"{backend['name']}{role} {mark}: {detail}", ""
    if not backends:
        yield "Backend", _nothing_of(BACKEND_GROUP, project), ""
    elif blocked := blocked_plugins(project, BACKEND_GROUP):
        yield "Backend", describe_blocked(blocked), ""


def _nothing_of(group: str, project: Project) -> str:
    """Say why no plugin of a group is there."""
    blocked = blocked_plugins(project, group)
    if blocked:
        return f"none can be used: {describe_blocked(blocked)} ({fixes_of(blocked)})"
    return f"none installed ({install_command_for(group)})"


def _fault_rows(document: dict[str, Any]) -> Iterator[_Row]:
    yield from _first(document["log_faults"], "Log", "grove doctor")
    stays = " cannot be read; it stays where it is"
    yield from _first(document["outbox_unreadable"], "Outbox", "grove doctor", stays)
    for check in document["checks"]:
        if not check["health"].ok:
            detail = clean_line(check["health"].detail, _LONGEST_DETAIL)
            yield "Check", f"{check['name']}: {detail}; grove doctor tells all", "yellow"


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


def _describe_server(server: SessionServer) -> str:
    hooks = counted(server.by_server, "hook")
    if not server.alive:
        return f"its server has ended after {hooks}; the client starts it for the next"
    without = f", {counted(server.by_command, 'stop')} without it" if server.by_command else ""
    return f"its server lives since {local_time(server.since)}, {hooks} answered{without}"


def _describe_session(session: dict[str, Any]) -> str:
    text = f"{session['id']}, gate {session['gate'].value}"
    ticket = session["ticket"]
    if session["gate"].owes_reflection:
        text += f" ({', '.join(map(name_of, session['closed'])) or 'its changes'})"
    elif ticket is not None:
        text += f", working on {name_of(ticket)}"
        title = clean_line(ticket.title, _LONGEST_TITLE)
        text += f" {json.dumps(title, ensure_ascii=False)}" if title else ""
    return text

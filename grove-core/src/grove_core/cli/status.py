"""``grove status``."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.result import Result
from grove_core.cli.timeparse import local_time
from grove_core.clock import format_instant
from grove_core.model.session import Session
from grove_core.model.statistics import Statistics
from grove_core.plugins.discovery import BACKEND_GROUP, TICKET_GROUP
from grove_core.project import Project
from grove_core.quotation import quote_line
from grove_core.report.text import fault_of
from grove_core.services.messages import name_of
from grove_core.services.overview import Overview, overview_of
from grove_core.services.packages import describe_blocked, install_command_for
from grove_core.services.settings import backend_warnings
from grove_core.services.sync import synchronised_at
from grove_core.storage.paths import place_in
from grove_core.storage.pause import Pauses
from grove_core.text import clean_line, counted

if TYPE_CHECKING:
    from rich.console import Console

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
    found = overview_of(project)
    document = _document(project, found)

    def human(console: "Console") -> None:
        for label, text, style in _rows(project, found, document):
            console.print(text if label is None else f"{label:<9} {text}", style=style)

    return Result(
        document=document,
        human=human,
        warnings=(*document["config_problems"], *document["warnings"]),
    )


def _document(project: Project, found: Overview) -> dict[str, Any]:
    live = [_session_document(one, project) for one in found.live]
    return {
        "root": project.root,
        "home": project.paths.home,
        "initialised": project.files.initialised,
        "paused_until": found.paused_until,
        "hooks": found.hooks,
        "session": live[0] if live else None,
        "live_sessions": live,
        "installed_ticket_systems": [one.probe.name for one in found.systems],
        "ticket_systems": [one.probe.name for one in found.systems if one.enabled],
        "active_ticket_system": next(
            (one.probe.name for one in found.systems if one.is_active), None
        ),
        "backends": [
            {"name": one.spec.name, "primary": one.is_primary, "health": health}
            for one, health in found.backends
        ],
        "checks": [{"name": name, "health": health} for name, health in found.checks],
        "log_faults": [fault_of(one) for one in found.statistics.log.faults],
        "pending": found.pending,
        "outbox": [one.id for one in found.outbox],
        "left_behind": [one.id for one in found.left_behind],
        "servers": [
            {
                "source": one.source or None,
                "synchronised_at": synchronised_at(one),
                "waiting": one.waiting,
                "fault": one.fault or None,
            }
            for one in found.servers
        ],
        "outbox_unreadable": project.outbox.unreadable(),
        "statistics": _numbers_document(found.statistics),
        "config_problems": [str(problem) for problem in project.loaded_config.problems],
        "warnings": backend_warnings(project),
    }


def _session_document(session: Session, project: Project) -> dict[str, Any]:
    gate = session.gate
    return {
        "id": session.id,
        "gate": gate.status,
        "ticket": gate.ticket,
        "closed": gate.closed,
        "blocks": gate.breaker.cycle_blocks,
        "paused_until": Pauses(project.paths.pauses, "").until(session.id, project.now),
        "updated_at": session.updated_at,
    }


def _numbers_document(numbers: Statistics) -> dict[str, Any]:
    reflections = numbers.reflections
    return {
        "learnings": numbers.learnings,
        "active": numbers.by_status.get("active", 0),
        "hit_rate": numbers.usage.hits,
        "reflections": {
            "submissions": reflections.submissions,
            "completed": reflections.completed,
            "candidates": reflections.candidates,
            "accepted": reflections.accepted,
        },
        "skips": {"total": numbers.skips.total, "by_decider": numbers.skips.by_decider},
        "cycles": numbers.gate.by_outcome,
    }


def _rows(project: Project, found: Overview, document: dict[str, Any]) -> Iterator[_Row]:
    state = "initialised" if project.files.initialised else "not initialised (grove init)"
    yield "Project", f"{clean_line(str(project.root), _LONGEST_PATH)} ({state})", ""
    if found.paused_until is not None:
        yield "Paused", f"until {local_time(found.paused_until)}; grove resume ends it", "yellow"
    named = ", ".join(str(place_in(project.root, one)) for one in found.hooks)
    elsewhere = "run, by a plugin or from elsewhere" if found.live else "none are registered"
    yield "Hooks", named or elsewhere, ""
    yield from _session_rows(document["live_sessions"])
    active = document["active_ticket_system"] or "none is used here"
    if not found.systems:
        active = _nothing_of(TICKET_GROUP, project)
    also = [one for one in document["ticket_systems"] if one != active]
    yield "Tickets", f"{active}{', also ' + ', '.join(also) if also else ''}", ""
    yield from _backend_rows(found, project)
    yield from _first(document["log_faults"], "Log", "grove doctor")
    stays = " cannot be read; it stays where it is"
    yield from _first(document["outbox_unreadable"], "Outbox", "grove doctor", stays)
    for name, health in found.checks:
        if not health.ok:
            detail = clean_line(health.detail, _LONGEST_DETAIL)
            yield "Check", f"{name}: {detail}; grove doctor tells all", "yellow"
    if found.outbox:
        scopes = [one.scope for one in found.outbox]
        named = " and ".join(project.library.destinations(scopes)) or "their backend"
        yield "Outbox", f"{len(found.outbox)} waiting for {named}", ""
    if found.left_behind:
        count = counted(len(found.left_behind), "learning")
        yield "Rescued", f"{count} of a removed work tree: grove maintain flush stores it", "yellow"
    for one in found.servers:
        source = one.source or "a memory server, of which none is used here"
        at = synchronised_at(one)
        asked = f"in line as of {format_instant(at)}" if at else "not in line yet"
        waits = f", {len(one.waiting)} waiting for it" if one.waiting else ""
        yield "Server", f"{source}: {asked}{waits}", ""
        if one.fault:
            yield "", clean_line(one.fault, _LONGEST_DETAIL), "yellow"
            yield "", "→ grove backends asks it, and says what helps", "dim"
    yield "So far", _describe_numbers(found.statistics), ""
    yield from _first(found.pending, None, "grove doctor")
    yield from _next_step(found)


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
    if not sessions:
        yield "Session", "none is live here", ""
    yield from _others(len(sessions), "grove sessions")


def _next_step(found: Overview) -> Iterator[_Row]:
    """Say what a person does now, where something is to be done."""
    pending = next((one for one in found.live if one.gate.status.reflection_pending), None)
    if pending is not None:
        to_do = f"the agent reflects at its next stop; grove skip REASON --session-id {pending.id}"
        yield "Next", f"{to_do} lets it go", "dim"
    elif not found.live and not found.hooks:
        yield "Next", "grove init --hooks, or start the client with grove's plugin", "dim"


def _backend_rows(found: Overview, project: Project) -> Iterator[_Row]:
    for backend, health in found.backends:
        mark = "works" if health.ok else "FAILS"
        role = " (primary)" if backend.is_primary else ""
        detail = clean_line(health.detail, _LONGEST_DETAIL)
        yield "Backend", f"{backend.spec.name}{role} {mark}: {detail}", ""
    if not found.backends:
        yield "Backend", _nothing_of(BACKEND_GROUP, project), ""
    elif blocked := describe_blocked(project, BACKEND_GROUP):
        yield "Backend", blocked, ""


def _nothing_of(group: str, project: Project) -> str:
    """Say why no plugin of a group is there."""
    if blocked := describe_blocked(project, group):
        return f"none can be used: {blocked}"
    return f"none installed ({install_command_for(group)})"


def _describe_numbers(numbers: Statistics) -> str:
    reflections, hits = numbers.reflections, numbers.usage.hits
    active = numbers.by_status.get("active", 0)
    parts = [counted(active, "active learning") if active else "no learning yet"]
    if hits.total:
        parts.append(f"used {counted(hits.count, 'time')} in {counted(hits.total, 'showing')}")
    if reflections.submissions:
        accepted = f"{reflections.accepted} of {counted(reflections.candidates, 'candidate')}"
        parts.append(f"{counted(reflections.completed, 'reflection')}, {accepted} accepted")
    if numbers.skips.total:
        parts.append(counted(numbers.skips.total, "skip"))
    return ", ".join(parts)


def _describe_session(session: dict[str, Any]) -> str:
    text = f"{session['id']}, gate {session['gate'].value}"
    if session["paused_until"] is not None:
        text += f", paused until {local_time(session['paused_until'])}"
    ticket = session["ticket"]
    if session["gate"].reflection_pending:
        text += f" ({', '.join(map(name_of, session['closed'])) or 'its changes'})"
    elif ticket is not None:
        text += f", working on {name_of(ticket)}"
        text += f" {quote_line(ticket.title, _LONGEST_TITLE)}" if ticket.title else ""
    return text

"""``grove status``."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import rich_click as click

from grove_core.cli.app import grove_command
from grove_core.cli.result import Result
from grove_core.cli.timeparse import local_time
from grove_core.clock import format_instant
from grove_core.model.session import Session
from grove_core.model.statistics import Statistics
from grove_core.plugins.discovery import BACKEND_GROUP, TICKET_GROUP
from grove_core.plugins.hosts import HostContext
from grove_core.project import Project
from grove_core.quotation import quote_line
from grove_core.report.text import fault_of
from grove_core.services.messages import name_of
from grove_core.services.overview import pending_texts, sessions_here
from grove_core.services.packages import describe_blocked, install_command_for
from grove_core.services.sessions import is_over
from grove_core.services.settings import backend_warnings
from grove_core.services.storing import left_behind
from grove_core.services.sync import synchronised_at
from grove_core.storage.paths import place_in
from grove_core.storage.pause import Pauses
from grove_core.text import clean_line, counted

_LONGEST_PATH: Final = 4096
_LONGEST_DETAIL: Final = 160
_LONGEST_TITLE: Final = 120
_MOST_NAMED: Final = 3
"""Of sessions, pending reflections and faults, so that it all stays on one screen."""

_Row = tuple[str | None, str, str]
"""What it is about (empty: the same as above; ``None``: no column), a text, and its style."""


@click.command("status")
@grove_command
def command(project: Project) -> Result:
    """Show the project, the gates of the live sessions, the backends and what waits.

    Exit code 0 whatever it shows, 1 when a backend cannot be read.
    """
    document = _document(project)
    return Result(
        document=document,
        lines=[
            (text if label is None else f"{label:<9} {text}", style)
            for label, text, style in _rows(project, document)
        ],
        warnings=(*document["config_problems"], *document["warnings"]),
    )


def _document(project: Project) -> dict[str, Any]:
    """Look at everything."""
    # Counting comes first: what it reads for that is let go before backends keep theirs.
    statistics = project.statistics()
    library, systems, sessions = project.library, project.tickets().all, sessions_here(project)
    healths = library.healths(servers=False)
    live = [_session_document(one, project) for one in sessions if not is_over(one, project)]
    seen = HostContext(root=project.root, environment=project.environment)
    hooks = [each for one in project.plugins.hosts() for each in one.value.registered(seen)]
    checks = project.plugins.healths(project.context(), project.gate_settings())
    return {
        "root": project.root,
        "home": project.paths.home,
        "initialised": project.files.initialised,
        "paused_until": Pauses(project.paths.pauses, project.files.key).until(None, project.now),
        "hooks": list(dict.fromkeys(one.source for one in hooks)),
        "session": live[0] if live else None,
        "live_sessions": live,
        "installed_ticket_systems": [one.probe.name for one in systems],
        "ticket_systems": [one.probe.name for one in systems if one.enabled],
        "active_ticket_system": next((one.probe.name for one in systems if one.is_active), None),
        "backends": [
            {"name": one.spec.name, "primary": one.is_primary, "health": healths[one.spec.name]}
            for one in library.states
            if one.is_active
        ],
        "checks": [{"name": name, "health": health} for name, health in checks],
        "log_faults": [fault_of(one) for one in statistics.log.faults],
        "pending": [text for one in sessions for text in pending_texts(one, project)],
        "outbox": [one.learning.id for one in project.outbox.entries(project.root)],
        "left_behind": [one.learning.id for one in left_behind(project)],
        "servers": [
            {
                "source": one.source or None,
                "synchronised_at": synchronised_at(one),
                "waiting": one.waiting,
                "fault": one.fault or None,
            }
            for one in library.freshness()
        ],
        "outbox_unreadable": project.outbox.unreadable(),
        "statistics": _numbers_document(statistics),
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
    reflections = numbers.reflections._asdict()
    del reflections["by_backend"]
    return {
        "learnings": numbers.learnings,
        "active": numbers.by_status.get("active", 0),
        "hit_rate": numbers.usage.hits,
        "reflections": reflections,
        "skips": {"total": numbers.skips.total, "by_decider": numbers.skips.by_decider},
        "cycles": numbers.gate.by_outcome,
    }


def _rows(project: Project, document: dict[str, Any]) -> Iterator[_Row]:
    """Say what the document says on one screen."""
    state = "initialised" if document["initialised"] else "not initialised (grove init)"
    yield "Project", f"{clean_line(str(project.root), _LONGEST_PATH)} ({state})", ""
    if document["paused_until"] is not None:
        until = local_time(document["paused_until"])
        yield "Paused", f"until {until}; grove resume ends it", "yellow"
    live = document["live_sessions"]
    hooks = ", ".join(str(place_in(project.root, one)) for one in document["hooks"])
    elsewhere = "run, by a plugin or from elsewhere" if live else "none are registered"
    yield "Hooks", hooks or elsewhere, ""
    sessions = [*map(_describe_session, live)] or ["none is live here"]
    yield from _first(sessions, "Session", "grove sessions", style="")
    active = document["active_ticket_system"] or "none is used here"
    if not document["installed_ticket_systems"]:
        active = _nothing_of(TICKET_GROUP, project)
    also = [one for one in document["ticket_systems"] if one != active]
    yield "Tickets", f"{active}{', also ' + ', '.join(also) if also else ''}", ""
    for one in document["backends"]:
        health, role = one["health"], " (primary)" if one["primary"] else ""
        mark, detail = "works" if health.ok else "FAILS", clean_line(health.detail, _LONGEST_DETAIL)
        yield "Backend", f"{one['name']}{role} {mark}: {detail}", ""
    if not document["backends"]:
        yield "Backend", _nothing_of(BACKEND_GROUP, project), ""
    yield from _first(document["log_faults"], "Log", "grove doctor")
    stays = [f"{one} cannot be read; it stays where it is" for one in document["outbox_unreadable"]]
    yield from _first(stays, "Outbox", "grove doctor")
    for one in document["checks"]:
        if not one["health"].ok:
            detail = clean_line(one["health"].detail, _LONGEST_DETAIL)
            yield "Check", f"{one['name']}: {detail}; grove doctor tells all", "yellow"
    if document["outbox"]:
        yield "Outbox", f"{len(document['outbox'])} waiting for their backend", ""
    if document["left_behind"]:
        count = counted(len(document["left_behind"]), "learning")
        yield "Rescued", f"{count} of a removed work tree: grove maintain flush stores it", "yellow"
    for one in document["servers"]:
        yield from _server_rows(one)
    yield "So far", _describe_numbers(document["statistics"]), ""
    yield from _first(document["pending"], None, "grove doctor")
    yield from _next_step(document)


def _first(
    texts: Sequence[str], label: str | None, command: str, style: str = "yellow"
) -> Iterator[_Row]:
    """Name the first few, and where the others are named."""
    for text in texts[:_MOST_NAMED]:
        yield label, text, style
    if len(texts) > _MOST_NAMED:
        yield "", f"and {len(texts) - _MOST_NAMED} more: {command}", "dim"


def _server_rows(server: dict[str, Any]) -> Iterator[_Row]:
    source, at = server["source"], server["synchronised_at"]
    asked = f"in line as of {format_instant(at)}" if at else "not in line yet"
    waits = f", {len(server['waiting'])} waiting for it" if server["waiting"] else ""
    named = source or "a memory server, of which none is used here"
    yield "Server", f"{named}: {asked}{waits}", ""
    if server["fault"]:
        yield "", clean_line(server["fault"], _LONGEST_DETAIL), "yellow"
        yield "", "→ grove backends asks it, and says what helps", "dim"


def _next_step(document: dict[str, Any]) -> Iterator[_Row]:
    """Say what a person does now, where something is to be done."""
    live = document["live_sessions"]
    pending = [one["id"] for one in live if one["gate"].reflection_pending]
    if pending:
        to_do = f"the agent reflects at its next stop; grove skip REASON --session-id {pending[0]}"
        yield "Next", f"{to_do} lets it go", "dim"
    elif not live and not document["hooks"]:
        yield "Next", "grove init --hooks, or start the client with grove's plugin", "dim"


def _nothing_of(group: str, project: Project) -> str:
    """Say why no plugin of a group is there."""
    if blocked := describe_blocked(project, group):
        return f"none can be used: {blocked}"
    return f"none installed ({install_command_for(group)})"


def _describe_numbers(numbers: dict[str, Any]) -> str:
    reflections, hits, active = numbers["reflections"], numbers["hit_rate"], numbers["active"]
    parts = [counted(active, "active learning") if active else "no learning yet"]
    if hits.total:
        parts.append(f"used {counted(hits.count, 'time')} in {counted(hits.total, 'showing')}")
    if reflections["submissions"]:
        accepted = f"{reflections['accepted']} of {counted(reflections['candidates'], 'candidate')}"
        parts.append(f"{counted(reflections['completed'], 'reflection')}, {accepted} accepted")
    if numbers["skips"]["total"]:
        parts.append(counted(numbers["skips"]["total"], "skip"))
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

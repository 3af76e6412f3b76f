"""``grove tickets``."""

import os
import shlex
from collections.abc import Sequence
from typing import Any, Final

import rich_click as click

from grove_core.cli.app import grove_command
from grove_core.cli.groups import LazyGroup
from grove_core.cli.result import Result
from grove_core.model.ticket import TicketClose, ToolCall
from grove_core.plugins.discovery import TICKET_GROUP
from grove_core.project import Project
from grove_core.quotation import quote_line
from grove_core.services.messages import name_of
from grove_core.services.packages import install_command_for
from grove_core.services.result import Line
from grove_core.text import clean_line
from grove_core.ticketing import TicketSystems

_LONGEST_LINE: Final = 2000


@click.group("tickets", cls=LazyGroup, invoke_without_command=True)
@grove_command
def command(project: Project) -> Result:
    """Show the ticket systems: which are used here, in which order, and why.

    `grove tickets match -- COMMAND` says what a shell command would close.
    """
    tickets = project.tickets()
    current = tickets.current_ticket()

    lines: list[Line] = []
    for one in tickets.all:
        mark = "active" if one.is_active else "used" if one.enabled else "-"
        why = clean_line(one.why, _LONGEST_LINE)
        lines.append(f"{one.probe.name:<12} {mark:<7} {why}  [{one.provided.source}]")
    if not lines:
        lines = [f"No ticket system is installed: {install_command_for(TICKET_GROUP)}"]
    if current is not None:
        lines.append(f"In progress: {name_of(current)} {quote_line(current.title, _LONGEST_LINE)}")
    return Result(
        document={
            "ticket": current,
            "systems": [
                {
                    "name": one.probe.name,
                    "active": one.is_active,
                    "enabled": one.enabled,
                    "marker": one.detection.marker if one.detection else None,
                    "why": one.why,
                    "plugin": str(one.provided.source),
                }
                for one in tickets.all
            ],
        },
        lines=lines,
        warnings=_mistakes(project),
        ids=[one.probe.name for one in tickets.all if one.enabled],
    )


def _mistakes(project: Project) -> Sequence[str]:
    """Name what is wrong in the configuration: a pattern or a switch may be without effect."""
    return [str(problem) for problem in project.loaded_config.problems]


@command.command("match")
@click.argument("words", nargs=-1, required=True, metavar="COMMAND...")
@grove_command
def match(project: Project, *, words: tuple[str, ...]) -> Result:
    """Say which tickets a command would close; nothing is run.

    Give the command as one quoted word, or as words after `--`. All installed systems are asked,
    whether or not they are used here.
    """
    text = words[0] if len(words) == 1 else shlex.join(words)
    call = ToolCall(name="Bash", input={"command": text}, cwd=os.getcwd())  # noqa: PTH109 - a string is wanted
    found = _find_closes(project.tickets(), call)
    lines = []
    for one in found:
        ids = ", ".join(one["ids"]) + ("" if one["certain"] else " (not certain)")
        said = f"{one['system']}: {ids if one['ids'] else 'ids known only when it runs'}"
        lines.append(clean_line(said, _LONGEST_LINE))
    return Result(
        document={"closes": found},
        lines=lines or ["It closes no ticket."],
        warnings=_mistakes(project),
        ids=[name for one in found for name in one["ids"]],
    )


def _find_closes(tickets: TicketSystems, call: ToolCall) -> list[dict[str, Any]]:
    by_system: dict[str, list[TicketClose]] = {}
    for close in tickets.closes_of(call):
        by_system.setdefault(close.system, []).append(close)
    return [
        {
            "system": system,
            "ids": list(dict.fromkeys(one.ticket_id for one in closes if one.ticket_id)),
            "certain": all(one.certain and one.ticket_id is not None for one in closes),
        }
        for system, closes in by_system.items()
    ]

"""``grove tickets``."""

import json
import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import rich_click as click

from grove_core.cli.invocation import Invocation, Result, grove_command
from grove_core.model.ticket import Ticket, TicketClose, ToolCall
from grove_core.ticketing import TicketSystem

if TYPE_CHECKING:
    from rich.console import Console


@click.group("tickets", invoke_without_command=True)
@grove_command
def command(invocation: Invocation) -> Result:
    """Show the ticket systems: which are used here, in which order, and why.

    `grove tickets match -- COMMAND` says what a shell command would close.
    """
    tickets = invocation.workspace.tickets()
    current = tickets.current_ticket()
    return Result(
        document={
            "ticket": current,
            "systems": [
                {
                    "name": one.probe.name,
                    "active": one.is_active,
                    "takes_part": one.takes_part,
                    "marker": one.detection.marker if one.detection else None,
                    "why": one.why,
                    "plugin": str(one.provided.source),
                }
                for one in tickets.all
            ],
        },
        human=lambda console: _human(tickets.all, current, console),
        ids=[one.probe.name for one in tickets.all if one.takes_part],
    )


def _human(systems: Sequence[TicketSystem], current: Ticket | None, console: "Console") -> None:
    for one in systems:
        mark = "active" if one.is_active else "used" if one.takes_part else "-"
        console.print(f"{one.probe.name:<12} {mark:<7} {one.why}  [{one.provided.source}]")
    if not systems:
        console.print("No ticket system is installed: pip install grove-tickets")
    if current is not None:
        console.print(f"In progress: {current.ticket_id} {current.title}")


@command.command("match")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option("--tool", metavar="NAME", help="Match a call of this tool instead of the shell.")
@click.option("--input", "tool_input", metavar="JSON", help="The tool's input, with --tool.")
@grove_command
def match(
    invocation: Invocation, *, words: tuple[str, ...], tool: str | None, tool_input: str | None
) -> Result:
    """Say which tickets a command would close; nothing is run.

    Give the command as one quoted word, or as words after `--`. All installed systems are asked,
    whether or not they are used here.
    """
    call = _call(words, tool, tool_input)
    closes = invocation.workspace.tickets().closes_of(call)
    systems = dict.fromkeys(one.system for one in closes)
    found = [_document(system, closes) for system in systems]

    def human(console: "Console") -> None:
        for one in found:
            ids = ", ".join(one["ids"]) or "ids known only when it runs"
            console.print(f"{one['system']}: {ids}")
        if not found:
            console.print("It closes no ticket.")

    return Result(
        document={"closes": found}, human=human, ids=[name for one in found for name in one["ids"]]
    )


def _call(words: tuple[str, ...], tool: str | None, tool_input: str | None) -> ToolCall:
    if words and tool is None and tool_input is None:
        text = words[0] if len(words) == 1 else shlex.join(words)
        return ToolCall(name="Bash", input={"command": text}, cwd=os.getcwd())  # noqa: PTH109 - a string is wanted
    if words or tool is None or tool_input is None:
        raise click.UsageError("give a command, or --tool with --input")
    try:
        parsed = json.loads(tool_input)
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint="--input") from error
    if not isinstance(parsed, dict):
        raise click.BadParameter("a JSON object is wanted", param_hint="--input")
    return ToolCall(name=tool, input=parsed, cwd=os.getcwd())  # noqa: PTH109 - as above


def _document(system: str, closes: Sequence[TicketClose]) -> dict[str, Any]:
    own = [one for one in closes if one.system == system]
    ids = [one.ticket_id for one in own if one.ticket_id is not None]
    return {"system": system, "ids": ids, "certain": len(ids) == len(own)}

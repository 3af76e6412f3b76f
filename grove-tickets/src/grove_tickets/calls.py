"""Tool calls of a shell and of MCP servers, and the directories they name."""

import os.path
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from grove_core import CloseMatcher, ProjectContext, TicketClose, ToolCall
from grove_tickets.arguments import Arguments, is_known, known, parse, valued_flags
from grove_tickets.outputs import Printed, Stored, confirmation

if TYPE_CHECKING:
    from grove_tickets.shell import Command

_STORES: Final = frozenset({".beads", "_beads", ".git", ".tickets", ".tissue"})


def matchers(
    system: str,
    closes: Callable[[ToolCall, ProjectContext], Sequence[TicketClose]],
    *,
    printed: Printed | None = None,
    stored: Stored | None = None,
    commands: Sequence[str],
    tools: Sequence[str] = (),
) -> list[CloseMatcher]:
    """Look at commands of the shell and at tools of MCP servers that hold certain words."""
    confirm = partial(confirmation, printed, stored)
    of_shell = CloseMatcher(
        system=system, literals=tuple(commands), tools=("Bash",), match=closes, confirm=confirm
    )
    if not tools:
        return [of_shell]
    return [of_shell, evolve(of_shell, literals=tuple(tools), tools=("mcp__*",))]


def close_of(
    system: str, ticket_id: str, directory: str | None = None, *, reopens: bool = False
) -> TicketClose:
    """Return a close of a ticket whose id may be empty or unknown."""
    return TicketClose(
        system=system, ticket_id=known(ticket_id), directory=directory, reopens=reopens
    )


def shell_commands(call: ToolCall, *programs: str) -> list["Command"]:
    """Return the commands of a program that a call of the shell would run."""
    text = call.input.get("command")
    if call.name != "Bash" or not isinstance(text, str):
        return []
    from grove_tickets.shell import commands

    return [command for command in commands(text) if command.program in programs]


def resolve(start: str, path: str, environment: Mapping[str, str]) -> str | None:
    """Make a path of a shell command absolute."""
    if path == "~" or path.startswith("~/"):
        path = environment.get("HOME", "~") + path[1:]
    if not is_known(path) or path.startswith("~"):
        return None
    return os.path.normpath(Path(start, path))


def store_directory(
    call: ToolCall, directory: str, store: str | None, environment: Mapping[str, str]
) -> str | None:
    """Return which directory's store a command means."""
    start = resolve(call.cwd, directory, environment)
    meant = start
    if store is not None:
        path = resolve(start or call.cwd, store, environment)
        # What holds a store of another name is not found from its directory.
        named = Path(path or "")
        meant = str(named.parent) if named.name in _STORES else None
    return None if meant == os.path.normpath(call.cwd) else meant


def behind_git(command: "Command") -> tuple[Arguments, str]:
    """Return what ``git`` is told before its subcommand and from there on, and where it runs."""
    overall = parse(command.words[1:], valued_flags("git")[""], interspersed=False)
    moves = (value for flag, value in overall.options if flag == "-C")
    return overall, str(Path(command.directory, *moves))


def tool_of(call: ToolCall, *systems: str) -> str:
    """Return which tool of a system's MCP server a call means."""
    prefix, _, rest = call.name.partition("__")
    server, _, tool = rest.rpartition("__")
    is_meant = prefix == "mcp" and any(word in server.lower() for word in systems)
    return tool if is_meant else ""


def text_of(fields: Mapping[str, Any], *names: str) -> str:
    """Return the first of several fields that is a text or a whole number."""
    values = (fields.get(name) for name in names)
    for value in values:
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return ""

"""Jira: work items moved to a state in which they are done."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grove_core import (
    CloseMatcher,
    Detection,
    EnabledWhen,
    ProjectContext,
    Ticket,
    TicketClose,
    TicketProbe,
    ToolCall,
    ToolResult,
    hookimpl,
)
from grove_tickets.arguments import UNKNOWN, is_known, take_apart
from grove_tickets.calls import close_of, matchers, shell_commands, text_of, tool_of
from grove_tickets.outputs import json_objects, output_text, told
from grove_tickets.places import branch_name, exists, find_repository
from grove_tickets.states import DoneSettings, is_done, state_name

if TYPE_CHECKING:
    from grove_tickets.shell import Command

grove_api = 2
SYSTEM = "jira"
_TOOLS = frozenset({"transitionjiraissue", "jiratransitionissue", "transitionissue"})
_MOVES = frozenset(
    f"{group} {verb}" for group in ("issue", "issues") for verb in ("move", "transition", "mv")
)


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer Jira; its configuration is per user and says nothing about a project."""
    return [
        TicketProbe(
            name=SYSTEM,
            detect=detect,
            current_ticket=current_ticket,
            enabled_when=EnabledWhen.OVERRIDDEN,
            settings=DoneSettings,
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise that issues are moved to a done state."""
    commands = ("jira move", "jira transition", "jira mv")
    tools = (
        "issueIdOrKey transition",
        "issue_key transition_name",
        "issueKey transitionName",
        "issue_key status",
    )
    return matchers(SYSTEM, closes, printed=_says_done, commands=commands, tools=tools)


def detect(context: ProjectContext) -> Detection | None:
    """Find the configuration of ``jira``."""
    environment = context.environment
    home = environment.get("XDG_CONFIG_HOME") or f"{environment.get('HOME', '')}/.config"
    path = context.cwd / (environment.get("JIRA_CONFIG_FILE") or f"{home}/.jira/.config.yml")
    return Detection(marker=str(path) if exists(path) else "ticketing.overrides.jira")


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue the branch that is checked out names."""
    repository = find_repository(context.cwd)
    branch = None if repository is None else branch_name(repository)
    found = re.search(r"(?<![A-Za-z0-9])[A-Z][A-Z0-9_]+-[1-9]\d*(?![\w.])", branch or "")
    return None if found is None else Ticket(ticket_id=found[0], source=SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issues a call would move to a done state, or back from one."""
    moved = [_moved_by_server(call)]
    if call.name == "Bash":
        moved = [_moved_by_command(one) for one in shell_commands(call, "jira", "acli")]
    return [
        close_of(SYSTEM, key, reopens=not is_done(state, context))
        for keys, state in moved
        if state and is_known(state)
        for key in keys
    ]


def _moved_by_server(call: ToolCall) -> tuple[Sequence[str], str]:
    """Return the issue that a tool of an MCP server of Jira moves, and its new state."""
    tool = tool_of(call, "jira", "atlassian").lower().replace("_", "")
    transition = call.input.get("transition")
    fields = {**call.input, **(transition if isinstance(transition, dict) else {})}
    state = text_of(fields, "name", "transition_name", "transitionName", "status", "transition")
    key = text_of(call.input, "issueIdOrKey", "issue_key", "issueKey")
    is_move = tool in _TOOLS and key != "" and not state.isdigit()
    return ((key,), state) if is_move else ((), "")


def _moved_by_command(command: "Command") -> tuple[Sequence[str], str]:
    """Return the issues that a command moves, and their new state."""
    words = command.words[1:]
    if command.program == "acli":
        name, arguments = take_apart("acli", words, {"jira", "workitem"})
        keys = (arguments.value("-k", "--key") or UNKNOWN).replace(",", " ").split()
        state = arguments.value("-s", "--status") or ""
        is_move = name == "jira workitem transition"
    else:
        name, arguments = take_apart("jira", words, {"issue", "issues"})
        key, state = (*arguments.positionals[:2], "", "")[:2]
        keys = [key] if key else []
        is_move = name in _MOVES
    return (keys, state) if is_move and not arguments.has("-h", "--help") else ((), "")


def _says_done(close: TicketClose, result: ToolResult, context: ProjectContext) -> bool | None:
    """Return whether an issue is done; Jira itself is never asked."""
    text = output_text(result)
    said = re.findall(r'transitioned to state "([^"]+)"(?:\s+\S*/browse/(\S+))?', text)
    said += [(state_name(one), str(one["key"])) for one in json_objects(result) if "key" in one]
    # A key as typed may be a number only.
    key = f"-{close.ticket_id}".upper()
    states = [
        state
        for state, moved in said
        if state and (close.ticket_id is None or not moved or f"-{moved}".upper().endswith(key))
    ]
    done = (is_done(state, context) for state in states[-1:])
    return told(done, close.ticket_id, text, r"(?m)^[^\w\n]*(?:Error:|Issue does not exist)")

"""Jira: work items moved to a state in which they are done."""

import re
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from grove_core import (
    CloseMatcher,
    Confirmation,
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
from grove_tickets.calls import shell_commands, text_of, tool_of
from grove_tickets.outputs import confirmation, json_objects, output_text, says_error, says_misuse
from grove_tickets.places import branch_name, exists, find_repository
from grove_tickets.states import DONE, is_done, state_name

grove_api = 2
SYSTEM = "jira"
_SERVERS = ("jira", "atlassian")
_TOOLS = frozenset({"transitionjiraissue", "jiratransitionissue", "transitionissue"})
_MOVES = frozenset(
    f"{group} {verb}" for group in ("issue", "issues") for verb in ("move", "transition", "mv")
)


@frozen(kw_only=True)
class JiraSettings:
    """Section ``tickets.jira``."""

    done: tuple[str, ...] = DONE


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer Jira; its configuration is per user and says nothing about a project."""
    return [
        TicketProbe(
            name=SYSTEM,
            detect=detect,
            current_ticket=current_ticket,
            enabled_when=EnabledWhen.OVERRIDDEN,
            settings=JiraSettings,
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise that issues are moved to a done state."""
    return [
        CloseMatcher(
            system=SYSTEM,
            literals=("jira move", "jira transition", "jira mv"),
            tools=("Bash",),
            match=closed_by_shell,
            confirm=confirm,
        ),
        CloseMatcher(
            system=SYSTEM,
            literals=(
                "issueIdOrKey transition",
                "issue_key transition_name",
                "issueKey transitionName",
                "issue_key status",
            ),
            tools=("mcp__*",),
            match=closed_by_server,
            confirm=confirm,
        ),
    ]


def detect(context: ProjectContext) -> Detection | None:
    """Find the configuration of ``jira``."""
    path = _configuration(context)
    return Detection(marker=str(path) if exists(path) else "ticketing.overrides.jira")


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue the branch that is checked out names."""
    repository = find_repository(context.cwd)
    branch = None if repository is None else branch_name(repository)
    found = re.search(r"(?<![A-Za-z0-9])[A-Z][A-Z0-9_]+-[1-9]\d*(?![\w.])", branch or "")
    return None if found is None else Ticket(ticket_id=found[0], source=SYSTEM)


def _configuration(context: ProjectContext) -> Path:
    environment = context.environment
    home = environment.get("XDG_CONFIG_HOME") or f"{environment.get('HOME', '')}/.config"
    named = environment.get("JIRA_CONFIG_FILE") or f"{home}/.jira/.config.yml"
    return Path(context.cwd, named)


def closed_by_shell(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issues a shell command would move to a done state, or back from one."""
    found = []
    for command in shell_commands(call, "jira", "acli"):
        keys, state = _moved(command.program, command.words[1:])
        if state and is_known(state):
            found += [_change(key if is_known(key) else None, state, context) for key in keys]
    return tuple(found)


def closed_by_server(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issue a call of an MCP server of Jira would move to a done state, or back."""
    tool = tool_of(call, *_SERVERS).lower().replace("_", "")
    transition = call.input.get("transition")
    fields = {**call.input, **(transition if isinstance(transition, dict) else {})}
    state = text_of(fields, "name", "transition_name", "transitionName", "status", "transition")
    key = text_of(call.input, "issueIdOrKey", "issue_key", "issueKey")
    if tool not in _TOOLS or not key or not state or state.isdigit():
        return ()
    return [_change(key, state, context)]


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Return whether an issue is done; Jira itself is never asked."""
    return confirmation(result, printed=lambda answer: _says_done(answer, close.ticket_id, context))


def _change(key: str | None, state: str, context: ProjectContext) -> TicketClose:
    return TicketClose(system=SYSTEM, ticket_id=key, reopens=not is_done(state, _done(context)))


def _done(context: ProjectContext) -> tuple[str, ...]:
    settings = context.settings
    return settings.done if isinstance(settings, JiraSettings) else DONE


def _moved(program: str, words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the issues that a command moves, and their new state."""
    if program == "acli":
        valued = ("-k", "--key", "-s", "--status", "--jql", "--filter", "--from-file")
        name, arguments = take_apart(
            words, {"jira", "workitem"}, (), {"jira workitem transition": valued}
        )
        keys = (arguments.value("-k", "--key") or UNKNOWN).replace(",", " ").split()
        state = arguments.value("-s", "--status") or ""
        is_move = name == "jira workitem transition"
    else:
        overall = ("-c", "--config", "-p", "--project")
        own = dict.fromkeys(_MOVES, ("--comment", "-a", "--assignee", "-R", "--resolution"))
        name, arguments = take_apart(words, {"issue", "issues"}, overall, own)
        key, state = (*arguments.positionals[:2], "", "")[:2]
        keys = [key] if key else []
        is_move = name in _MOVES
    return (keys, state) if is_move and not arguments.has("-h", "--help") else ((), "")


def _says_done(result: ToolResult, key: str | None, context: ProjectContext) -> bool | None:

    text = output_text(result)
    said = re.findall(r'transitioned to state "([^"]+)"(?:\s+\S*/browse/(\S+))?', text)
    said += [(state_name(one), str(one["key"])) for one in json_objects(result) if "key" in one]
    states = [
        state
        for state, moved in said
        if state and (key is None or not moved or _is_same(key, moved))
    ]
    if states:
        return is_done(states[-1], _done(context))
    refused = re.search(r"(?m)^[^\w\n]*(?:Error:|Issue does not exist)", text) is not None
    return False if refused or says_misuse(text) or says_error(result) else None


def _is_same(typed: str, key: str) -> bool:
    """Return whether a key as typed, perhaps a number only, means an issue."""
    return key.upper() == typed.upper() or (typed.isdigit() and key.endswith(f"-{typed}"))

"""Linear: issues moved to a state in which they are done."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grove_core import (
    CloseMatcher,
    Detection,
    ProjectContext,
    Ticket,
    TicketClose,
    TicketProbe,
    ToolCall,
    ToolResult,
    hookimpl,
)
from grove_tickets.arguments import UNKNOWN, is_known, take_apart
from grove_tickets.calls import (
    close_of,
    matchers,
    shell_commands,
    store_directory,
    text_of,
    tool_of,
)
from grove_tickets.outputs import json_objects, output_text, told
from grove_tickets.places import branch_name, detected, exists, find_repository, read_file
from grove_tickets.states import DoneSettings, is_done, state_name

grove_api = 2
SYSTEM = "linear"
_NAMES = ("linear.toml", ".linear.toml")
_TOOLS = frozenset({"update_issue", "save_issue"})
_MAX_CONFIG_BYTES = 65536
_UPDATES = frozenset({"issue update", "i update"})
_STATE_ID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]+){4}"
_Update = tuple[str, str, str | None]
"""An issue, its new state, and the directory that is meant."""


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer Linear."""
    settings = DoneSettings
    return [
        TicketProbe(name=SYSTEM, detect=detect, current_ticket=current_ticket, settings=settings)
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise that issues are moved to a done state."""
    return matchers(
        SYSTEM, closes, printed=_says_done, commands=("linear update",), tools=("id state",)
    )


def detect(context: ProjectContext) -> Detection | None:
    """Find the project's configuration of ``linear``."""
    paths = [context.cwd / name for name in _NAMES]
    repository = find_repository(context.cwd)
    if repository is not None:
        paths += [repository.top / name for name in (*_NAMES, ".config/linear.toml")]
    return detected(next((path for path in paths if exists(path)), None))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue the branch that is checked out names."""
    repository = find_repository(context.cwd)
    branch = (None if repository is None else branch_name(repository)) or ""
    team = context.environment.get("LINEAR_TEAM_ID") or _configured_team(context)
    key = re.escape(team) if team else "[a-z][a-z0-9]*"
    found = re.search(rf"(?i)\b({key}-[1-9]\d*)\b", branch)
    return None if found is None else Ticket(ticket_id=found[1].upper(), source=SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issues a call would move to a done state, or back from one."""
    updates = _updates_by_shell if call.name == "Bash" else _updates_by_server
    return [
        close_of(SYSTEM, ticket_id, directory, reopens=not is_done(state, context))
        for ticket_id, state, directory in updates(call, context.environment)
        # Of a state that is named by its id, nothing is known.
        if state and is_known(state) and not re.fullmatch(_STATE_ID, state)
    ]


def _updates_by_shell(call: ToolCall, environment: Mapping[str, str]) -> Iterator[_Update]:
    for command in shell_commands(call, "linear"):
        name, arguments = take_apart("linear", command.words[1:], {"issue", "i"})
        if name in _UPDATES and not arguments.has("-h", "--help"):
            # Without an id, the branch names the issue.
            ticket_id = (*arguments.positionals, UNKNOWN)[0]
            directory = store_directory(call, command.directory, None, environment)
            yield ticket_id, arguments.value("-s", "--state") or "", directory


def _updates_by_server(call: ToolCall, _environment: Mapping[str, str]) -> Iterator[_Update]:
    tool = tool_of(call, SYSTEM).removeprefix("linear_")
    ticket_id = text_of(call.input, "id")
    if tool in _TOOLS and ticket_id:
        yield ticket_id, text_of(call.input, "state"), None


def _configured_team(context: ProjectContext) -> str:
    detection = detect(context)
    if detection is None:
        return ""
    content = read_file(Path(detection.marker), _MAX_CONFIG_BYTES) or b""
    text = content.decode("utf-8", "replace")
    found = re.search(r"""(?m)^\s*team_id\s*=\s*["']([A-Za-z0-9]+)["']""", text)
    return found[1] if found else ""


def _says_done(close: TicketClose, result: ToolResult, context: ProjectContext) -> bool | None:
    """Return whether an issue is done; Linear itself is never asked."""
    text = output_text(result)
    # The tool checks the state's name before it prints this. What is typed may be a number only.
    said = [
        not close.reopens
        for issue in re.findall(r"(?m)^[^\w\n]*Updated issue ([A-Za-z0-9]+-\d+)", text)
        if close.ticket_id is None or f"-{issue}".endswith(f"-{close.ticket_id}".upper())
    ]
    said += [
        is_done(state_name(one), context)
        for one in json_objects(result)
        if close.ticket_id in {None, one.get("id"), one.get("identifier")} and state_name(one)
    ]
    refused = r"(?m)^[^\w\n]*(?:Failed to update|Could not )"
    return told(said[-1:], close.ticket_id, text, refused)

"""Taskmaster (``task-master-ai``): tasks in ``.taskmaster/tasks/tasks.json``, a list per tag."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
from grove_tickets.arguments import parse, valued_flags
from grove_tickets.calls import (
    close_of,
    matchers,
    shell_commands,
    store_directory,
    text_of,
    tool_of,
)
from grove_tickets.outputs import json_objects
from grove_tickets.places import detected, exists, find_upwards
from grove_tickets.records import objects, read_json, text_field, ticket_of
from grove_tickets.states import CancelledSettings, counts_cancelled

grove_api = 2
SYSTEM = "taskmaster"
_TASKS = (".taskmaster/tasks/tasks.json", "tasks/tasks.json")
# Not `.taskmaster` alone: one in the home directory holds the tool's own login.
_MARKERS = (
    ".taskmaster/tasks",
    ".taskmaster/config.json",
    ".taskmaster/state.json",
    ".taskmasterconfig",
    "tasks/tasks.json",
)
# Also what the npm package is called, and the shell aliases that the tool sets up.
_PROGRAMS = ("task-master", "task-master-ai", "taskmaster", "tm")
_CANCELLED = "cancelled"
_SETS_UNFINISHED = frozenset({"pending", "in-progress", "deferred", "blocked", "review"})
# Lists of old versions have `completed`, which newer ones no longer set.
_FINISHED = frozenset({"done", "completed"})
_Change = tuple[str, str, str | None]
"""The ids that a call names, the status it sets, and the directory that is meant."""


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer Taskmaster."""
    return [
        TicketProbe(
            name=SYSTEM,
            detect=detect,
            current_ticket=current_ticket,
            paths=(".taskmaster", ".taskmasterconfig", "tasks/tasks.json"),
            settings=CancelledSettings,
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of Taskmaster's tasks."""
    return matchers(
        SYSTEM,
        closes,
        printed=_says_done,
        stored=_is_done,
        commands=("set-status", "task-master status"),
        tools=("id status",),
    )


def detect(context: ProjectContext) -> Detection | None:
    """Find a project of Taskmaster."""
    return detected(find_upwards(context.cwd, *_MARKERS))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which task is in progress: the one that was updated last, if there are several."""
    root = _find_root(context.cwd)
    tasks = [] if root is None else _tasks(root, _current_tag(root, context))
    started = [task for task in tasks if task.get("status") == "in-progress"]
    task = max(started, key=lambda one: text_field(one, "updatedAt"), default=None)
    return ticket_of(task, SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which tasks a call would close or open again."""
    finished = {"done", _CANCELLED} if counts_cancelled(context) else {"done"}
    changed = _changed_by_shell if call.name == "Bash" else _changed_by_mcp
    return tuple(
        close_of(SYSTEM, ticket_id, directory, reopens=status in _SETS_UNFINISHED)
        for ids, status, directory in changed(call, context)
        if status in finished | _SETS_UNFINISHED
        for ticket_id in (one.strip() for one in ids.split(","))
        if ticket_id
    )


def _changed_by_shell(call: ToolCall, context: ProjectContext) -> Iterator[_Change]:
    for command in shell_commands(call, *_PROGRAMS):
        verb, *words = command.words[1:] or ("",)
        arguments = parse(words, valued_flags("task-master")["set-status"])
        is_verb = verb == "set-status" or (verb == "status" and command.program == "task-master")
        # The tool takes what stands behind `-s` as it is: `-s=done` would be the status `=done`.
        glued = any(word.startswith(("-i=", "-s=", "-p=")) for word in words)
        if not is_verb or glued or arguments.has("-h", "--help"):
            continue
        typed = dict(enumerate(arguments.positionals))
        ids = typed.get(0) or arguments.value("-i", "--id") or ""
        status = typed.get(1) or arguments.value("-s", "--status") or ""
        base = str(Path(command.directory, arguments.value("-p", "--project") or ""))
        yield ids, status, store_directory(call, base, None, context.environment)


def _changed_by_mcp(call: ToolCall, context: ProjectContext) -> Iterator[_Change]:
    if tool_of(call, "taskmaster", "task-master", "task_master") == "set_task_status":
        root = text_of(call.input, "projectRoot").removeprefix("file://")
        directory = store_directory(call, root, None, context.environment)
        yield text_of(call.input, "id"), text_of(call.input, "status"), directory


def _find_root(cwd: Path) -> Path | None:
    """Find the directory that holds a project of Taskmaster."""
    starts = (cwd, *cwd.parents)
    return next((one for one in starts if any(exists(one / name) for name in _MARKERS)), None)


def _is_done(close: TicketClose, context: ProjectContext) -> bool | None:
    """Tell from the list of tasks whether a task is finished."""
    root = _find_root(Path(close.directory or context.cwd))
    if close.ticket_id is None or root is None:
        return None
    tasks = _tasks(root, _current_tag(root, context))
    number, _, subnumber = close.ticket_id.partition(".")
    task = _find(tasks, number)
    if task is not None and subnumber:
        task = _find(task.get("subtasks"), subnumber)
    if task is None:
        return False if tasks else None
    return _is_finished(text_field(task, "status"), context)


def _is_finished(status: object, context: ProjectContext) -> bool:
    return status in _FINISHED or (status == _CANCELLED and counts_cancelled(context))


def _says_done(close: TicketClose, result: ToolResult, context: ProjectContext) -> bool | None:
    """Tell from an answer in JSON, as it may name another tag than the current one."""
    said = [
        _is_finished(one["newStatus"], context)
        for one in json_objects(result)
        if "newStatus" in one and close.ticket_id in {None, str(one.get("taskId"))}
    ]
    return said[-1] if said else None


def _current_tag(root: Path, context: ProjectContext) -> str:
    state = read_json(root / ".taskmaster/state.json")
    named = text_field(state, "currentTag") if isinstance(state, dict) else ""
    return context.environment.get("TASKMASTER_TAG") or named or "master"


def _tasks(root: Path, tag: str) -> list[dict[str, Any]]:
    """Read the tasks of a tag; lists of old versions have no tags."""
    stored = next((one for one in (read_json(root / name) for name in _TASKS) if one), None)
    tagged = stored.get(tag, stored) if isinstance(stored, dict) else None
    return objects(tagged.get("tasks")) if isinstance(tagged, dict) else []


def _find(tasks: object, number: str) -> dict[str, Any] | None:
    """Find a task by its id, which is a number or its text."""
    return next((task for task in objects(tasks) if str(task.get("id")) == number), None)

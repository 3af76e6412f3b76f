"""Claude Code's own tasks and to-dos."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
from grove_tickets.files import read_file

grove_api = 2
SYSTEM = "tasks"
_OPEN = frozenset({"pending", "in_progress"})
_MAX_BYTES = 1024 * 1024


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer the client's tasks; they count only where they are the active system."""
    return [
        TicketProbe(
            name=SYSTEM,
            detect=detect,
            current_ticket=current_ticket,
            enabled_when=EnabledWhen.ACTIVE,
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise completed tasks."""
    return [
        CloseMatcher(
            system=SYSTEM,
            # An event TaskCompleted has no status, but a `task_id`.
            literals=("completed", "task_id", "taskId pending", "taskId in_progress"),
            tools=("TaskUpdate", "TodoWrite", "TaskCompleted"),
            match=closes,
            confirm=confirm,
            once_per_prompt=True,
        )
    ]


def detect(context: ProjectContext) -> Detection | None:
    """Find the session's list of tasks."""
    directory = _list_directory(context)
    if directory is None or next(_task_files(directory), None) is None:
        return None
    return Detection(marker=str(directory))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which task is in progress, if it is just one."""
    tasks = _read_tasks(context) or {}
    started = [number for number, task in tasks.items() if task.get("status") == "in_progress"]
    if len(started) != 1:
        return None
    task = tasks[started[0]]
    return Ticket(
        ticket_id=started[0],
        source=SYSTEM,
        title=_text(task, "subject"),
        description=_text(task, "description"),
    )


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:  # noqa: ARG001
    """Return which task a call would complete or take up again."""
    fields = dict(call.input)
    ticket_id: str | None = None
    title = ""
    status = _text(fields, "status")
    match call.name:
        case "TaskUpdate" if status == "completed" and _id(fields.get("taskId")):
            ticket_id, title = _id(fields["taskId"]), _text(fields, "subject")
        case "TaskUpdate" if status in _OPEN and _id(fields.get("taskId")):
            return (TicketClose(system=SYSTEM, ticket_id=_id(fields["taskId"]), reopens=True),)
        case "TaskCompleted" if _id(fields.get("task_id")):
            ticket_id, title = _id(fields["task_id"]), _text(fields, "task_subject")
        case "TodoWrite" if _completed(fields.get("todos")):
            pass
        case _:
            return ()
    return (TicketClose(system=SYSTEM, ticket_id=ticket_id, title=title),)


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Return whether the work on the list is done: the task completed and no other one open."""
    if result is not None and not result.succeeded:
        return Confirmation.NO
    if close.ticket_id is None:
        return Confirmation.UNKNOWN if result is None else _confirm_todos(result.response)
    if result is not None and _was_refused(result.response):
        return Confirmation.NO
    return _confirm_from_list(close.ticket_id, context, stored=result is None)


def _was_refused(response: Any) -> bool:  # noqa: ANN401 - any JSON
    if not isinstance(response, dict):
        return False
    change = response.get("statusChange")
    changed_to = change.get("to") if isinstance(change, dict) else None
    return response.get("success") is False or changed_to not in {None, "completed"}


def _confirm_from_list(ticket_id: str, context: ProjectContext, *, stored: bool) -> Confirmation:
    """Look at the list; the task's own status counts only where it must be stored by now."""
    tasks = _read_tasks(context)
    if tasks is None:
        return Confirmation.YES
    unfinished = {number for number, task in tasks.items() if _text(task, "status") in _OPEN}
    if not stored:
        unfinished.discard(ticket_id)
    return Confirmation.NO if unfinished else Confirmation.YES


def _confirm_todos(response: Any) -> Confirmation:  # noqa: ANN401 - any JSON
    if not isinstance(response, dict):
        return Confirmation.NO
    todos = response.get("newTodos")
    done = _completed(todos)
    is_all = isinstance(todos, list) and len(done) == len(todos) > 0
    newly = any(todo not in _completed(response.get("oldTodos")) for todo in done)
    return Confirmation.YES if is_all and newly else Confirmation.NO


def _completed(todos: Any) -> list[str]:  # noqa: ANN401 - any JSON
    """Return the contents of the to-dos that are completed."""
    if not isinstance(todos, list):
        return []
    items = [todo for todo in todos if isinstance(todo, dict)]
    return [_text(todo, "content") for todo in items if todo.get("status") == "completed"]


def _id(value: Any) -> str:  # noqa: ANN401 - any JSON
    is_id = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) if is_id else ""


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _list_directory(context: ProjectContext) -> Path | None:
    environment = context.environment
    name = environment.get("CLAUDE_CODE_TASK_LIST_ID") or context.session_id
    root = environment.get("CLAUDE_CONFIG_DIR")
    home = environment.get("HOME")
    if not name or name in {".", ".."} or "/" in name or not (root or home):
        return None
    return Path(root or f"{home}/.claude", "tasks", name)


def _task_files(directory: Path) -> Iterator[Path]:
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                path = Path(entry.path)
                if path.suffix == ".json" and path.stem.isdigit():
                    yield path
    except (OSError, ValueError):
        return


def _read_tasks(context: ProjectContext) -> dict[str, dict[str, Any]] | None:
    """Read the session's tasks by number; ``None`` when there is nothing to read."""
    directory = _list_directory(context)
    tasks = {}
    for path in () if directory is None else _task_files(directory):
        try:
            task = json.loads(read_file(path, _MAX_BYTES) or b"")
        except (ValueError, RecursionError):
            continue
        if isinstance(task, dict):
            tasks[path.stem] = task
    return tasks or None

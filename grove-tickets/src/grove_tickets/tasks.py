"""Claude Code's own tasks and to-dos."""

from collections.abc import Sequence
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
from grove_tickets.calls import text_of
from grove_tickets.places import detected, files_in
from grove_tickets.records import objects, read_json, text_field

grove_api = 2
SYSTEM = "tasks"
_OPEN = frozenset({"pending", "in_progress"})


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
    files = _task_files(context)
    return detected(files[0].parent if files else None)


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
        title=text_field(task, "subject"),
        description=text_field(task, "description"),
    )


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:  # noqa: ARG001
    """Return which task a call would complete or take up again."""
    fields = dict(call.input)
    ticket_id: str | None = None
    title = ""
    status = text_field(fields, "status")
    task = text_of(fields, "task_id" if call.name == "TaskCompleted" else "taskId")
    match call.name:
        case "TaskUpdate" if status == "completed" and task:
            ticket_id, title = task, text_field(fields, "subject")
        case "TaskUpdate" if status in _OPEN and task:
            return (TicketClose(system=SYSTEM, ticket_id=task, reopens=True),)
        case "TaskCompleted" if task:
            ticket_id, title = task, text_field(fields, "task_subject")
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
    unfinished = {number for number, task in tasks.items() if text_field(task, "status") in _OPEN}
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
    done = [todo for todo in objects(todos) if todo.get("status") == "completed"]
    return [text_field(todo, "content") for todo in done]


def _list_directory(context: ProjectContext) -> Path | None:
    environment = context.environment
    name = environment.get("CLAUDE_CODE_TASK_LIST_ID") or context.session_id
    root = environment.get("CLAUDE_CONFIG_DIR")
    home = environment.get("HOME")
    if not name or name in {".", ".."} or "/" in name or not (root or home):
        return None
    return Path(root or f"{home}/.claude", "tasks", name)


def _task_files(context: ProjectContext) -> list[Path]:
    directory = _list_directory(context)
    files = [] if directory is None else files_in(directory, ".json")
    return [path for path in files if path.stem.isdigit()]


def _read_tasks(context: ProjectContext) -> dict[str, dict[str, Any]] | None:
    """Read the session's tasks by number; ``None`` when there is nothing to read."""
    tasks = {path.stem: read_json(path) for path in _task_files(context)}
    return {number: task for number, task in tasks.items() if isinstance(task, dict)} or None

"""Backlog.md: a Markdown file for each task in ``backlog/tasks/`` or another directory."""

from collections.abc import Iterator, Mapping, Sequence
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
    hookimpl,
)
from grove_tickets import records
from grove_tickets.arguments import known, take_apart
from grove_tickets.calls import (
    close_of,
    matchers,
    shell_commands,
    store_directory,
    text_of,
    tool_of,
)
from grove_tickets.places import detected, files_in, find_upwards, is_directory

grove_api = 2
SYSTEM = "backlog"
_ROOT_CONFIG = "backlog.config.yml"
_DIRECTORIES = ("backlog", ".backlog")
_CONFIGS = (
    _ROOT_CONFIG,
    *(f"{name}/config.{ending}" for name in _DIRECTORIES for ending in ("yml", "yaml")),
)
_EDITS = ("task edit", "tasks edit")
_OWN = ("config.yml", "tasks", "drafts", "completed", "archive", "milestones")
_Edit = tuple[str, str, str | None]
"""A task, the status that it gets, and the directory that is meant."""
_START = "<!-- SECTION:DESCRIPTION:BEGIN -->"
_END = "<!-- SECTION:DESCRIPTION:END -->"


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer Backlog.md."""
    return [
        TicketProbe(
            name=SYSTEM,
            detect=detect,
            current_ticket=current_ticket,
            # Not `backlog` whole: a project may have a directory of that name for its own work.
            paths=(_ROOT_CONFIG, ".backlog", *(f"backlog/{name}" for name in _OWN)),
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of Backlog.md's tasks."""
    commands = [f"backlog {edit}" for edit in _EDITS]
    return matchers(SYSTEM, closes, stored=_is_closed, commands=commands, tools=("id status",))


def detect(context: ProjectContext) -> Detection | None:
    """Find a project of Backlog.md."""
    return detected(find_upwards(_start(context.cwd, context.environment), *_CONFIGS))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which task is in progress: the one that was updated last, if there are several."""
    project = _find_project(context.cwd, context.environment)
    found = () if project is None else records.documents(project[1] / "tasks", "progress")
    started = [
        one for _, one in found if _plain(records.text_field(one.fields, "status")) == "inprogress"
    ]
    task = max(
        started,
        key=lambda one: text_of(one.fields, "updated_date", "created_date"),
        default=None,
    )
    if task is None:
        return None
    description = task.body.partition(_START)[2].partition(_END)[0].strip()
    return records.ticket_of({**task.fields, "description": description}, SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which tasks a call would close or open again."""
    changed = _changed_by_shell if call.name == "Bash" else _changed_by_mcp
    found = []
    for ticket_id, status, directory in changed(call, context):
        project = _find_project(Path(directory or context.cwd), context.environment)
        reopens = _plain(status) != _done_status({} if project is None else project[0])
        found.append(close_of(SYSTEM, ticket_id, directory, reopens=reopens))
    return found


def _changed_by_shell(call: ToolCall, context: ProjectContext) -> Iterator[_Edit]:
    """Read ``task edit ID… --status STATUS``, flags and ids in any order."""
    for command in shell_commands(call, "backlog", "backlog.md"):
        name, arguments = take_apart("backlog", command.words[1:], {"task", "tasks"})
        status = known(arguments.value("-s", "--status") or "")
        # The tool takes what stands behind `-s` as it is: `-s=Done` would be the status `=Done`.
        glued = any(word.startswith("-s=") for word in command.words)
        if name not in _EDITS or status is None or glued or arguments.has("-h", "--help"):
            continue
        base = str(_start(Path(command.directory), command.environment))
        directory = store_directory(call, base, None, context.environment)
        for ticket_id in arguments.positionals:
            if ticket_id and "," not in ticket_id:
                yield ticket_id, status, directory


def _changed_by_mcp(call: ToolCall, _context: ProjectContext) -> Iterator[_Edit]:
    ticket_id, status = text_of(call.input, "id"), text_of(call.input, "status")
    if tool_of(call, "backlog") == "task_edit" and ticket_id and status:
        yield ticket_id, status, None


def _start(cwd: Path, environment: Mapping[str, str]) -> Path:
    """Return the directory from which the tool looks for its project upwards."""
    return cwd / environment.get("BACKLOG_CWD", "").strip()


def _find_project(cwd: Path, environment: Mapping[str, str]) -> tuple[dict[str, Any], Path] | None:
    """Read a project's configuration, and name the directory of its tasks."""
    config = find_upwards(_start(cwd, environment), *_CONFIGS)
    if config is None:
        return None
    fields = records.read_fields(config)
    if config.name != _ROOT_CONFIG:
        return fields, config.parent
    named = records.text_field(fields, "backlog_directory")
    candidates = [config.parent / name for name in ([named] if named else _DIRECTORIES)]
    return fields, next((one for one in candidates if is_directory(one)), candidates[0])


def _done_status(fields: dict[str, Any]) -> str:
    statuses = records.list_field(fields, "statuses")
    return _plain(statuses[-1]) if statuses else "done"


def _plain(status: str) -> str:
    """Write a status as the tool compares it: without blanks, in lower case."""
    return "".join(status.split()).lower()


def _is_closed(close: TicketClose, context: ProjectContext) -> bool | None:
    project = _find_project(Path(close.directory or context.cwd), context.environment)
    if close.ticket_id is None or project is None:
        return None
    fields, directory = project
    path = _find_file(directory, close.ticket_id)
    if path is None:
        return False if files_in(directory / "tasks", ".md") else None
    document = records.read_document(path)
    if document is None:
        return None
    put_away = path.parent.name == "completed"
    return put_away or _plain(records.text_field(document.fields, "status")) == _done_status(fields)


def _find_file(directory: Path, typed: str) -> Path | None:
    """Find a task's file, such as ``task-7 - Title.md``, by its id as typed."""
    prefix, number = _parts(typed)
    for name in ("tasks", "completed", "archive/tasks"):
        for path in files_in(directory / name, ".md"):
            own_prefix, own_number = _parts(path.name.partition(" - ")[0])
            if number == own_number and prefix in {"", own_prefix}:
                return path
    return None


def _parts(ticket_id: str) -> tuple[str, tuple[str, ...]]:
    """Split an id into its prefix, perhaps none, and its number: ``TASK-07.1`` has 7 and 1."""
    prefix, _, number = ticket_id.strip().lower().rpartition("-")
    return prefix, tuple(part.lstrip("0") for part in number.split("."))

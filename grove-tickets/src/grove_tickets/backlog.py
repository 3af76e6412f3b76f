"""Backlog.md: a Markdown file for each task in ``backlog/tasks/`` or another directory."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grove_core import (
    CloseMatcher,
    Confirmation,
    Detection,
    ProjectContext,
    Ticket,
    TicketClose,
    TicketProbe,
    ToolCall,
    ToolResult,
    hookimpl,
)
from grove_tickets.arguments import is_known, parse, valued_flags
from grove_tickets.calls import (
    close_of,
    matchers,
    shell_commands,
    store_directory,
    text_of,
    tool_of,
)
from grove_tickets.frontmatter import documents, read_document, read_fields
from grove_tickets.outputs import confirmation, says_error
from grove_tickets.places import detected, files_in, find_upwards, is_directory
from grove_tickets.records import list_field, text_field, ticket_of

if TYPE_CHECKING:
    from grove_tickets.shell import Command

grove_api = 2
SYSTEM = "backlog"
_ROOT_CONFIG = "backlog.config.yml"
_DIRECTORIES = ("backlog", ".backlog")
_CONFIGS = (
    _ROOT_CONFIG,
    *(f"{name}/config.{ending}" for name in _DIRECTORIES for ending in ("yml", "yaml")),
)
_STARTED = "inprogress"
_DONE = "done"
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
            paths=(
                _ROOT_CONFIG,
                ".backlog",
                "backlog/config.yml",
                "backlog/tasks",
                "backlog/drafts",
                "backlog/completed",
                "backlog/archive",
                "backlog/milestones",
            ),
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of Backlog.md's tasks."""
    commands = ("backlog task edit", "backlog tasks edit")
    return matchers(SYSTEM, closes, confirm, commands=commands, tools=("id status",))


def detect(context: ProjectContext) -> Detection | None:
    """Find a project of Backlog.md."""
    return detected(find_upwards(_start(context.cwd, context.environment), *_CONFIGS))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which task is in progress: the one that was updated last, if there are several."""
    project = _find_project(context.cwd, context.environment)
    started = [
        {
            **document.fields,
            "description": document.body.partition(_START)[2].partition(_END)[0].strip(),
        }
        for _, document in ([] if project is None else documents(project[1] / "tasks", "progress"))
        if _plain(text_field(document.fields, "status")) == _STARTED
    ]
    task = max(
        started,
        key=lambda one: text_field(one, "updated_date") or text_field(one, "created_date"),
        default=None,
    )
    return ticket_of(task, SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which tasks a call would close or open again."""
    changed = _changed_by_shell if call.name == "Bash" else _changed_by_mcp
    found = []
    for ticket_id, status, directory in changed(call, context):
        project = _find_project(Path(directory or context.cwd), context.environment)
        done = _DONE if project is None else _done_status(project[0])
        reopens = _plain(status) != done
        found.append(close_of(SYSTEM, ticket_id, directory, reopens=reopens))
    return found


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Tell from the task's file whether it is closed."""
    return confirmation(
        result,
        lambda: _is_closed(close, context),
        lambda: False if result is not None and says_error(result) else None,
    )


def _changed_by_shell(
    call: ToolCall, context: ProjectContext
) -> Iterator[tuple[str, str, str | None]]:
    """Return the tasks whose status a command sets, the status, and the directory that is meant."""
    for command in shell_commands(call, "backlog", "backlog.md"):
        ids, status = _edited(command)
        if status and is_known(status):
            base = str(_start(Path(command.directory), command.environment))
            directory = store_directory(call, base, None, context.environment)
            for ticket_id in ids:
                yield ticket_id, status, directory


def _edited(command: "Command") -> tuple[Sequence[str], str | None]:
    """Read ``task edit ID… --status STATUS``, flags and ids in any order."""
    match command.words[1:]:
        case ("task" | "tasks", *rest):
            group = parse(rest, (), interspersed=False)
        case _:
            return (), None
    arguments = parse(group.positionals[1:], valued_flags("backlog")["task edit"])
    helped = group.has("-h", "--help") or arguments.has("-h", "--help")
    # The tool takes what stands behind `-s` as it is: `-s=Done` would be the status `=Done`.
    glued = any(word.startswith("-s=") for word in group.positionals)
    if group.positionals[:1] != ("edit",) or helped or glued:
        return (), None
    ids = [one for one in arguments.positionals if one and "," not in one]
    return ids, arguments.value("-s", "--status")


def _changed_by_mcp(
    call: ToolCall, _context: ProjectContext
) -> Iterator[tuple[str, str, str | None]]:
    if tool_of(call, "backlog") == "task_edit":
        ticket_id, status = text_of(call.input, "id"), text_of(call.input, "status")
        if ticket_id and status:
            yield ticket_id, status, None


def _start(cwd: Path, environment: Mapping[str, str]) -> Path:
    """Return the directory from which the tool looks for its project upwards."""
    return cwd / environment.get("BACKLOG_CWD", "").strip()


def _find_project(cwd: Path, environment: Mapping[str, str]) -> tuple[dict[str, Any], Path] | None:
    """Read a project's configuration, and name the directory of its tasks."""
    config = find_upwards(_start(cwd, environment), *_CONFIGS)
    if config is None:
        return None
    fields = read_fields(config)
    if config.name != _ROOT_CONFIG:
        return fields, config.parent
    named = text_field(fields, "backlog_directory")
    candidates = [config.parent / name for name in ([named] if named else _DIRECTORIES)]
    return fields, next((one for one in candidates if is_directory(one)), candidates[0])


def _done_status(fields: dict[str, Any]) -> str:
    statuses = list_field(fields, "statuses")
    return _plain(statuses[-1]) if statuses else _DONE


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
    document = read_document(path)
    if document is None:
        return None
    put_away = path.parent.name == "completed"
    return put_away or _plain(text_field(document.fields, "status")) == _done_status(fields)


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

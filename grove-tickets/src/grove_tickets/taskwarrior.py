"""Taskwarrior: a person's own tasks, the same in every directory; nothing to do with go-task."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

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
from grove_tickets.arguments import is_known
from grove_tickets.asking import CURRENT_SECONDS, STATUS_SECONDS, ask
from grove_tickets.calls import close_of, matchers, shell_commands
from grove_tickets.outputs import output_text
from grove_tickets.places import detected, exists
from grove_tickets.records import from_json, list_field, objects, text_field

grove_api = 2
SYSTEM = "taskwarrior"
_LONGEST_RANGE: Final = 100
# Reading changes nothing, neither the numbers of tasks nor by a hook's hand.
_READING: Final = (
    "rc.verbose=nothing", "rc.gc=off", "rc.recurrence=off", "rc.confirmation=off", "rc.hooks=off",
    "rc.json.array=on",
)  # fmt: skip
_OVERRIDE: Final = r"(?s)rc(\.[\w.]+)?[:=].*"
_NUMBERS: Final = r"\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*"
_UUID: Final = r"[0-9a-f]{8}(-[0-9a-f-]{0,27})?"
_NAMED: Final = r"(?:id|uuid)[:=]([0-9a-f,-]+)"
_FILTER: Final = r"(?s)\+[A-Za-z_].*|-[A-Za-z_].+|[\w.]+[:=].*|/.+/|[()].*"
_STATUS: Final = r"(?s)(?:status|statu|stat)[:=](.*)"
_COMPLETED: Final = "completed"
_STATUSES: Final = frozenset({_COMPLETED, "pending", "waiting"})
# The two that set a status, and those that other words may follow than a filter.
_COMMANDS: Final = (
    "add", "annotate", "append", "calc", "config", "context", "delete", "denotate", "done",
    "duplicate", "edit", "execute", "export", "help", "import", "list", "log", "modify", "prepend",
    "purge", "start", "stop", "undo",
)  # fmt: skip


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer Taskwarrior, whose files lie in the home directory and tell nothing of a project."""
    overridden = EnabledWhen.OVERRIDDEN
    return [
        TicketProbe(
            name=SYSTEM, detect=detect, current_ticket=current_ticket, enabled_when=overridden
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise completed tasks."""
    commands = [f"task {name}" for name in ("done", "don", "do", "status", "statu", "stat")]
    return matchers(SYSTEM, closes, printed=_says_done, stored=_is_done, commands=commands)


def detect(context: ProjectContext) -> Detection | None:
    """Find Taskwarrior's configuration or data."""
    home = context.environment.get("HOME", "")
    data = context.cwd / (context.environment.get("TASKDATA") or f"{home}/.task")
    paths = (*_configurations(context), data)
    return detected(next((path for path in paths if exists(path)), None))


def _configurations(context: ProjectContext) -> list[Path]:
    """Where its configuration may lie."""
    home, named = (context.environment.get(name, "") for name in ("HOME", "TASKRC"))
    usual = [Path(f"{home}/.taskrc"), Path(f"{home}/.config/task/taskrc")]
    return [context.cwd / named, *usual] if named else usual


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which task is active: the one that was started last, if there are several."""
    active = _ask("+ACTIVE", context, CURRENT_SECONDS)
    task = max(active, key=lambda one: text_field(one, "start"), default=None)
    if task is None:
        return None
    notes = objects(task.get("annotations"))
    return Ticket(
        ticket_id=str(task.get("id") or text_field(task, "uuid")),
        source=SYSTEM,
        title=text_field(task, "description"),
        description="\n".join(text_field(one, "description") for one in notes),
        labels=list_field(task, "tags"),
    )


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:  # noqa: ARG001
    """Return which tasks a shell command would complete or open again."""
    commands = shell_commands(call, "task")
    return [close for command in commands for close in _changed_by(command.words[1:])]


def _changed_by(words: Sequence[str]) -> Iterator[TicketClose]:
    """Return the tasks whose status a command line sets; with an unknown id for a filter."""
    # What stands behind `--` is text to Taskwarrior, and to go-task arguments of another program.
    words = words[: words.index("--")] if "--" in words else words
    words = [word for word in words if not re.fullmatch(_OVERRIDE, word)]
    at = next((at for at, word in enumerate(words) if _command(word)), None)
    if at is None:
        return
    command, before, behind = _command(words[at]), words[:at], words[at + 1 :]
    statuses = [match[1] for match in (re.fullmatch(_STATUS, word) for word in behind) if match]
    status = _COMPLETED if command == "done" else "".join(statuses[-1:])
    if command not in {"done", "modify"} or status not in _STATUSES:
        return
    # Without a filter in front, ids behind the command are one; nothing else is.
    ids = _ids(before or behind)
    if not ids and any(re.fullmatch(_FILTER, word) for word in before):
        ids = [""]
    for ticket_id in ids:
        yield close_of(SYSTEM, ticket_id, reopens=status != _COMPLETED)


def _command(word: str) -> str:
    """Return the command that a word means, which may be the start of its name; or nothing."""
    found = [name for name in _COMMANDS if name.startswith(word)]
    return found[0] if len(found) == 1 else ""


def _ids(words: Sequence[str]) -> Sequence[str]:
    found: list[str] = []
    for word in words:
        if re.fullmatch(_NUMBERS, word):
            found += [one for part in word.split(",") for one in _numbers_in(part)]
        elif re.fullmatch(_UUID, word) or re.fullmatch(_NAMED, word) or not is_known(word):
            found.append(word)
    return found


def _numbers_in(part: str) -> Sequence[str]:
    """Return the single numbers of one such as ``3-5``; of a very long range, an empty one."""
    first, _, last = part.partition("-")
    numbers = range(int(first), max(int(first), int(last or first)) + 1)
    return [""] if len(numbers) > _LONGEST_RANGE else [str(number) for number in numbers]


def _says_done(close: TicketClose, result: ToolResult, _: ProjectContext) -> bool | None:
    """Look for ``Completed task 12 'Title'.`` and the count below it, or for a refusal."""
    text = output_text(result)
    changed = re.findall(r"(?m)^(?:Completed|Modifying) task ([\w-]+) '", text)
    number = (close.ticket_id or "").removeprefix("id:")
    if number in changed or (changed and not number.isdigit()):  # a UUID is printed as a number
        return True
    refused = re.findall(r"(?m)^Task ([\w-]+) '.*' is neither pending nor waiting\.$", text)
    counts = re.findall(r"(?m)^(?:Completed|Modified) (\d+) tasks?\.$", text)
    nothing = set(counts) == {"0"} or "No tasks specified." in text
    return False if number in refused or nothing else None


def _is_done(close: TicketClose, context: ProjectContext) -> bool | None:
    """Ask for the task, if it is named by what stays the same."""
    uuid = (close.ticket_id or "").removeprefix("uuid:")
    tasks = _ask(f"uuid:{uuid}", context, STATUS_SECONDS) if re.fullmatch(_UUID, uuid) else ()
    return text_field(tasks[0], "status") == _COMPLETED if len(tasks) == 1 else None


def _ask(wanted: str, context: ProjectContext, seconds: float) -> Sequence[dict[str, Any]]:
    """Ask for tasks as JSON; none when there is no Taskwarrior, or it is late."""
    if detect(context) is None:
        return ()
    environment = context.environment
    if not any(exists(path) for path in _configurations(context)):
        # Without a configuration, the program would write one.
        environment = {**environment, "TASKRC": os.devnull}
    output = ask("task", (*_READING, wanted, "export"), context.cwd, environment, seconds)
    return objects(from_json(output))

"""Taskwarrior: a person's own tasks, the same in every directory; nothing to do with go-task."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

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
from grove_tickets.arguments import is_known
from grove_tickets.asking import CURRENT_SECONDS, STATUS_SECONDS, ask
from grove_tickets.calls import close_of, matchers, shell_commands
from grove_tickets.outputs import confirmation, output_text
from grove_tickets.places import detected, exists
from grove_tickets.records import from_json, list_field, objects, text_field

grove_api = 2
SYSTEM = "taskwarrior"
_SHORTEST_COMMAND: Final = 2
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
_OPEN: Final = frozenset({"pending", "waiting"})
_COMMANDS: Final = (
    "add", "annotate", "append", "calc", "config", "context", "delete", "denotate", "done",
    "duplicate", "edit", "execute", "export", "help", "import", "list", "log", "modify", "prepend",
    "purge", "start", "stop", "undo",
)  # fmt: skip
"""The two that set a status, and those that other words may follow than a filter."""


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
    names = ("done", "don", "do", "status", "statu", "stat")
    return matchers(SYSTEM, closes, confirm, commands=[f"task {name}" for name in names])


def detect(context: ProjectContext) -> Detection | None:
    """Find Taskwarrior's configuration or data."""
    home, data = (context.environment.get(name) for name in ("HOME", "TASKDATA"))
    paths = _configurations(context)
    paths += [context.cwd / data] if data else []
    paths += [Path(home, ".task")] if home else []
    return detected(next((path for path in paths if exists(path)), None))


def _configurations(context: ProjectContext) -> list[Path]:
    """Where its configuration may lie."""
    home, named = (context.environment.get(name) for name in ("HOME", "TASKRC"))
    usual = [Path(home, path) for path in (".taskrc", ".config/task/taskrc")] if home else []
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


def closes(
    call: ToolCall,
    context: ProjectContext,  # noqa: ARG001 - every matcher is called alike
) -> Sequence[TicketClose]:
    """Return which tasks a shell command would complete or open again."""
    return tuple(
        close_of(SYSTEM, one, reopens=reopens)
        for command in shell_commands(call, "task")
        for one, reopens in _changed_by(command.words[1:])
    )


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Return whether a task was really completed."""
    return confirmation(
        result,
        lambda: _stored_as_completed(close, context),
        printed=lambda answer: _says_completed(output_text(answer), close.ticket_id),
    )


def _changed_by(words: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Return the ids whose status a command line sets, empty for a filter, and whether it opens."""
    # What stands behind `--` is text to Taskwarrior, and to go-task arguments of another program.
    words = words[: words.index("--")] if "--" in words else words
    words = [word for word in words if not re.fullmatch(_OVERRIDE, word)]
    at = next((at for at, word in enumerate(words) if _command(word)), len(words))
    before = words[:at]
    command, behind = (_command(words[at]), words[at + 1 :]) if at < len(words) else ("", [])
    if command == "done":
        reopens = False
    elif command == "modify" and (status := _status_set(behind)) is not None:
        reopens = status != _COMPLETED
    else:
        return
    # Without a filter in front, ids behind the command are one; nothing else is.
    for ticket_id in _meant(before) if before else _ids(behind):
        yield ticket_id, reopens


def _command(word: str) -> str:
    """Return the command that a word means, which may be the start of its name; or nothing."""
    if word in _COMMANDS:
        return word
    found = [name for name in _COMMANDS if name.startswith(word)]
    return found[0] if len(word) >= _SHORTEST_COMMAND and len(found) == 1 else ""


def _status_set(words: Sequence[str]) -> str | None:
    """Return the status among the changes of ``modify``, if it is a completed or an open one."""
    matches = [re.fullmatch(_STATUS, word) for word in words]
    statuses = [match[1] for match in matches if match is not None]
    return statuses[-1] if statuses and statuses[-1] in {_COMPLETED, *_OPEN} else None


def _meant(words: Sequence[str]) -> Sequence[str]:
    """Return the ids of a filter, or one empty id."""
    ids = _ids(words)
    if ids:
        return ids
    is_filter = any(re.fullmatch(_FILTER, word) or not is_known(word) for word in words)
    return [""] if is_filter else ()


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
    count = int(last or first) - int(first) + 1
    if count > _LONGEST_RANGE:
        return [""]
    return [str(number) for number in range(int(first), int(first) + max(count, 1))]


def _says_completed(text: str, ticket_id: str | None) -> bool | None:
    """Look for ``Completed task 12 'Title'.`` and the count below it, or for a refusal."""
    counts = re.findall(r"(?m)^Completed (\d+) tasks?\.$", text)
    verb = "Completed"
    if not counts:  # `modify status:completed` speaks of modifying
        counts = re.findall(r"(?m)^Modified (\d+) tasks?\.$", text)
        verb = "Modifying"
    changed = re.findall(rf"(?m)^{verb} task ([\w-]+) '", text)
    number = (ticket_id or "").removeprefix("id:")
    if number in changed or (changed and not number.isdigit()):  # a UUID is printed as a number
        return True
    refused = re.findall(r"(?m)^Task ([\w-]+) '.*' is neither pending nor waiting\.$", text)
    nothing = counts and set(counts) == {"0"}
    return False if number in refused or nothing or "No tasks specified." in text else None


def _stored_as_completed(close: TicketClose, context: ProjectContext) -> bool | None:
    uuid = (close.ticket_id or "").removeprefix("uuid:")
    if not re.fullmatch(_UUID, uuid):
        return None
    tasks = _ask(f"uuid:{uuid}", context, STATUS_SECONDS)
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

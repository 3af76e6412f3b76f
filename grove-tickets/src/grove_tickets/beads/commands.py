"""Which issues a ``bd`` command or a call of its MCP server closes or opens again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attrs import frozen

from grove_core import ToolCall
from grove_tickets.arguments import UNKNOWN, Arguments, is_known, parse
from grove_tickets.calls import resolve, shell_commands, store_directory, text_of, tool_of
from grove_tickets.files import read_file

if TYPE_CHECKING:
    from grove_tickets.shell import Command

_MAX_BATCH_BYTES: Final = 65536
_GROUPS: Final = frozenset({"todo", "gate", "human", "epic", "mol"})
_GLOBAL_FLAGS: Final = frozenset(
    {"-C", "--directory", "--db", "--actor", "--format", "--dolt-auto-commit"}
)
_CANCELLING_FLAGS: Final = ("-h", "--help", "--dry-run", "--readonly")
_REASON_FLAGS: Final = (
    "-r", "--reason", "-m", "--message", "--comment", "--resolution", "--reason-file",
)  # fmt: skip
_RESPONSE_FLAGS: Final = ("-r", "--response")
_UPDATE_FLAGS: Final = (
    "-s", "--status", "-t", "--type", "-p", "--priority", "-a", "--assignee", "-e", "--estimate",
    "-d", "--description", "--title", "--body", "--body-file", "--description-file", "-m",
    "--message", "--design", "--design-file", "--notes", "--append-notes", "--acceptance",
    "--acceptance-criteria", "--external-ref", "--spec-id", "--add-label", "--remove-label",
    "--set-labels", "--parent", "--await-id", "--due", "--defer", "--session", "--metadata",
    "--set-metadata", "--unset-metadata", "--if-status", "--if-assignee",
)  # fmt: skip


@frozen
class _Verb:
    """How a command of ``bd`` names the issues that it closes or opens again."""

    issues: Callable[[Arguments], Sequence[str]]
    valued: tuple[str, ...] = ()
    reopens: Callable[[Arguments], bool] = lambda _: False


@frozen
class Effect:
    """What happens to an issue."""

    ticket_id: str | None
    directory: str | None
    reopens: bool


def effects_of_shell(call: ToolCall, environment: Mapping[str, str]) -> Iterator[Effect]:
    """Return which issues a shell command would close or open again."""
    for command in shell_commands(call, "bd"):
        name, arguments = _take_apart(command.words[1:])
        if arguments.has(*_CANCELLING_FLAGS):
            continue
        moved = arguments.value("-C", "--directory") or ""
        base = str(Path(command.directory, moved))
        if name == "batch":
            found = _closed_by_batch(command, arguments, resolve(call.cwd, base, environment))
        else:
            found = _VERBS[name].issues(arguments) if name in _VERBS else ()
        store = _named_store(command, arguments)
        directory = store_directory(call, base, store, environment)
        reopens = name in _VERBS and _VERBS[name].reopens(arguments)
        for ticket_id in found:
            yield Effect(ticket_id if is_known(ticket_id) else None, directory, reopens)


def effects_of_mcp(call: ToolCall, environment: Mapping[str, str]) -> Iterator[Effect]:
    """Return which issue a call of beads' MCP server would close or open again."""
    tool = tool_of(call, "beads")
    status = call.input.get("status")
    closes = tool == "close" or (tool == "update" and status == "closed")
    reopens = tool == "reopen" or (tool == "update" and isinstance(status, str) and not closes)
    if closes or reopens:
        named = call.input.get("issue_ids") if tool == "reopen" else call.input.get("issue_id")
        root = text_of(call.input, "workspace_root")
        directory = store_directory(call, root, None, environment)
        for ticket_id in named if isinstance(named, list) else [named]:
            yield Effect(
                ticket_id if isinstance(ticket_id, str) and ticket_id else None,
                directory,
                reopens,
            )


def _take_apart(words: Sequence[str]) -> tuple[str, Arguments]:
    """Split a command line into the command's name and its arguments."""
    overall = parse(words, _GLOBAL_FLAGS, interspersed=False)
    name, *rest = overall.positionals or ("",)
    options = overall.options
    if name in _GROUPS:
        group = parse(rest, _GLOBAL_FLAGS, interspersed=False)
        second, *rest = group.positionals or ("",)
        name = f"{name} {second}"
        options += group.options
    own = parse(rest, {*_GLOBAL_FLAGS, *(_VERBS[name].valued if name in _VERBS else ())})
    return name, Arguments(options + own.options, own.positionals)


def _named_store(command: "Command", arguments: Arguments) -> str | None:
    database = arguments.value("--db")
    if database is not None:
        store = Path(database).parent
        return str(store) if store.name == ".beads" else None
    if arguments.value("-C", "--directory") is not None:
        return None
    return command.environment.get("BEADS_DIR")


def _positionals(arguments: Arguments) -> Sequence[str]:
    """Return the ids; without any, the issue that was touched last is meant."""
    return _named(arguments) if any(arguments.positionals) else [UNKNOWN]


def _named(arguments: Arguments) -> Sequence[str]:
    """Return the ids of a command that needs one; `bd` knows no lists with commas."""
    return [word for word in arguments.positionals if word and "," not in word]


def _named_with(*flags: str) -> Callable[[Arguments], Sequence[str]]:
    """Read a command that is refused without a flag."""

    def read(arguments: Arguments) -> Sequence[str]:
        return _named(arguments) if arguments.value(*flags) else ()

    return read


def _closed_by_done(arguments: Arguments) -> Sequence[str]:
    """Read ``done ID… TEXT``: without a flag for the reason, the last of several words is one."""
    ids = _positionals(arguments)
    return ids[:-1] if len(ids) > 1 and not arguments.has(*_REASON_FLAGS) else ids


def _changed_by_update(arguments: Arguments) -> Sequence[str]:
    status = arguments.value("-s", "--status")
    known = arguments.has("--claim") if status is None else is_known(status)
    return _positionals(arguments) if known else ()


def _update_reopens(arguments: Arguments) -> bool:
    return arguments.value("-s", "--status") != "closed"


def _always(_: Arguments) -> bool:
    return True


def _some(_: Arguments) -> Sequence[str]:
    return [UNKNOWN]


def _closed_by_merge(arguments: Arguments) -> Sequence[str]:
    return [UNKNOWN] if arguments.has("--auto-merge") else ()


def _closed_by_batch(
    command: "Command", arguments: Arguments, directory: str | None
) -> Sequence[str]:
    file = arguments.value("-f", "--file")
    text = command.stdin
    if file is not None:
        text = _read_batch(directory, file)
    if text is None and file != "-":
        return [UNKNOWN]
    return [word for line in (text or "").splitlines() for word in _closed_by_line(line.split())]


def _closed_by_line(words: Sequence[str]) -> Sequence[str]:
    match words:
        case ("close", ticket_id, *_):
            return [ticket_id]
        case ("update", ticket_id, *fields) if "status=closed" in fields:
            return [ticket_id]
        case (first, *_) if not is_known(first):
            return [UNKNOWN]
        case _:
            return ()


def _read_batch(directory: str | None, file: str) -> str | None:
    if directory is None or not is_known(file):
        return None
    content = read_file(Path(directory, file), _MAX_BATCH_BYTES)
    return None if content is None else content.decode("utf-8", "replace")


_VERBS: Final[Mapping[str, _Verb]] = {
    "close": _Verb(_positionals, (*_REASON_FLAGS, "--session")),
    "done": _Verb(_closed_by_done, (*_REASON_FLAGS, "--session")),
    "update": _Verb(_changed_by_update, _UPDATE_FLAGS, _update_reopens),
    "reopen": _Verb(_named, _REASON_FLAGS, _always),
    # What a batch closes stands in its input, which `effects_of_shell` reads.
    "batch": _Verb(_some, ("-f", "--file", "-m", "--message")),
    "todo done": _Verb(_named, _REASON_FLAGS),
    "gate resolve": _Verb(_named, _REASON_FLAGS),
    "gate check": _Verb(_some, ("-t", "--type", "-l", "--limit")),
    "human respond": _Verb(_named_with(*_RESPONSE_FLAGS), _RESPONSE_FLAGS),
    "human dismiss": _Verb(_named, _REASON_FLAGS),
    "duplicate": _Verb(_named_with("--of"), ("--of",)),
    "supersede": _Verb(_named_with("--with"), ("--with",)),
    "duplicates": _Verb(_closed_by_merge),
    "epic close-eligible": _Verb(_some),
    "mol squash": _Verb(_named, ("--summary",)),
}

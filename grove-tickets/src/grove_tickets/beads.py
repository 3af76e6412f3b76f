"""beads (``bd``): issues in ``.beads/``, shared by all work trees of a repository."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

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
from grove_tickets.arguments import UNKNOWN, Arguments, is_known, take_apart
from grove_tickets.asking import CURRENT_SECONDS, STATUS_SECONDS, ask
from grove_tickets.calls import (
    close_of,
    matchers,
    resolve,
    shell_commands,
    store_directory,
    text_of,
    tool_of,
)
from grove_tickets.outputs import confirmation, json_objects, output_text, says_error
from grove_tickets.places import (
    detected,
    exists,
    files_in,
    find_repository,
    first_line,
    is_directory,
    read_file,
    real_path,
)
from grove_tickets.records import (
    from_json,
    is_same_issue,
    objects,
    records,
    text_field,
    ticket_of,
)

if TYPE_CHECKING:
    from grove_tickets.shell import Command

grove_api = 2
SYSTEM: Final = "beads"
_MARKER: Final = ".beads"
_EXPORTS: Final = ("issues.jsonl", "beads.jsonl")
# `show` would change which issue was touched last, even when it is told to write nothing, and with
# that what a `bd close` without an id closes.
_READ: Final = ("list", "--json", "--readonly")
# Reading must not start anything that stays: old versions have a daemon, newer ones a server.
_NOTHING_STAYS: Final = {
    "BEADS_NO_DAEMON": "1",
    "BEADS_AUTO_START_DAEMON": "false",
    "BEADS_DOLT_AUTO_START": "0",
}
_SAFE_MODES: Final = frozenset({"", "embedded", "server"})
_LOCAL_HOSTS: Final = frozenset({"", "127.0.0.1", "localhost", "::1"})
_MAX_BYTES: Final = 65536
_CLOSED: Final = r"(?m)^[^\w\n]*Closed ([\w.]+-[\w.-]+)"
_REFUSED: Final = (
    r"(?i)\b(?:cannot close(?: epic)?|error:? (?:closing|resolving)(?: id)?) ([\w.-]+)"
)
_GROUPS: Final = frozenset({"todo", "gate", "human", "epic", "mol"})
_REASON_FLAGS: Final = (
    "-r", "--reason", "-m", "--message", "--comment", "--resolution", "--reason-file", "--session",
)  # fmt: skip


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer beads."""
    return [
        TicketProbe(name=SYSTEM, detect=detect, current_ticket=current_ticket, paths=(_MARKER,))
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of beads' issues."""
    return matchers(SYSTEM, closes, confirm, commands=("bd",), tools=("issue_id", "issue_ids"))


def detect(context: ProjectContext) -> Detection | None:
    """Find beads' store."""
    return detected(_find_store(context.cwd, context.environment))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue is in progress: the one touched last, else what ``bd`` itself says."""
    store = _find_store(context.cwd, context.environment)
    if store is None:
        return None
    touched = first_line(store / "last-touched")
    issue = _exported(store, touched) if touched else None
    if issue is None or issue.get("status") == "closed":
        started = _ask(("--status", "in_progress"), store, context, CURRENT_SECONDS)
        issue = max(
            started,
            key=lambda one: (text_field(one, "id") == touched, text_field(one, "updated_at")),
            default=None,
        )
    return ticket_of(issue, SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issues a call would close or open again."""
    changed = _changed_by_shell if call.name == "Bash" else _changed_by_mcp
    return tuple(
        close_of(SYSTEM, ticket_id, directory, reopens=reopens)
        for ticket_id, directory, reopens in changed(call, context.environment)
    )


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Return whether an issue was really closed."""
    return confirmation(
        result,
        lambda: _is_closed(close, context),
        printed=lambda answer: _says_closed(answer, close.ticket_id),
    )


_Change = tuple[str, str | None, bool]
"""An issue, the directory whose store is meant, and whether the issue is opened again."""


def _changed_by_shell(call: ToolCall, environment: Mapping[str, str]) -> Iterator[_Change]:
    for command in shell_commands(call, "bd"):
        name, arguments = take_apart("bd", command.words[1:], _GROUPS)
        if name not in _VERBS or arguments.has("-h", "--help", "--dry-run", "--readonly"):
            continue
        base = str(Path(command.directory, arguments.value("-C", "--directory") or ""))
        found = _VERBS[name](arguments)
        if name == "batch":
            found = _closed_by_batch(command, arguments, resolve(call.cwd, base, environment))
        store = _named_store(command, arguments)
        directory = store_directory(call, base, store, environment)
        status = arguments.value("-s", "--status")
        for ticket_id in found:
            yield (
                ticket_id,
                directory,
                name == "reopen" or (name == "update" and status != "closed"),
            )


def _changed_by_mcp(call: ToolCall, environment: Mapping[str, str]) -> Iterator[_Change]:
    tool = tool_of(call, "beads")
    status = call.input.get("status")
    closing = tool == "close" or (tool == "update" and status == "closed")
    if closing or tool == "reopen" or (tool == "update" and isinstance(status, str)):
        named = call.input.get("issue_ids") if tool == "reopen" else call.input.get("issue_id")
        root = text_of(call.input, "workspace_root")
        directory = store_directory(call, root, None, environment)
        for ticket_id in named if isinstance(named, list) else [named]:
            yield ticket_id if isinstance(ticket_id, str) else "", directory, not closing


def _named_store(command: "Command", arguments: Arguments) -> str | None:
    database = arguments.value("--db")
    if database is not None:
        store = Path(database).parent
        return str(store) if store.name == _MARKER else None
    if arguments.value("-C", "--directory") is not None:
        return None
    return command.environment.get("BEADS_DIR")


def _named(arguments: Arguments) -> Sequence[str]:
    """Return the ids of a command that needs one; `bd` knows no lists with commas."""
    return [word for word in arguments.positionals if word and "," not in word]


def _named_or_last(arguments: Arguments) -> Sequence[str]:
    """Return the ids; without any, the issue that was touched last is meant."""
    return _named(arguments) if any(arguments.positionals) else [UNKNOWN]


def _named_with(*flags: str) -> Callable[[Arguments], Sequence[str]]:
    """Read a command that is refused without a flag."""
    return lambda arguments: _named(arguments) if arguments.value(*flags) else ()


def _closed_by_done(arguments: Arguments) -> Sequence[str]:
    """Read ``done ID… TEXT``: without a flag for the reason, the last of several words is one."""
    ids = _named_or_last(arguments)
    return ids[:-1] if len(ids) > 1 and not arguments.has(*_REASON_FLAGS) else ids


def _changed_by_update(arguments: Arguments) -> Sequence[str]:
    status = arguments.value("-s", "--status")
    changes = arguments.has("--claim") if status is None else is_known(status)
    return _named_or_last(arguments) if changes else ()


def _some(_: Arguments) -> Sequence[str]:
    return [UNKNOWN]


def _closed_by_batch(
    command: "Command", arguments: Arguments, directory: str | None
) -> Sequence[str]:
    """Return what the lines close that a batch reads."""
    file = arguments.value("-f", "--file")
    text = command.stdin
    if file not in {None, "-"}:
        is_named = directory is not None and file is not None and is_known(file)
        content = read_file(Path(directory or "", file or ""), _MAX_BYTES) if is_named else None
        text = None if content is None else content.decode("utf-8", "replace")
    if text is None:
        return [UNKNOWN]
    return [word for line in text.splitlines() for word in _closed_by_line(line.split())]


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


_VERBS: Final[Mapping[str, Callable[[Arguments], Sequence[str]]]] = {
    "close": _named_or_last,
    "done": _closed_by_done,
    "update": _changed_by_update,
    "reopen": _named,
    "batch": _some,
    "todo done": _named,
    "gate resolve": _named,
    "gate check": _some,
    "human respond": _named_with("-r", "--response"),
    "human dismiss": _named,
    "duplicate": _named_with("--of"),
    "supersede": _named_with("--with"),
    "duplicates": lambda arguments: [UNKNOWN] if arguments.has("--auto-merge") else (),
    "epic close-eligible": _some,
    "mol squash": _named,
}
"""How a command of ``bd`` names the issues that it changes."""


def _says_closed(result: ToolResult, ticket_id: str | None) -> bool | None:
    """Return whether a call's own output says that an issue was closed."""
    if says_error(result):
        return False

    def is_meant(issue_id: str) -> bool:
        return ticket_id is None or is_same_issue(ticket_id, issue_id.rstrip(".:"))

    text = output_text(result)
    closed = re.findall(_CLOSED, text)
    closed += [text_field(one, "id") for one in json_objects(result) if _is_closed_issue(one)]
    if any(map(is_meant, closed)):
        return True
    return False if any(map(is_meant, re.findall(_REFUSED, text))) else None


def _is_closed_issue(issue: dict[str, Any]) -> bool:
    return text_field(issue, "id") != "" and issue.get("status") == "closed"


def _is_closed(close: TicketClose, context: ProjectContext) -> bool | None:
    """Ask ``bd``; where it does not answer, files prove a close and nothing else."""
    if close.directory is not None:
        environment = {**context.environment}
        environment.pop("BEADS_DIR", None)
        context = evolve(context, cwd=Path(close.directory), environment=environment)
    store = _find_store(context.cwd, context.environment)
    ticket_id = close.ticket_id
    if store is None or ticket_id is None:
        return None
    for issue in _ask(("--all", f"--id={ticket_id}"), store, context, STATUS_SECONDS):
        if is_same_issue(ticket_id, text_field(issue, "id")):
            return _is_closed_issue(issue)
    exported = _exported(store, ticket_id)
    is_exported = exported is not None and _is_closed_issue(exported)
    return True if is_exported or _logged_status(store, ticket_id) == "closed" else None


def _logged_status(store: Path, ticket_id: str) -> str:
    """Look for the last change of status; what is not logged may still have happened."""
    status = ""
    for record in records(store / "interactions.jsonl", ticket_id):
        extra = record.get("extra")
        if (
            record.get("kind") == "field_change"
            and isinstance(extra, dict)
            and extra.get("field") == "status"
            and is_same_issue(ticket_id, text_field(record, "issue_id"))
        ):
            status = text_field(extra, "new_value")
    return status


def _exported(store: Path, ticket_id: str) -> dict[str, Any] | None:
    found = None
    for name in _EXPORTS:
        for record in records(store / name, ticket_id):
            if is_same_issue(ticket_id, text_field(record, "id")):
                found = record
    return found


def _ask(
    filters: tuple[str, ...], store: Path, context: ProjectContext, seconds: float
) -> list[dict[str, Any]]:
    """Ask ``bd`` for issues; it may be missing, slow or of another version."""
    if not _may_be_asked(store, context.environment):
        return []
    environment = {**context.environment, **_NOTHING_STAYS}
    answer = from_json(ask("bd", (*_READ, *filters), context.cwd, environment, seconds))
    if isinstance(answer, dict):
        answer = answer.get("data", [answer])
    return [one for one in objects(answer) if text_field(one, "id")]


def _may_be_asked(store: Path, environment: Mapping[str, str]) -> bool:
    """Return whether reading is known to start nothing and to stay on this machine."""
    if environment.get("BEADS_DOLT_SERVER_HOST", "") not in _LOCAL_HOSTS:
        return False
    path = store / "metadata.json"
    content = read_file(path, _MAX_BYTES)
    if content is None:
        return not exists(path)  # an old store has none
    try:
        metadata = json.loads(content, object_pairs_hook=_fold_names)
    except (ValueError, RecursionError):
        return False
    if not isinstance(metadata, dict):
        return False
    modes, hosts = metadata.get("dolt_mode", ()), metadata.get("dolt_server_host", ())
    return _SAFE_MODES.issuperset(modes) and _LOCAL_HOSTS.issuperset(hosts)


def _fold_names(pairs: list[tuple[str, Any]]) -> dict[str, list[str]]:
    """Keep every value of a name, which ``bd`` takes in any letter case and more than once."""
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name.casefold(), []).append(str(value or ""))
    return fields


def _find_store(cwd: Path, environment: Mapping[str, str]) -> Path | None:
    """Find the store that ``bd`` would use in a directory."""
    named = environment.get("BEADS_DIR")
    candidates = [*([cwd / named] if named else []), *_candidates(cwd)]
    return next((one for one in map(_follow_redirect, candidates) if _is_store(one)), None)


def _candidates(cwd: Path) -> Iterator[Path]:
    repository = find_repository(cwd)
    top = None if repository is None else repository.top
    for directory in (cwd, *cwd.parents):
        if directory == top:
            break
        yield directory / _MARKER
    if repository is not None:
        own = repository.top / _MARKER
        if repository.common is not None:
            # A linked work tree has a store of its own only if it is redirected or a database.
            databases = [
                name for name in _databases(own) if ".backup" not in name and name != "vc.db"
            ]
            if _follow_redirect(own) != own or databases:
                yield own
            is_bare = repository.common.name != ".git"
            yield (repository.common if is_bare else repository.common.parent) / _MARKER
        yield own


def _follow_redirect(store: Path) -> Path:
    """Follow one ``redirect`` file, relative to the store's parent; a dangling one is ignored."""
    target = first_line(store / "redirect")
    redirected = real_path(store.parent / target) if target else store
    return redirected if is_directory(redirected) else store


def _is_store(store: Path) -> bool:
    names = ("metadata.json", "config.yaml")
    return any(exists(store / name) for name in names) or bool(_databases(store))


def _databases(store: Path) -> list[str]:
    found = [name for name in ("dolt", "embeddeddolt") if exists(store / name)]
    return [*found, *(one.name for one in files_in(store, ".db"))]

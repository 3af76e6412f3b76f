"""tissue: issues in an append-only file, ``.tissue/issues.jsonl``, that is tracked by git."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from grove_tickets.arguments import parse
from grove_tickets.calls import close_of, matchers, shell_commands, store_directory
from grove_tickets.places import detected, is_directory
from grove_tickets.records import records, text_field, ticket_of
from grove_tickets.states import CancelledSettings, counts_cancelled

if TYPE_CHECKING:
    from grove_tickets.shell import Command

grove_api = 2
SYSTEM = "tissue"
_MARKER = ".tissue"
_CLOSED = "closed"
_DUPLICATE = "duplicate"
_UNFINISHED = frozenset({"open", "in_progress", "paused"})
_BOOLEAN_FLAGS = frozenset({"--json", "--quiet"})
_EDIT_FLAGS = frozenset({"--status", "--title", "--body", "--priority", "--add-tag", "--rm-tag"})


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer tissue."""
    return [
        TicketProbe(
            name=SYSTEM,
            detect=detect,
            current_ticket=current_ticket,
            paths=(_MARKER,),
            settings=CancelledSettings,
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of tissue's issues."""
    return matchers(SYSTEM, closes, stored=_is_finished, commands=("tissue",))


def detect(context: ProjectContext) -> Detection | None:
    """Find tissue's store."""
    return detected(next(_stores(context.cwd, context), None))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue is in progress: the one that was updated last, if there are several."""
    store = next(_stores(context.cwd, context), None)
    issues = [] if store is None else _read_issues(store).values()
    started = [issue for issue in issues if issue.get("status") == "in_progress"]
    issue = max(started, key=_updated_at, default=None)
    return ticket_of(issue, SYSTEM, description="body", labels="tags")


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issues a shell command would close or open again."""
    found = []
    for command in shell_commands(call, SYSTEM):
        store, ticket_id, status = _change_of(command)
        counts = status in {_CLOSED, *_UNFINISHED}
        if ticket_id and (counts or (status == _DUPLICATE and counts_cancelled(context))):
            store = store or command.environment.get("TISSUE_STORE")
            directory = store_directory(call, command.directory, store, context.environment)
            found.append(close_of(SYSTEM, ticket_id, directory, reopens=status in _UNFINISHED))
    return found


def _change_of(command: "Command") -> tuple[str | None, str, str]:
    """Return the store that a command names, the issue whose status it sets, and the status."""
    overall = parse(command.words[1:], {"--store"}, interspersed=False)
    nothing = overall.value("--store"), "", ""
    if any(flag != "--store" for flag, _ in overall.options):
        return nothing
    positionals: list[str] = []
    flags: dict[str, str] = {}
    verb, *rest = overall.positionals or ("",)
    words = iter(rest)
    # The tool takes no `--flag=value`, and refuses flags that it does not know.
    for word in words:
        if verb == "edit" and word in _EDIT_FLAGS:
            flags[word] = next(words, "")
        elif word.startswith("-") and word not in _BOOLEAN_FLAGS:
            return nothing
        elif word not in _BOOLEAN_FLAGS:
            positionals.append(word)
    match verb, positionals:
        case "status", [ticket_id, status]:
            return nothing[0], ticket_id, status
        case "edit", [ticket_id]:
            return nothing[0], ticket_id, flags.get("--status", "")
        case _:
            return nothing


def _stores(start: str | Path, context: ProjectContext) -> Iterator[Path]:
    """Return the stores that the tool might use, most likely first."""
    directory = Path(start)
    for candidate in (directory, *directory.parents):
        if is_directory(candidate / _MARKER):
            yield candidate / _MARKER
            break
    named = context.environment.get("TISSUE_STORE")
    if named and is_directory(Path(context.cwd, named)):
        yield Path(context.cwd, named)


def _is_finished(close: TicketClose, context: ProjectContext) -> bool | None:
    """Look for the issue; ``None`` when several may be meant, or no store has any issues."""
    if close.ticket_id is None:
        return None
    may_be_there, has_issues = False, False
    # What TISSUE_STORE means beside a store above the directory differs by the tool's version.
    for start in dict.fromkeys((close.directory or context.cwd, context.cwd)):
        for store in _stores(start, context):
            issues = _read_issues(store)
            issue = _find_issue(issues, close.ticket_id)
            if issue is not None:
                status = issue.get("status")
                return status == _CLOSED or (status == _DUPLICATE and counts_cancelled(context))
            wanted = close.ticket_id.lower()
            may_be_there = may_be_there or any(wanted in one.lower() for one in issues)
            has_issues = has_issues or bool(issues)
    return False if has_issues and not may_be_there else None


def _read_issues(store: Path) -> dict[str, dict[str, Any]]:
    """Read the latest revision of each issue."""
    issues: dict[str, dict[str, Any]] = {}
    for record in records(store / "issues.jsonl"):
        ticket_id = text_field(record, "id")
        if record.get("type") == "issue" and ticket_id:
            before = issues.get(ticket_id)
            if before is None or _revision(record) >= _revision(before):
                issues[ticket_id] = record
    return issues


def _revision(issue: dict[str, Any]) -> tuple[str, float]:
    return str(issue.get("rev", "")), _updated_at(issue)


def _updated_at(issue: dict[str, Any]) -> float:
    value = issue.get("updated_at")
    return value if isinstance(value, int | float) else 0


def _find_issue(issues: dict[str, dict[str, Any]], typed: str) -> dict[str, Any] | None:
    """Find an issue by its id, its hash part or the start of its id, in any letter case."""
    wanted = typed.lower()
    by_id = [(ticket_id.lower(), issue) for ticket_id, issue in issues.items()]
    exact = [issue for key, issue in by_id if key == wanted]
    by_hash = [issue for key, issue in by_id if key.rsplit("-", 1)[-1] == wanted]
    by_start = [issue for key, issue in by_id if key.startswith(wanted)]
    return next((found[0] for found in (exact, by_hash, by_start) if len(found) == 1), None)

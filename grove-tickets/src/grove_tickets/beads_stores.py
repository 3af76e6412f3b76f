"""What beads (``bd``) and beads_rust (``br``) have in common: where a store lies and what is in it.

Old versions of ``bd`` keep the same files as ``br``: which of the two is used, the command tells.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grove_core import ProjectContext, TicketClose, ToolCall
from grove_tickets.arguments import UNKNOWN, Arguments, is_known, take_apart
from grove_tickets.calls import close_of, shell_commands, store_directory
from grove_tickets.outputs import told
from grove_tickets.places import (
    exists,
    files_in,
    find_repository,
    first_line,
    is_directory,
    real_path,
)
from grove_tickets.records import records, text_field

if TYPE_CHECKING:
    from grove_tickets.shell import Command

MARKERS: Final = (".beads", "_beads")
_EXPORTS: Final = ("issues.jsonl", "beads.jsonl")
_GROUPS: Final = frozenset({"todo", "gate", "human", "epic", "mol"})
_DOLT: Final = ("dolt", "embeddeddolt")


def find_store(context: ProjectContext, is_store: Callable[[Path], bool]) -> Path | None:
    """Find the store that a command run in a directory would use."""
    return next((one for one in map(_redirected, _candidates(context)) if is_store(one)), None)


def _candidates(context: ProjectContext) -> Iterator[Path]:
    """Return where a store may be, most likely first, up to the top of the repository."""
    named = context.environment.get("BEADS_DIR")
    if named:
        yield context.cwd / named
    repository = find_repository(context.cwd)
    for directory in (context.cwd, *context.cwd.parents):
        own = [directory / name for name in MARKERS]
        if repository is None or directory != repository.top:
            yield from own
            continue
        if repository.common is not None:
            # What lies in a linked work tree is a copy unless it has a database or a redirect.
            yield from (one for one in own if has_database(one) or exists(one / "redirect"))
            is_bare = repository.common.name != ".git"
            yield (repository.common if is_bare else repository.common.parent) / MARKERS[0]
        yield from own
        break


def _redirected(store: Path) -> Path:
    """Follow a ``redirect`` file, relative to the store for ``br``, to its parent for ``bd``."""
    target = first_line(store / "redirect")
    places = [real_path(base / target) for base in (store, store.parent)] if target else []
    return next(filter(is_directory, places), store)


def has_database(store: Path) -> bool:
    """Return whether a store has a database of any version."""
    return any(exists(store / name) for name in _DOLT) or bool(files_in(store, ".db"))


Changed = tuple[Sequence[str], bool]
"""The issues that a command changes, and whether it opens them."""


def closes_by_shell(
    call: ToolCall,
    context: ProjectContext,
    system: str,
    program: str,
    changed: Callable[[str, Arguments, str | None], Changed],
) -> list[TicketClose]:
    """Return what the commands of a program close and open, each in the store that it means."""
    found = []
    for command in shell_commands(call, program):
        name, arguments = take_apart(program, command.words[1:], _GROUPS)
        if not arguments.has("-h", "--help", "--dry-run", "--readonly"):
            base = str(Path(command.directory, arguments.value("-C", "--directory") or ""))
            store = _named_store(command, arguments)
            directory = store_directory(call, base, store, context.environment)
            ids, reopens = changed(name, arguments, command.stdin)
            found += [close_of(system, one, directory, reopens=reopens) for one in ids]
    return found


def _named_store(command: "Command", arguments: Arguments) -> str | None:
    database = Path(arguments.value("--db") or "")
    if database.parent.name in MARKERS:
        return str(database.parent)
    is_moved = arguments.value("-C", "--directory") is not None
    return None if is_moved else command.environment.get("BEADS_DIR")


def ids_of(arguments: Arguments) -> Sequence[str]:
    """Return the ids that a command names; the tools know no lists with commas."""
    return [word for word in arguments.positionals if word and "," not in word]


def changed_by(name: str, arguments: Arguments, _stdin: str | None = None) -> Changed:
    """Read a command that both tools have."""
    # Without an id, the issue that was touched last is meant.
    ids = ids_of(arguments) if any(arguments.positionals) else [UNKNOWN]
    status = (arguments.value("-s", "--status") or "").lower()
    match name:
        case "close" | "reopen":
            return ids, name == "reopen"
        case "update" if status not in {"", "tombstone"} and is_known(status):
            return ids, status != "closed"
        case "epic close-eligible":
            return [UNKNOWN], False
        case _:
            return (), False


def export_of(store: Path) -> Path | None:
    """Find the export of a store's issues."""
    return next((path for path in (store / name for name in _EXPORTS) if exists(path)), None)


def issue_in(store: Path, typed: str) -> dict[str, Any]:
    """Look for an issue in the export of a store; nothing where it is not there."""
    export = export_of(store) if typed else None
    found = () if export is None else records(export, typed)
    same = [one for one in found if is_same_issue(typed, text_field(one, "id"))]
    return same[-1] if same else {}


def touched_last(store: Path) -> str:
    """Return the id of the issue that a command was used on last."""
    return first_line(store / "last-touched")


def latest(issues: Iterable[dict[str, Any]], store: Path) -> dict[str, Any] | None:
    """Return which of several issues was touched last, else updated last."""
    touched = touched_last(store)
    return max(
        issues,
        key=lambda one: (text_field(one, "id") == touched, text_field(one, "updated_at")),
        default=None,
    )


def is_same_issue(typed: str, issue_id: str) -> bool:
    """Return whether an id as typed, perhaps without its prefix, means an issue."""
    typed, issue_id = typed.lower(), issue_id.lower()
    return typed == issue_id or issue_id.endswith(f"-{typed}")


def told_of_issue(
    close: TicketClose, said: Iterable[tuple[str, bool]], text: str, refused: str = r"(?!)"
) -> bool | None:
    """Return what was said of a close's issue among those of others."""
    typed = close.ticket_id
    meant = (closed for one, closed in said if one and (typed is None or is_same_issue(typed, one)))
    return told(meant, typed, text, refused)

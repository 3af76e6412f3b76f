"""tk, also installed as ``ticket``: a Markdown file for each ticket in ``.tickets/``."""

from collections.abc import Iterator, Sequence
from pathlib import Path

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
from grove_tickets.arguments import is_known
from grove_tickets.calls import shell_commands, store_directory
from grove_tickets.frontmatter import Document, documents, markdown_files, read_document
from grove_tickets.outputs import confirmation
from grove_tickets.places import is_directory
from grove_tickets.records import list_field, text_field

grove_api = 2
SYSTEM = "tk"
_MARKER = ".tickets"
_PROGRAMS = ("tk", "ticket")
_CLOSED = "closed"
_VERBS = {"close": _CLOSED, "reopen": "open", "start": "in_progress"}
_STATUSES = frozenset({"open", "in_progress", _CLOSED})


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer tk."""
    return [
        TicketProbe(
            name=SYSTEM,
            detect=detect,
            current_ticket=current_ticket,
            paths=(_MARKER,),
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of tk's tickets."""
    return [
        CloseMatcher(
            system=SYSTEM,
            literals=tuple(f"{name} {verb}" for name in _PROGRAMS for verb in (*_VERBS, "status")),
            tools=("Bash",),
            match=closes,
            confirm=confirm,
        )
    ]


def detect(context: ProjectContext) -> Detection | None:
    """Find the directory of tickets."""
    store = next(_stores(context.cwd, context), None)
    return None if store is None else Detection(marker=str(store))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which ticket is in progress: the one that was changed last, if there are several."""
    store = next(_stores(context.cwd, context), None)
    started = [
        (_changed_at(path), path.stem, document)
        for path, document in ([] if store is None else documents(store, "in_progress"))
        if text_field(document.fields, "status") == "in_progress"
    ]
    if not started:
        return None
    _, ticket_id, document = max(started, key=lambda one: one[:2])
    title, description = _title_and_description(document)
    return Ticket(
        ticket_id=ticket_id,
        source=SYSTEM,
        title=title,
        description=description,
        labels=list_field(document.fields, "tags"),
    )


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which tickets a shell command would close or open again."""
    found = []
    for command in shell_commands(call, *_PROGRAMS):
        changed = _changed_by(command.words[1:])
        if changed is not None:
            ticket_id, status = changed
            store = command.environment.get("TICKETS_DIR")
            directory = store_directory(call, command.directory, store, context.environment)
            found.append(_close(ticket_id, status, directory))
    return tuple(found)


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Tell from the ticket's file whether it is closed."""
    return confirmation(result, lambda: _is_closed(close, context))


def _close(ticket_id: str, status: str, directory: str | None) -> TicketClose:
    return TicketClose(
        system=SYSTEM,
        ticket_id=ticket_id if is_known(ticket_id) else None,
        directory=directory,
        reopens=status != _CLOSED,
    )


def _changed_by(words: Sequence[str]) -> tuple[str, str] | None:
    """Return the ticket whose status a command sets, and the status; the tool has no flags here."""
    if words[:1] == ("super",):
        words = words[1:]
    match words:
        case (verb, ticket_id, *_) if verb in _VERBS:
            status = _VERBS[verb]
        case ("status", ticket_id, status, *_) if status in _STATUSES:
            pass
        case _:
            return None
    ticket_id = ticket_id.strip()
    # No ticket is called `--help`: the tool takes it for an id and fails.
    return None if not ticket_id or ticket_id.startswith("-") else (ticket_id, status)


def _stores(start: str | Path, context: ProjectContext) -> Iterator[Path]:
    """Return the directories that the tool might use, most likely first."""
    named = context.environment.get("TICKETS_DIR")
    if named:
        store = Path(start, named)
        if is_directory(store):
            yield store
        return
    for directory in (Path(start), *Path(start).parents):
        if is_directory(directory / _MARKER):
            yield directory / _MARKER
            break


def _is_closed(close: TicketClose, context: ProjectContext) -> bool | None:
    """Look for the ticket's file by its id, or by a part of it that no other one has."""
    store = next(_stores(close.directory or context.cwd, context), None)
    files = list(markdown_files(store)) if store is not None else []
    if close.ticket_id is None or not files:
        return None
    exact = [path for path in files if path.stem == close.ticket_id]
    partial = [path for path in files if close.ticket_id in path.stem]
    if not partial:
        return False
    path = next((found[0] for found in (exact, partial) if len(found) == 1), None)
    document = None if path is None else read_document(path)
    return None if document is None else text_field(document.fields, "status") == _CLOSED


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0


def _title_and_description(document: "Document") -> tuple[str, str]:
    """Split a ticket's text: its heading, then all up to the first section."""
    _, _, text = f"\n{document.body}".partition("\n# ")
    title, _, rest = text.partition("\n")
    description, _, _ = f"\n{rest}".partition("\n## ")
    return title.strip(), description.strip()

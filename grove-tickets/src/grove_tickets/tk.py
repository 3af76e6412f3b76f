"""tk, also installed as ``ticket``: a Markdown file for each ticket in ``.tickets/``."""

from collections.abc import Sequence
from pathlib import Path

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
from grove_tickets.calls import close_of, matchers, shell_commands, store_directory
from grove_tickets.places import changed_at, detected, files_in, is_directory
from grove_tickets.records import documents, list_field, read_document, text_field

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
        TicketProbe(name=SYSTEM, detect=detect, current_ticket=current_ticket, paths=(_MARKER,))
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of tk's tickets."""
    commands = [f"{name} {verb}" for name in _PROGRAMS for verb in (*_VERBS, "status")]
    return matchers(SYSTEM, closes, stored=_is_closed, commands=commands)


def detect(context: ProjectContext) -> Detection | None:
    """Find the directory of tickets."""
    return detected(_find_store(context.cwd, context))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which ticket is in progress: the one that was changed last, if there are several."""
    store = _find_store(context.cwd, context)
    started = [
        (changed_at(path), path.stem, document)
        for path, document in ([] if store is None else documents(store, "in_progress"))
        if text_field(document.fields, "status") == "in_progress"
    ]
    if not started:
        return None
    _, ticket_id, document = max(started, key=lambda one: one[:2])
    # Its heading, then all up to the first section.
    _, _, text = f"\n{document.body}".partition("\n# ")
    title, _, rest = text.partition("\n")
    return Ticket(
        ticket_id=ticket_id,
        source=SYSTEM,
        title=title.strip(),
        description=f"\n{rest}".partition("\n## ")[0].strip(),
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
            found.append(close_of(SYSTEM, ticket_id, directory, reopens=status != _CLOSED))
    return found


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


def _find_store(start: str | Path, context: ProjectContext) -> Path | None:
    """Find the directory that the tool would use."""
    named = context.environment.get("TICKETS_DIR")
    starts = (Path(start), *Path(start).parents)
    stores = [Path(start, named)] if named else [one / _MARKER for one in starts]
    return next((store for store in stores if is_directory(store)), None)


def _is_closed(close: TicketClose, context: ProjectContext) -> bool | None:
    """Look for the ticket's file by its id, or by a part of it that no other one has."""
    store = _find_store(close.directory or context.cwd, context)
    files = [] if store is None else files_in(store, ".md")
    if close.ticket_id is None or not files:
        return None
    exact = [path for path in files if path.stem == close.ticket_id]
    partial = [path for path in files if close.ticket_id in path.stem]
    if not partial:
        return False
    path = next((found[0] for found in (exact, partial) if len(found) == 1), None)
    document = None if path is None else read_document(path)
    return None if document is None else text_field(document.fields, "status") == _CLOSED

"""What the export of beads_rust's store says. ``br`` itself is never asked."""

from pathlib import Path
from typing import Any, Final

from grove_core import ProjectContext
from grove_tickets.br.store import DATABASE, find_export, find_store
from grove_tickets.places import first_line
from grove_tickets.records import is_same_issue, records, text_field

_LAG_SECONDS: Final = 2.0


def read_current(context: ProjectContext) -> dict[str, Any] | None:
    """Read the issue in progress."""
    store = find_store(context)
    export = None if store is None else find_export(store, context)
    if store is None or export is None:
        return None
    started = [one for one in records(export, "in_progress") if one.get("status") == "in_progress"]
    cache = Path(context.environment.get("BEADS_CACHE_DIR") or store)
    touched = first_line(context.cwd / cache / "last-touched")
    for issue in started:
        if text_field(issue, "id") == touched:
            return issue
    return max(started, key=lambda one: text_field(one, "updated_at"), default=None)


def is_closed(ticket_id: str, context: ProjectContext) -> bool | None:
    """Tell from the export whether an issue is closed."""
    store = find_store(context)
    export = None if store is None else find_export(store, context)
    if store is None or export is None or not _is_fresh(export, store):
        return None
    statuses = {text_field(issue, "id"): issue.get("status") for issue in records(export)}
    found = [status for one, status in statuses.items() if is_same_issue(ticket_id, one)]
    if not found and any(ticket_id.lower() in one.lower() for one in statuses):
        return None  # a part of an id, which the tool may know how to complete
    return "closed" in found[-1:]


def _is_fresh(export: Path, store: Path) -> bool:
    """Return whether the export was written after, or together with, the last change."""
    try:
        written = export.stat().st_mtime
        changed = max(
            path.stat().st_mtime
            for path in (store / DATABASE, store / f"{DATABASE}-wal")
            if path.exists()
        )
    except (OSError, ValueError):
        return False
    return changed - written < _LAG_SECONDS

"""The store of beads_rust: found as ``br`` does, and read without running anything."""

from pathlib import Path
from typing import Any, Final

from grove_core import ProjectContext
from grove_tickets.places import exists, find_repository, first_line, is_directory, real_path
from grove_tickets.records import is_same_issue, records, text_field

DATABASE: Final = "beads.db"
_MARKERS: Final = (".beads", "_beads")
_EXPORTS: Final = ("issues.jsonl", "beads.jsonl")
_MAX_REDIRECTS: Final = 10


def find_store(context: ProjectContext) -> Path | None:
    """Find the store that ``br`` would use."""
    store = _nearest(context)
    store = None if store is None else _follow_redirects(store)
    is_store = (
        store is not None and exists(store / DATABASE) and find_export(store, context) is not None
    )
    return store if is_store else None


def find_export(store: Path, context: ProjectContext) -> Path | None:
    """Find the export of a store's issues."""
    named = context.environment.get("BEADS_JSONL")
    paths = [context.cwd / named] if named else [store / name for name in _EXPORTS]
    return next((path for path in paths if exists(path)), None)


def _nearest(context: ProjectContext) -> Path | None:
    named = context.environment.get("BEADS_DIR")
    if named:
        return context.cwd / named
    for directory in (context.cwd, *context.cwd.parents):
        for store in (directory / name for name in _MARKERS):
            if is_directory(store):
                shared = _shared_store(directory) if exists(directory / ".git") else None
                own = exists(store / DATABASE) or exists(store / "redirect")
                return store if own or shared is None else shared
    return _shared_store(context.cwd)


def _shared_store(directory: Path) -> Path | None:
    """Return the store of the main work tree, seen from a linked one."""
    repository = find_repository(directory)
    common = None if repository is None else repository.common
    if common is None or common.name != ".git":
        return None
    store = common.parent / _MARKERS[0]
    return store if is_directory(store) else None


def _follow_redirects(store: Path) -> Path | None:
    """Follow ``redirect`` files, each relative to the directory it lies in."""
    for _ in range(_MAX_REDIRECTS):
        target = first_line(store / "redirect")
        redirected = real_path(store / target) if target else store
        if redirected in {store, real_path(store)}:
            return store
        store = redirected
    return None


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

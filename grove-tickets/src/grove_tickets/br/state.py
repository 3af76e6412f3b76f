"""beads_rust's store: where it lies, and what its export says. ``br`` itself is never asked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from grove_core import ProjectContext
from grove_tickets.beads.output import is_same_issue
from grove_tickets.places import exists, find_repository, first_line
from grove_tickets.records import records, text_field

_MARKERS: Final = (".beads", "_beads")
_EXPORTS: Final = ("issues.jsonl", "beads.jsonl")
_DATABASE: Final = "beads.db"
_MAX_REDIRECTS: Final = 10
_LAG_SECONDS: Final = 2.0


def find_store(context: ProjectContext) -> Path | None:
    """Find the store that ``br`` would use: the nearest one upwards, unless ``BEADS_DIR`` names it.

    A linked work tree without a database of its own shares the main one's.

    Args:
        context: Where to look.

    Returns:
        The store's directory, if it holds a database and its export, or ``None``.
    """
    store = next(_candidates(context), None)
    store = None if store is None else _follow_redirects(store)
    is_store = (
        store is not None and exists(store / _DATABASE) and _export(store, context) is not None
    )
    return store if is_store else None


def read_current(context: ProjectContext) -> dict[str, Any] | None:
    """Read the issue in progress.

    Args:
        context: Where to look.

    Returns:
        Of the issues in progress the one that was touched last, else the one that was updated
        last, or ``None``.
    """
    store = find_store(context)
    export = None if store is None else _export(store, context)
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
    """Tell from the export whether an issue is closed.

    Args:
        ticket_id: Its id as typed.
        context: Where to look.

    Returns:
        Whether it is, or ``None`` when the export does not know the issue or is older than the
        database, which then holds changes that it lacks.
    """
    store = find_store(context)
    export = None if store is None else _export(store, context)
    if store is None or export is None or not _is_fresh(export, store):
        return None
    status = None
    for issue in records(export, ticket_id):
        if is_same_issue(ticket_id, text_field(issue, "id")):
            status = text_field(issue, "status")
    return None if status is None else status == "closed"


def _candidates(context: ProjectContext) -> Iterator[Path]:
    named = context.environment.get("BEADS_DIR")
    if named:
        yield context.cwd / named
        return
    repository = find_repository(context.cwd)
    shared = None if repository is None else repository.common
    main = shared.parent / ".beads" if shared is not None and shared.name == ".git" else None
    for directory in (context.cwd, *context.cwd.parents):
        for store in (directory / name for name in _MARKERS):
            if store.is_dir():
                linked = exists(directory / ".git") and main is not None and main.is_dir()
                own = exists(store / _DATABASE) or exists(store / "redirect")
                yield main if linked and main is not None and not own else store
    if main is not None:
        yield main


def _follow_redirects(store: Path) -> Path | None:
    for _ in range(_MAX_REDIRECTS):
        target = first_line(store / "redirect")
        if not target or (store.parent / target).resolve() == store.resolve():
            return store
        store = store.parent / target
    return None


def _export(store: Path, context: ProjectContext) -> Path | None:
    named = context.environment.get("BEADS_JSONL")
    paths = [context.cwd / named] if named else [store / name for name in _EXPORTS]
    return next((path for path in paths if exists(path)), None)


def _is_fresh(export: Path, store: Path) -> bool:
    """Tell whether the export was written after, or together with, the last change."""
    try:
        written = export.stat().st_mtime
        changed = max(
            path.stat().st_mtime
            for path in (store / _DATABASE, store / f"{_DATABASE}-wal")
            if path.exists()
        )
    except (OSError, ValueError):
        return False
    return changed - written < _LAG_SECONDS

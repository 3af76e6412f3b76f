"""Finds beads_rust's store as ``br`` does, looking at file names only and running nothing."""

from pathlib import Path
from typing import Final

from grove_core import ProjectContext
from grove_tickets.places import (
    candidates,
    exists,
    find_repository,
    first_line,
    is_directory,
    real_path,
)

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


def possible_stores(context: ProjectContext) -> list[Path]:
    """List the stores and exports that ``br`` might use."""
    named = [context.environment.get(name) for name in ("BEADS_DIR", "BEADS_JSONL")]
    stores = [context.cwd / one for one in named if one] + candidates(context.cwd, *_MARKERS)
    repository = find_repository(context.cwd)
    if repository is not None and repository.common is not None:
        stores.append(repository.common.parent / _MARKERS[0])
    targets = (_follow_redirects(store) for store in stores if is_directory(store))
    return [*stores, *(one for one in targets if one is not None and one not in stores)]


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

"""Indexing what a hook has no time for: in one process of its own, with an end to it."""

from typing import Final

from attrs import frozen

from grove_core.finder import FILE_NAME, LOCK_NAME, is_locked
from grove_core.flow.background import run_in_background
from grove_core.storage import files
from grove_core.workspace import Workspace

_BEGUN: Final = "index.begun"


@frozen(kw_only=True)
class Indexed:
    """What was done."""

    learnings: int
    complete: bool
    path: str


def index_now(workspace: Workspace, *, rebuild: bool) -> Indexed | None:
    """Bring the index up to date, unless another process is doing that."""
    lock = workspace.project_cache / LOCK_NAME
    if not workspace.paths.home.is_dir():
        return _indexed(workspace)
    files.make_directory(workspace.project_cache)
    if is_locked(lock):
        return None
    with files.locked(lock):
        if rebuild:
            for suffix in ("", "-wal", "-shm"):
                (workspace.project_cache / f"{FILE_NAME}{suffix}").unlink(missing_ok=True)
        return _indexed(workspace)


def _indexed(workspace: Workspace) -> Indexed:
    finder = workspace.finder
    finder.refresh()
    return Indexed(learnings=len(finder.index), complete=finder.complete, path=finder.index.path)


def index_in_background(workspace: Workspace) -> None:
    """Let a process of its own go on where this one had to stop; a fault is only logged."""
    if workspace.deadline is None or not workspace.project_cache.is_dir():
        return  # a command takes the time that it needs
    mark = workspace.project_cache / _BEGUN
    run_in_background(workspace, ("maintain", "index", "-q"), mark, "index")

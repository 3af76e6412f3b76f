"""Indexing what a hook has no time for: in one process of its own, with an end to it.

A hook reads what it can in half of its time and answers from what is known by then. That is all of
it but for the first look at thousands of learnings, or a change in the middle of a very large file.
Then a process goes on alone. There is never more than one for a project, and it is ended after two
minutes, whatever it is doing.
"""

from typing import Final

from attrs import frozen

from grove_core import files
from grove_core.finder import FILE_NAME, LOCK_NAME, is_locked
from grove_core.flow.background import run_in_background
from grove_core.workspace import Workspace

_BEGUN: Final = "index.begun"


@frozen(kw_only=True)
class Indexed:
    """What was done.

    Attributes:
        learnings: How many learnings of any status the index holds now.
        complete: Whether these are all.
        path: The index.
    """

    learnings: int
    complete: bool
    path: str


def index_now(workspace: Workspace, *, rebuild: bool) -> Indexed | None:
    """Bring the index up to date, unless another process is doing that.

    Args:
        workspace: The project.
        rebuild: Whether to forget what the index holds, and to read everything again.

    Returns:
        What came of it; ``None`` when another process is at it.

    Raises:
        OSError: The index that is to be forgotten cannot be removed.
        StorageError: grove's directory cannot be written.
    """
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
    """Let a process of its own go on where this one had to stop; a fault is only logged.

    Args:
        workspace: The project.
    """
    if workspace.deadline is None or not workspace.project_cache.is_dir():
        return  # a command takes the time that it needs
    mark = workspace.project_cache / _BEGUN
    run_in_background(workspace, ("maintain", "index", "-q"), mark, "index")

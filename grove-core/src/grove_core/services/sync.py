"""Work that no hook waits for: syncing with servers and indexing, in a process of its own."""

import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from grove_core.storage import files

if TYPE_CHECKING:
    from grove_core.model.memory import Synchronised
    from grove_core.plugins.descriptors import Freshness
    from grove_core.project import Project

MOST_SECONDS: Final = 120
# An alarm ends it, by default without another word, should that take too long.
_PROGRAM: Final = (
    "import signal, sys\n"
    "signal.alarm({seconds})\n"
    "sys.argv = ['grove', '-C', *sys.argv[1:]]\n"
    "from grove_core._entry import main\n"
    "sys.exit(main())\n"
)
# The rest is for what delivers to other backends, and for the index.
_SECONDS: Final = MOST_SECONDS * 3 / 4
_STALE: Final = timedelta(minutes=10)
"""A start of a session has a server asked again when the latest time is longer ago."""
PAUSE_SECONDS: Final = 300
"""A server that does not answer is not asked with every start."""


def synchronised_at(fresh: "Freshness") -> datetime | None:
    """Tell when a backend and its server were in line last."""
    try:
        return datetime.fromtimestamp(int(fresh.mark.stat().st_mtime), UTC)
    except (OSError, ValueError, OverflowError):
        return None


def with_server(project: "Project") -> "Sequence[Freshness]":
    """Tell of the backends that have a server here how well they stand for it."""
    return [one for one in project.library.freshness() if one.source]


def synchronise_in_background(project: "Project") -> None:
    """Sync with the project's servers if the last sync is old or anything is queued."""
    fresh_since = datetime.now(UTC) - _STALE
    servers = [(one.waiting, synchronised_at(one)) for one in with_server(project)]
    if any(waiting or at is None or at < fresh_since for waiting, at in servers):
        words = ("maintain", "flush", "--in-background", "-q")
        _run_in_background(project, words, "synchronise.begun")


def synchronise(project: "Project", *, asked: bool) -> "Sequence[tuple[str, Synchronised]]":
    """Bring the project's backends and their servers into line."""
    results = project.library.synchronise(_SECONDS, asked=asked)
    if any(done.received for _, done in results):
        project.finder.refresh()
    for name, done in results:
        for receipt in done.delivered:
            where = f" ({receipt.location})" if receipt.location else ""
            project.diagnostics.log("info", f"{receipt.learning_id} has got to {name}{where}")
        if done.fault:
            project.diagnostics.log("warning", f"{name}: {done.fault}")
    return results


def index_now(project: "Project", *, rebuild: bool) -> bool:
    """Bring the index up to date, unless another process is doing that."""
    from grove_core.finder import LOCK_NAME, is_locked

    lock = project.project_cache / LOCK_NAME
    if is_locked(lock):
        return False
    files.make_directory(project.project_cache)
    with files.locked(lock):
        if rebuild:
            project.cache.remove()
        project.finder.refresh()
    return True


def index_in_background(project: "Project") -> None:
    """Let a process of its own go on where this one had to stop; a fault is only logged."""
    if project.deadline is not None:  # a command takes the time that it needs
        _run_in_background(project, ("maintain", "index", "-q"), "index.begun")


def _run_in_background(project: "Project", words: Sequence[str], mark: str) -> None:
    """Run a command of grove's for the project, unless that was begun a short while ago."""
    begun = project.project_cache / mark
    try:
        if begun.exists() and 0 <= time.time() - begun.stat().st_mtime < PAUSE_SECONDS:
            return
        begun.write_bytes(b"")
    except OSError:
        return  # there is no place for the mark, so it would begin each time
    import subprocess  # seldom needed, and many modules

    program = _PROGRAM.format(seconds=MOST_SECONDS)
    try:
        subprocess.Popen(
            # With -P and from elsewhere: a module that lies in the project must not be imported.
            [sys.executable, "-P", "-c", program, os.fspath(project.root), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=project.paths.home,
            env=dict(project.environment),
            start_new_session=True,
            close_fds=True,
        )
    except OSError as error:
        project.diagnostics.log("warning", f"cannot start {words[1]} in the background: {error}")

"""Work that no hook waits for: syncing with servers and indexing, in a process of its own."""

import os
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from grove_core.storage import files

if TYPE_CHECKING:
    from grove_core.model.memory import Synchronised
    from grove_core.plugins.descriptors import Freshness
    from grove_core.project import Project

MOST_SECONDS: Final = 120
# It inherits nothing that belongs to the hook.
_PROGRAM: Final = (
    "import os, signal, sys, threading\n"
    # What the command has started ends with it; should that take too long, so does the command.
    "def end(*_):\n"
    "    threading.Timer({grace}, os._exit, (1,)).start()\n"
    "    sys.exit(1)\n"
    "signal.signal(signal.SIGALRM, end)\n"
    "signal.alarm({seconds})\n"
    "sys.argv = ['grove', '-C', *sys.argv[1:]]\n"
    "from grove_core._entry import main\n"
    "sys.exit(main())\n"
)
_GRACE_SECONDS: Final = 5
# The rest is for what delivers to other backends, and for the index.
_SECONDS: Final = MOST_SECONDS * 3 / 4
STALE_SECONDS: Final = 600
"""A start of a session has a server asked anew when the latest time is longer ago."""
PAUSE_SECONDS: Final = 300
"""A server that does not answer is not asked with every start."""
BEGUN: Final = "synchronise.begun"
"""Written last, among the files derived from a project, when its servers began to be asked."""

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86_400


def ages_of(project: "Project") -> Sequence[str]:
    """Return how old what is known of servers is."""
    return sentences(servers_of(project), project.now.timestamp())


def servers_of(project: "Project") -> list[tuple[str, str]]:
    """Tell of the project's servers what ``sentences`` has to know."""
    servers = with_server(project)
    return [(one.source if one.lists else "", os.fspath(one.mark)) for one in servers]


def synchronised_at(fresh: "Freshness") -> datetime | None:
    """Tell when a backend and its server were in line last."""
    try:
        return datetime.fromtimestamp(int(fresh.mark.stat().st_mtime), UTC)
    except (OSError, ValueError, OverflowError):
        return None


def synchronise_in_background(project: "Project") -> None:
    """Sync with the project's servers if the last sync is old or anything is queued."""
    now = time.time()
    due = any(one.waiting or is_stale(os.fspath(one.mark), now) for one in with_server(project))
    if due and project.project_cache.is_dir():
        mark = project.project_cache / BEGUN
        words = ("maintain", "flush", "--in-background", "-q")
        run_in_background(project, words, mark, "ask servers")


def with_server(project: "Project") -> "Sequence[Freshness]":
    """Tell of the backends that have a server here how well they stand for it."""
    return [one for one in project.library.freshness() if one.source]


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


class Indexed(NamedTuple):
    """What was done."""

    learnings: int
    complete: bool
    path: str


def index_now(project: "Project", *, rebuild: bool) -> Indexed | None:
    """Bring the index up to date, unless another process is doing that."""
    from grove_core.finder import LOCK_NAME, is_locked

    lock = project.project_cache / LOCK_NAME
    if not project.paths.home.is_dir():
        return _indexed(project)
    files.make_directory(project.project_cache)
    if is_locked(lock):
        return None
    with files.locked(lock):
        if rebuild:
            project.cache.remove()
        return _indexed(project)


def _indexed(project: "Project") -> Indexed:
    finder = project.finder
    finder.refresh()
    return Indexed(learnings=len(finder.index), complete=finder.complete, path=project.cache.path)


def index_in_background(project: "Project") -> None:
    """Let a process of its own go on where this one had to stop; a fault is only logged."""
    if project.deadline is None or not project.project_cache.is_dir():
        return  # a command takes the time that it needs
    mark = project.project_cache / "index.begun"
    run_in_background(project, ("maintain", "index", "-q"), mark, "index")


def run_in_background(project: "Project", words: Sequence[str], mark: Path, what: str) -> None:
    """Run a command of grove's for the project, unless that was begun a short while ago."""
    if _was_begun_lately(mark):
        return
    import subprocess  # seldom needed, and many modules

    program = _PROGRAM.format(seconds=MOST_SECONDS, grace=_GRACE_SECONDS)
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
        project.diagnostics.log("warning", f"cannot {what} in the background: {error}")


def _was_begun_lately(mark: Path) -> bool:
    """Return whether a process began a short while ago, and mark that one begins now if not."""
    try:
        if 0 <= time.time() - mark.stat().st_mtime < PAUSE_SECONDS:
            return True
    except FileNotFoundError:
        pass
    except OSError:
        return True
    with suppress(OSError):
        mark.write_bytes(b"")
        return False
    return True


def seconds_since(path: str, now: float) -> float | None:
    """Return how long ago a file was written."""
    try:
        age = now - Path(path).stat().st_mtime
    except OSError:
        return None
    return max(0.0, age) if age > -_MINUTE else None


def is_stale(mark: str, now: float) -> bool:
    """Return whether a server is to be asked anew."""
    age = seconds_since(mark, now)
    return age is None or age > STALE_SECONDS


def sentences(sources: Iterable[Sequence[str]], now: float) -> list[str]:
    """Return how old what is known of servers is."""
    return [
        f"What {source} holds is known here {_as_of(seconds_since(mark, now))}."
        for source, mark in sources
        if source
    ]


def _as_of(age: float | None) -> str:
    if age is None:
        return "only as far as it was written here: it has not answered yet"
    if age < _MINUTE:
        return "as of just now"
    for unit, name in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if age >= unit:
            count = int(age // unit)
            return f"as of {count} {name}{'' if count == 1 else 's'} ago"
    raise AssertionError("a minute is the least")

"""Hearing what code under test does to the world outside: programs, connections, files."""

import os
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from threading import enumerate as threads_alive
from threading import get_ident
from typing import Any, Final

from grove_core.plugins.limits import WORKER_NAME

ASKING: Final = frozenset(
    {"subprocess.Popen", "socket.connect", "os.posix_spawn", "os.system", "os.exec", "os.fork"}
)
"""What Python is told of whenever a program is started or a connection is made."""
CHANGING: Final = frozenset(
    {
        "open", "os.chdir", "os.chmod", "os.chown", "os.link", "os.mkdir", "os.putenv", "os.remove",
        "os.rename", "os.rmdir", "os.symlink", "os.truncate", "os.unsetenv", "shutil.rmtree",
    }
)  # fmt: skip
"""The same for changes of files and of the process; opening counts where it is for writing."""
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@contextmanager
def watching(events: frozenset[str] = ASKING) -> Iterator[list[str]]:
    """Record audit events of this thread, plugin threads and threads started meanwhile."""
    # The threads of a test runner and of earlier tests have nothing to do with it.
    others = {one.ident for one in threads_alive() if one.name != WORKER_NAME} - {get_ident()}
    heard: list[str] = []

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        is_meant = event in events and get_ident() not in others
        if is_meant and (event != "open" or _is_for_writing(*arguments)):
            heard.append(f"{event} {[*arguments]}")

    if not _listeners:
        _listeners.append(lambda *_: None)
        # It cannot be taken away again; between two tests it does nothing.
        sys.addaudithook(_tell)
    # What Python compiles on its own account is nothing that the code under test writes.
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    _listeners.append(hear)
    try:
        yield heard
    finally:
        _listeners.remove(hear)
        sys.dont_write_bytecode = before


@contextmanager
def untouched(project: Path, *, may_ask: bool = False) -> Iterator[None]:
    """Require that code changes, starts and connects to nothing."""
    with chdir(project):
        before = Path.cwd(), dict(os.environ)
        with watching(CHANGING if may_ask else CHANGING | ASKING) as heard:
            yield
        assert heard == [], "what was changed, started or connected to"
        assert (Path.cwd(), dict(os.environ)) == before, "directory or environment were changed"


def _is_for_writing(path: object, mode: object = None, flags: object = None, *_: object) -> bool:
    if path == os.devnull:
        return False
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & _WRITING)


_listeners: Final[list[Any]] = []


def _tell(event: str, arguments: tuple[Any, ...]) -> None:
    _listeners[-1](event, arguments)

"""Hearing what code under test does to the world outside: programs, connections, files."""

import os
import sys
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from threading import enumerate as threads_alive
from threading import get_ident
from typing import Any, Final, Self

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


class Watching:
    """Records audit events of this thread, plugin threads and threads started meanwhile."""

    def __init__(self, events: frozenset[str] = ASKING) -> None:
        """Hear nothing yet."""
        self.heard: list[str] = []
        self._events = events
        self._others: frozenset[int | None] = frozenset()

    def __enter__(self) -> Self:
        """Begin."""
        # The threads of a test runner and of earlier tests have nothing to do with it.
        others = (one.ident for one in threads_alive() if one.name != WORKER_NAME)
        self._others = frozenset(others) - {get_ident()}
        if not _hooked:
            _hooked.append(True)
            # It cannot be taken away again; without listeners it does nothing.
            sys.addaudithook(_hear)
        # What Python compiles on its own account is nothing that the code under test writes.
        self._before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        _listeners.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        _listeners.remove(self)
        sys.dont_write_bytecode = self._before

    def hear(self, event: str, arguments: Sequence[object]) -> None:
        """Note an event, unless it is of a thread that was there before."""
        if event not in self._events or get_ident() in self._others:
            return
        if event != "open" or _is_for_writing(arguments):
            self.heard.append(f"{event} {[*arguments]}")


class Untouched:
    """Requires in a ``with`` statement that code changes, starts and connects to nothing."""

    def __init__(self, project: Path, *, may_ask: bool = False) -> None:
        """Begin nothing yet."""
        self._folder = chdir(project)
        self._watching = Watching(CHANGING if may_ask else CHANGING | ASKING)

    def __enter__(self) -> None:
        """Begin."""
        self._folder.__enter__()
        self._before = Path.cwd(), dict(os.environ)
        self._watching.__enter__()

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Compare."""
        self._watching.__exit__(kind, *rest)
        after = Path.cwd(), dict(os.environ)
        self._folder.__exit__()
        if kind is None:
            heard = self._watching.heard
            assert heard == [], "what was changed, started or connected to"
            assert after == self._before, "directory or environment were changed"


def _is_for_writing(arguments: Sequence[object]) -> bool:
    path, mode, flags = (*arguments, None, None, None)[:3]
    if path == os.devnull:
        return False
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & _WRITING)


_hooked: Final[list[bool]] = []
_listeners: Final[list[Watching]] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    for listener in _listeners:
        listener.hear(event, arguments)

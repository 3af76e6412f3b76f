"""Going on in a process of one's own, which nobody waits for and which has an end."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grove_core.freshness import PAUSE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grove_core.workspace import Workspace

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


def run_in_background(
    workspace: "Workspace", words: "Sequence[str]", mark: Path, what: str
) -> None:
    """Run a command of grove's for the project, unless that was begun a short while ago."""
    if _was_begun_lately(mark):
        return
    import subprocess  # seldom needed, and many modules

    program = _PROGRAM.format(seconds=MOST_SECONDS, grace=_GRACE_SECONDS)
    try:
        subprocess.Popen(
            # With -P and from elsewhere: a module that lies in the project must not be imported.
            [sys.executable, "-P", "-c", program, os.fspath(workspace.root), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=workspace.paths.home,
            env=dict(workspace.environment),
            start_new_session=True,
            close_fds=True,
        )
    except OSError as error:
        workspace.diagnostics.log("warning", f"cannot {what} in the background: {error}")


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

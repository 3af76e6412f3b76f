"""Which processes of a scratch home are still alive."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path


def alive(home):
    """The processes that were started with this home, by id, with their command lines."""
    wanted = f"HOME={home}".encode()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                found[int(folder.name)] = b" ".join(words).decode(errors="replace").strip()
    return found


def end_left_over(home, grace_seconds=3):
    """Ends what is still alive after a moment of grace; gives the command lines."""
    until = time.monotonic() + grace_seconds
    while (left := alive(home)) and time.monotonic() < until:
        time.sleep(0.1)
    for process in left:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
    return sorted(left.values())

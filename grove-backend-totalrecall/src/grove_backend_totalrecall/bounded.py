"""Running another program within bounds: of time, of output, and for all that it starts."""

import atexit
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from subprocess import Popen

KEPT_BYTES: Final = 128 * 1024
"""So much of the beginning of the output is kept, and so much of its end."""
_CHUNK_BYTES: Final = 65536
_LOOK_SECONDS: Final = 0.1
_running: Final[set["Popen[bytes]"]] = set()


class Ended(NamedTuple):
    """How a program ended."""

    code: int | None
    output: bytes


class _Output:
    """The beginning and the end of what a program prints."""

    def __init__(self) -> None:
        self.head = bytearray()
        self.tail = bytearray()

    def add(self, chunk: bytes) -> bool:
        """Keep what is to be kept; return whether the beginning has grown."""
        room = KEPT_BYTES - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        del self.tail[:-KEPT_BYTES]
        return room > 0

    def kept(self) -> bytes:
        return bytes(self.head + self.tail)


def find_program(name: str, environment: Mapping[str, str]) -> str | None:
    """Find a program; one that depends on the current directory may be a repository's own file."""
    import shutil

    path = shutil.which(name, path=environment.get("PATH", ""))
    return path if path is not None and Path(path).is_absolute() else None


def run_bounded(
    words: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    seconds: float,
    is_enough: Callable[[bytes], bool],
) -> Ended:
    """Run a program to its end, or to that of its time; what it has started ends with it."""
    import subprocess

    # Where this process is gone before the limit, `timeout` still keeps to it.
    limiter = find_program("timeout", environment)
    prefix = [] if limiter is None else [limiter, "-s", "KILL", f"{seconds + 1:.3f}"]
    process = subprocess.Popen(
        [*prefix, *words],
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    _running.add(process)
    output = _Output()
    with process:
        try:
            code = _follow(process, seconds, output, is_enough)
        finally:
            _kill(process)
            _running.discard(process)
    return Ended(code, output.kept())


def _follow(
    process: "Popen[bytes]", seconds: float, output: _Output, is_enough: Callable[[bytes], bool]
) -> int | None:
    """Read until the program is over; what it has started may hold its output open for longer."""
    import os
    import selectors
    import time

    assert process.stdout is not None
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := end - time.monotonic()) > 0:
            code = process.poll()
            if selector.select(min(left, _LOOK_SECONDS) if code is None else 0):
                chunk = os.read(process.stdout.fileno(), _CHUNK_BYTES)
                if not chunk:
                    return _wait(process, left)
                if output.add(chunk) and is_enough(bytes(output.head)):
                    return None
            elif code is not None:
                return code
    return None


def _wait(process: "Popen[bytes]", seconds: float) -> int | None:
    import subprocess

    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _kill(process: "Popen[bytes]") -> None:
    """Kill a program, or what it has left behind when it is over."""
    import os
    import signal
    from contextlib import suppress

    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill_all() -> None:
    """Kill what other threads still wait for: those that were given up do not outlast the end."""
    for process in list(_running):
        _kill(process)


atexit.register(_kill_all)

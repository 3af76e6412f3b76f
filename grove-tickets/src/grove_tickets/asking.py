"""Asking another program, which may be missing, slow or of another version."""

import atexit
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from subprocess import Popen

# By the clock, so generous that a busy machine answers in time; what hangs must leave a hook of ten
# seconds time for the rest.
CURRENT_SECONDS: Final = 2.0
STATUS_SECONDS: Final = 4.0
_MAX_OUTPUT_BYTES: Final = 4 * 1024 * 1024
_TOPS: Final = (".git", ".grove", ".beads")
_CHUNK_BYTES: Final = 65536
_running: Final[set["Popen[bytes]"]] = set()


def ask(
    program: str,
    arguments: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    seconds: float,
) -> str:
    """Run a program that only reads, and give its output."""
    import subprocess

    path = _find(program, environment, cwd)
    if path is None:
        return ""
    # Where this process is gone before the limit, `timeout` still keeps to it.
    limiter = _find("timeout", environment, cwd)
    prefix = [] if limiter is None else [limiter, "-s", "KILL", f"{seconds:.3f}"]
    try:
        process = subprocess.Popen(
            [*prefix, path, *arguments],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return ""
    _running.add(process)
    with process:
        try:
            output = _read(process, seconds)
        finally:
            if process.returncode is None:
                _kill(process)
            _running.discard(process)
    if output is None or process.returncode != 0:
        return ""
    return output.decode("utf-8", "replace")


def _find(program: str, environment: Mapping[str, str], cwd: Path) -> str | None:
    """Find a program; one in the project, or relative to where one is, is a stranger's file."""
    import shutil

    places = [cwd, *cwd.parents]
    marked = (one for one in places if any(os.path.lexists(one / name) for name in _TOPS))
    top = os.path.realpath(next(marked, os.devnull))
    folders = environment.get("PATH", "").split(os.pathsep)
    kept = [
        one
        for one in folders
        if Path(one).is_absolute() and not Path(os.path.realpath(one)).is_relative_to(top)
    ]
    return shutil.which(program, path=os.pathsep.join(kept)) if kept else None


def _read(process: "Popen[bytes]", seconds: float) -> bytes | None:
    """Read what a program prints and wait for its end; ``None`` when it has to be killed."""
    import selectors
    import subprocess
    import time

    assert process.stdout is not None
    output = bytearray()
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while selector.select(max(0.0, end - time.monotonic())):
            chunk = os.read(process.stdout.fileno(), _CHUNK_BYTES)
            output += chunk
            if not chunk or len(output) > _MAX_OUTPUT_BYTES:
                break
        else:
            return None
    if len(output) > _MAX_OUTPUT_BYTES:
        return None
    try:
        process.wait(timeout=max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None
    return bytes(output)


def _kill(process: "Popen[bytes]") -> None:
    """Kill a program with all that it started: what npm installs starts another process."""
    import signal
    from contextlib import suppress

    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill_all() -> None:
    """Kill what other threads still wait for: those of a hook do not outlast its end."""
    for process in list(_running):
        if process.returncode is None:
            _kill(process)


atexit.register(_kill_all)

"""The process of a server, and all that it has started: nothing of it stays behind."""

import atexit
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from grove_backend_mcp.client.limits import Limits
from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.servers import Endpoint

# The group is killed: what is left to do then is the kernel's, and takes no time of anybody.
_REAPING_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.02
_PROCESSES: Final = Path("/proc")
_PARENT: Final = 1
_STARTED: Final = 19
_running: Final[set["subprocess.Popen[bytes]"]] = set()


def start(endpoint: Endpoint, end: float) -> "subprocess.Popen[bytes]":
    """Start the program of a server in a session of its own."""
    if not _is_program(endpoint):
        program = endpoint.words[0] if endpoint.words else "nothing"
        raise ServerFaultError(
            FaultKind.NOT_STARTED, f"could not be started: there is no program {program}"
        )
    limiter = shutil.which("timeout", path=endpoint.environment.get("PATH", os.defpath))
    seconds = max(end - time.monotonic(), 0) + 1
    limited = limiter is not None and Path(limiter).is_absolute()
    prefix = [str(limiter), "-s", "KILL", f"{seconds:.3f}"] if limited else []
    try:
        process = subprocess.Popen(
            [*prefix, *endpoint.words],
            cwd=endpoint.cwd,
            env=dict(endpoint.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        # The whole text of the error names the words, and values of the environment may be in them.
        reason = error.strerror if isinstance(error, OSError) else "a word or variable holds NUL"
        raise ServerFaultError(FaultKind.NOT_STARTED, f"could not be started: {reason}") from None
    _running.add(process)
    return process


def _is_program(endpoint: Endpoint) -> bool:
    """Return whether the first word can be run; asked here, for ``timeout`` would start anyway."""
    if not endpoint.words:
        return False
    word = endpoint.words[0]
    path = str(Path(endpoint.cwd) / word) if os.sep in word else word
    return shutil.which(path, path=endpoint.environment.get("PATH", os.defpath)) is not None


def stop(
    process: "subprocess.Popen[bytes]",
    known: Mapping[int, str],
    limits: Limits,
    end: float,
    drain: Callable[[float], None],
) -> None:
    """End a process politely, then less so; what it has started is killed in any case."""
    try:
        if not _ends(process, min(time.monotonic() + limits.closing_seconds, end), drain):
            _signal(process, signal.SIGTERM)
            _ends(process, min(time.monotonic() + limits.ending_seconds, end), drain)
    finally:
        _kill(process, known)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_REAPING_SECONDS)
        _running.discard(process)


def descendants(identifier: int) -> dict[int, str]:
    """Find what descends from a process, in groups and sessions of their own or not."""
    children: dict[int, list[tuple[int, str]]] = {}
    for path in _PROCESSES.glob("[0-9]*"):
        if fields := _fields_of(int(path.name)):
            one = int(path.name), fields[_STARTED]
            children.setdefault(int(fields[_PARENT]), []).append(one)
    found: dict[int, str] = {}
    waiting = [identifier]
    while waiting:
        for number, started in children.pop(waiting.pop(), ()):
            found[number] = started
            waiting.append(number)
    return found


def _fields_of(number: int) -> list[str]:
    """Read what the system says of a process, from its state on: its name may hold anything."""
    try:
        text = (_PROCESSES / str(number) / "stat").read_text("utf-8", "replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _kill(process: "subprocess.Popen[bytes]", known: Mapping[int, str]) -> None:
    """Kill its group, and what descends from it now or did so before it was asked to end."""
    found = {**known, **descendants(process.pid)}
    _signal(process, signal.SIGKILL)
    for number, started in found.items():
        if _fields_of(number)[_STARTED : _STARTED + 1] == [started]:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)


def _ends(
    process: "subprocess.Popen[bytes]", deadline: float, drain: Callable[[float], None]
) -> bool:
    """Wait for the end of a process; tell whether it has come."""
    while process.poll() is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        drain(min(left, _LOOK_SECONDS))
    return True


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Tell its whole group: a program that is over may have left others behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _kill_all() -> None:
    """Kill what is still there when this process ends."""
    for process in list(_running):
        _kill(process, {})


atexit.register(_kill_all)

"""A server that is a program: started, spoken to over its streams, and ended with its children."""

import atexit
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from grove_backend_mcp.client.messages import (
    Cleaner,
    Limits,
    MessageReader,
    Warnings,
    encode,
    looks_like_answer,
)
from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.servers import Endpoint

# The group is killed: what is left to do then is the kernel's, and takes no time of anybody.
_REAPING_SECONDS: Final = 1.0
_DRAIN_SECONDS: Final = 0.02
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
    """Wait for the end of a process; return whether it has come."""
    while process.poll() is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        drain(min(left, _DRAIN_SECONDS))
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


_CHUNK_BYTES: Final = 65536
_KEPT_ERRORS: Final = 16384
_LOOK_SECONDS: Final = 0.1
_NOISE_SAMPLES: Final = 5
# What shells and `timeout` end with where a program cannot be run, or is not found.
_NOT_RUN: Final = frozenset({126, 127})


class _Lines:
    """Whole lines out of bytes that come in pieces; those not asked for wait for who asks."""

    def __init__(self, longest: int, most: int) -> None:
        self._longest = longest
        self._most = most
        self._held = 0
        self._rest = bytearray()
        self._whole: deque[bytes] = deque()

    def add(self, chunk: bytes) -> None:
        """Take a piece; a line that is too long is a fault, and more than may wait is one."""
        self._held += len(chunk)
        first, *more = chunk.split(b"\n")
        self._rest += first
        for piece in more:
            self._end_line()
            self._rest += piece
        if len(self._rest) > self._longest:
            raise _too_large(f"a message of more than {self._longest // 1024} KiB")
        if self._held > self._most:
            raise _too_large(f"more than {self._most // 1024} KiB without being asked")

    def take(self) -> bytes | None:
        """The next whole line; ``None`` when there is none."""
        if not self._whole:
            return None
        line = self._whole.popleft()
        self._held -= len(line) + 1
        return line

    def _end_line(self) -> None:
        if len(self._rest) > self._longest:
            raise _too_large(f"a message of more than {self._longest // 1024} KiB")
        self._whole.append(bytes(self._rest))
        self._rest.clear()


def _too_large(what: str) -> ServerFaultError:
    return ServerFaultError(FaultKind.TOO_LARGE, f"sent {what}", is_unclear=True)


class StdioTransport:
    """Messages to and from a running program."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        limits: Limits,
        cleaner: Cleaner,
        warnings: Warnings,
    ) -> None:
        """Take over the three streams of a program."""
        self._process = process
        self._limits = limits
        self._warnings = warnings
        self._cleaner = cleaner
        self._reader = MessageReader(depth=limits.depth)
        self._lines = _Lines(limits.message_bytes, limits.answer_bytes)
        self._outgoing = bytearray()
        self._errors = bytearray()
        self._errors_cut = False
        self._samples = 0
        self._over: ServerFaultError | None = None
        self._selector = selectors.DefaultSelector()
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        for stream in (self._stdout, self._stderr):
            self._selector.register(stream, selectors.EVENT_READ)

    def exchange(
        self, message: Mapping[str, Any], deadline: float
    ) -> Generator[dict[str, Any], None, None]:
        """Send a request and give what comes in afterwards; see ``Transport``."""
        self.send(message, deadline)
        noise, room = 0, self._limits.answer_bytes
        while True:
            # Who asks may have enough after any message: then the next line waits.
            for line in iter(self._lines.take, None):
                room -= len(line)
                found = self._read(line, message["id"])
                yield from found
                noise += not found
            if room < 0 or noise > self._limits.noise_lines:
                raise self._end_with(self._flood(room))
            self._pump(deadline)

    def send(self, message: Mapping[str, Any], deadline: float) -> None:
        """Send a message; see ``Transport``."""
        if self._over is not None:
            raise self._over
        self._outgoing += encode(message) + b"\n"
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        try:
            while self._outgoing:
                self._pump(deadline)
        except ServerFaultError as fault:
            # Half a line went out: no other can follow it.
            self._end_with(fault)
            is_out = not self._outgoing
            raise ServerFaultError(fault.kind, fault.detail, is_unclear=is_out) from None
        finally:
            with suppress(KeyError):
                self._selector.unregister(self._stdin)

    def agree(self, version: str, *, is_modern: bool) -> None:
        """Take the version of the protocol: here, it changes nothing."""

    def forget(self) -> None:
        """Forget the session: here, the process is the session."""

    def close(self, end: float) -> None:
        """End the program and all that it has started."""
        known = descendants(self._process.pid)
        with suppress(OSError):
            self._stdin.close()
        try:
            stop(self._process, known, self._limits, end, self._drain)
        finally:
            self._note_errors()
            self._selector.close()
            for stream in (self._stdout, self._stderr):
                with suppress(OSError):
                    stream.close()

    def _read(self, line: bytes, identifier: int) -> list[dict[str, Any]]:
        """Read a line; one that is no message is noted, unless it was to be the answer."""
        if not line.strip():
            return []
        with suppress(ValueError):
            if found := self._reader.read(line):
                return found
        if looks_like_answer(line, identifier):
            sample = line.decode("utf-8", "replace")
            raise ServerFaultError(
                FaultKind.MALFORMED, f"sent an answer that is no JSON: {sample}", is_unclear=True
            )
        self._samples += 1
        if self._samples <= _NOISE_SAMPLES:
            self._warnings.note(f"prints what is no message: {line.decode('utf-8', 'replace')}")
        return []

    def _flood(self, room: int) -> ServerFaultError:
        if room < 0:
            return _too_large(
                f"more than {self._limits.answer_bytes // 1024} KiB before its answer"
            )
        text = f"printed more than {self._limits.noise_lines} lines that are no messages"
        return ServerFaultError(FaultKind.MALFORMED, text, is_unclear=True)

    def _end_with(self, fault: ServerFaultError) -> ServerFaultError:
        """Keep why no request can be sent any longer; those were never sent."""
        if self._over is None:
            self._over = ServerFaultError(fault.kind, fault.detail)
        return fault

    def _pump(self, deadline: float) -> None:
        """Move bytes once, in whatever direction they go."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise ServerFaultError(
                FaultKind.TIMED_OUT, "did not answer in time" + self._last_error(), is_unclear=True
            )
        events = self._selector.select(min(left, _LOOK_SECONDS))
        # A process that it has started may hold its output open.
        if not events and self._process.poll() is not None:
            raise self._end_with(self._ended(deadline))
        for key, _mask in events:
            if key.fileobj is self._stdin:
                self._write(deadline)
            elif key.fileobj is self._stderr:
                self._read_errors()
            elif chunk := _read_some(self._stdout.fileno()):
                try:
                    self._lines.add(chunk)
                except ServerFaultError as fault:
                    raise self._end_with(fault) from None
            elif chunk is not None:
                raise self._end_with(self._ended(deadline))

    def _write(self, deadline: float) -> None:
        try:
            written = os.write(self._stdin.fileno(), self._outgoing[:_CHUNK_BYTES])
        except BlockingIOError:
            return
        except OSError:
            raise self._end_with(self._ended(deadline)) from None
        del self._outgoing[:written]

    def _read_errors(self) -> bool:
        """Read the error output; return whether there may be more."""
        chunk = _read_some(self._stderr.fileno())
        if chunk:
            self._errors += chunk
            self._errors_cut = self._errors_cut or len(self._errors) > _KEPT_ERRORS
            del self._errors[:-_KEPT_ERRORS]
        elif chunk is not None:
            with suppress(KeyError):
                self._selector.unregister(self._stderr)
        return bool(chunk)

    def _ended(self, deadline: float) -> ServerFaultError:
        """Return how the program ended; it has closed its output, or is over."""
        left = min(deadline - time.monotonic(), 2 * _LOOK_SECONDS)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(left, 0))
        while self._read_errors():
            pass
        code = self._process.returncode
        if code in _NOT_RUN:
            return ServerFaultError(
                FaultKind.NOT_STARTED, "could not be started" + self._last_error(), is_unclear=True
            )
        how = "closed its output" if code is None else f"ended by itself with exit code {code}"
        return ServerFaultError(FaultKind.EXITED, how + self._last_error(), is_unclear=True)

    def _last_error(self) -> str:
        text = self._errors.decode("utf-8", "replace")
        # What is left of a line may be the end of a secret, which nobody knows for one then.
        whole = text.partition("\n")[2] if self._errors_cut else text
        lines = self._cleaner.mask(whole).strip().splitlines()
        return f": {lines[-1].strip()}" if lines else ""

    def _note_errors(self) -> None:
        if last := self._last_error():
            self._warnings.note(f"last line of its error output{last}")

    def _drain(self, seconds: float) -> None:
        """Read away what is printed, for some seconds at most."""
        for key, _mask in self._selector.select(seconds):
            if key.fileobj is self._stderr:
                self._read_errors()
            elif _read_some(self._stdout.fileno()) == b"":
                self._selector.unregister(self._stdout)


def _read_some(descriptor: int) -> bytes | None:
    """Read what is there: nothing at its end, ``None`` when there is nothing yet."""
    try:
        return os.read(descriptor, _CHUNK_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""


@contextmanager
def run_server(
    endpoint: Endpoint, limits: Limits, cleaner: Cleaner, warnings: Warnings, end: float
) -> Iterator[StdioTransport]:
    """Run a server for the length of a block."""
    process = start(endpoint, end)
    transport = StdioTransport(process, limits, cleaner, warnings)
    try:
        yield transport
    finally:
        transport.close(end)

"""A server that is a program: started, spoken to over its streams, and ended with its children."""

import atexit
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any, Final

from grove_backend_mcp.client.messages import (
    ANSWER_BYTES,
    MESSAGE_BYTES,
    Limits,
    Reporter,
    encode,
    malformed,
    read_messages,
    too_large,
)
from grove_backend_mcp.servers import Endpoint, FaultKind, ServerFaultError

_CHUNK_BYTES: Final = 65536
_KEPT_ERRORS: Final = 16384
_LOOK_SECONDS: Final = 0.1
_DRAIN_SECONDS: Final = 0.02
_REAPING_SECONDS: Final = 1.0
_MOST_NOISE: Final = 1000
_NOISE_SAMPLES: Final = 5
_running: Final[set["subprocess.Popen[bytes]"]] = set()


@contextmanager
def run_server(
    endpoint: Endpoint, limits: Limits, reporter: Reporter
) -> Iterator["StdioTransport"]:
    """Run a server for the length of a block."""
    transport = StdioTransport(_start(endpoint), reporter)
    try:
        yield transport
    finally:
        transport.close(limits)


def _start(endpoint: Endpoint) -> "subprocess.Popen[bytes]":
    """Start the program of a server in a session of its own, which can be killed as a whole."""
    try:
        process = subprocess.Popen(
            endpoint.words,
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


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Tell its whole group: a program that is over may have left others behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


@atexit.register
def _kill_all() -> None:
    """Kill what is still there when this process ends."""
    for process in _running:
        _signal(process, signal.SIGKILL)


class StdioTransport:
    """Messages to and from a running program."""

    version = ""
    is_modern = False

    def __init__(self, process: "subprocess.Popen[bytes]", reporter: Reporter) -> None:
        """Take over the three streams of a program."""
        self._process = process
        self._reporter = reporter
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()
        self._outgoing = bytearray()
        self._errors = bytearray()
        self._samples = 0
        self._over: ServerFaultError | None = None
        self._selector = selectors.DefaultSelector()
        self._stdin, self._stdout, self._stderr = _streams_of(process)
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        for stream in (self._stdout, self._stderr):
            self._selector.register(stream, selectors.EVENT_READ)

    def exchange(
        self, message: Mapping[str, Any], deadline: float
    ) -> Generator[dict[str, Any], None, None]:
        """Send a request and give what comes in afterwards; see ``Transport``."""
        self.send(message, deadline)
        noise = 0
        while True:
            # Who asks may have enough after any message: then the next line waits.
            while self._lines:
                found = self._read(self._lines.popleft())
                yield from found
                noise += not found
            if noise > _MOST_NOISE:
                text = f"printed more than {_MOST_NOISE} lines that are no messages"
                raise self._end_with(malformed(text))
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
            self._selector.unregister(self._stdin)

    def close(self, limits: Limits) -> None:
        """End the program politely, then less so; what it has started is killed in any case."""
        with suppress(OSError):
            self._stdin.close()
        try:
            if not self._ends(time.monotonic() + limits.closing_seconds):
                _signal(self._process, signal.SIGTERM)
                self._ends(time.monotonic() + limits.ending_seconds)
        finally:
            _signal(self._process, signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_REAPING_SECONDS)
            _running.discard(self._process)
            if last := self._last_error():
                self._reporter.warn(f"last line of its error output{last}")
            self._selector.close()
            self._stdout.close()
            self._stderr.close()

    def _ends(self, deadline: float) -> bool:
        """Wait for the end of the program, and read away what it prints; tell whether it came."""
        while self._process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _mask in self._selector.select(min(left, _DRAIN_SECONDS)):
                if key.fileobj is self._stderr:
                    self._read_errors()
                elif _read_some(self._stdout) == b"":
                    self._selector.unregister(self._stdout)
        return True

    def _read(self, line: bytes) -> list[dict[str, Any]]:
        """Read a line; one that is no message is noted."""
        try:
            return read_messages(line)
        except ValueError:
            self._samples += 1
            if line.strip() and self._samples <= _NOISE_SAMPLES:
                text = line.decode("utf-8", "replace")
                self._reporter.warn(f"prints what is no message: {text}")
            return []

    def _end_with(self, fault: ServerFaultError) -> ServerFaultError:
        """Keep why no request can be sent any longer; those were never sent."""
        if self._over is None:
            self._over = ServerFaultError(fault.kind, fault.detail)
        return fault

    def _pump(self, deadline: float) -> None:
        """Move bytes once, in whatever direction they go."""
        left = deadline - time.monotonic()
        if left <= 0:
            text = "did not answer in time" + self._last_error()
            raise ServerFaultError(FaultKind.TIMED_OUT, text, is_unclear=True)
        events = self._selector.select(min(left, _LOOK_SECONDS))
        # A process that it has started may hold its output open.
        if not events and self._process.poll() is not None:
            raise self._ended(deadline)
        for key, _mask in events:
            if key.fileobj is self._stdin:
                self._write(deadline)
            elif key.fileobj is self._stderr:
                self._read_errors()
            elif chunk := _read_some(self._stdout):
                self._take(chunk)
            elif chunk is not None:
                raise self._ended(deadline)

    def _take(self, chunk: bytes) -> None:
        """Cut what has come into lines; those not asked for wait for who asks."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._lines.append(bytes(self._rest + end))
            self._rest.clear()
        self._rest += rest
        if len(self._rest) > MESSAGE_BYTES:
            raise self._end_with(too_large(MESSAGE_BYTES))
        if sum(map(len, self._lines)) > ANSWER_BYTES:
            raise self._end_with(too_large(ANSWER_BYTES))

    def _write(self, deadline: float) -> None:
        try:
            written = os.write(self._stdin.fileno(), self._outgoing[:_CHUNK_BYTES])
        except BlockingIOError:
            return
        except OSError:
            raise self._ended(deadline) from None
        del self._outgoing[:written]

    def _read_errors(self) -> bool:
        """Read the error output; return whether there may be more."""
        chunk = _read_some(self._stderr)
        if chunk:
            self._errors += chunk
            if len(self._errors) > _KEPT_ERRORS:
                # What is left of a line may be the end of a secret, which nobody knows for one.
                self._errors = self._errors[-_KEPT_ERRORS:].partition(b"\n")[2]
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
        how = "closed its output" if code is None else f"ended by itself with exit code {code}"
        fault = ServerFaultError(FaultKind.EXITED, how + self._last_error(), is_unclear=True)
        return self._end_with(fault)

    def _last_error(self) -> str:
        lines = self._reporter.mask(self._errors.decode("utf-8", "replace")).strip().splitlines()
        return f": {lines[-1].strip()}" if lines else ""


def _streams_of(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr


def _read_some(stream: IO[bytes]) -> bytes | None:
    """Read what is there: nothing at its end, ``None`` when there is nothing yet."""
    try:
        return os.read(stream.fileno(), _CHUNK_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""

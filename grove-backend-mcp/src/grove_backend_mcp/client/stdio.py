"""A server that is a program: started, spoken to over its streams, and ended with its children."""

import os
import signal
import subprocess
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Thread, Timer
from typing import IO, Any, Final

from grove_backend_mcp.client.messages import (
    ANSWER_BYTES,
    MESSAGE_BYTES,
    Limits,
    encode,
    malformed,
    read_messages,
    too_large,
)
from grove_backend_mcp.servers import Endpoint, FaultKind, ServerFaultError

_KEPT_ERRORS: Final = 16384
_LOOK_SECONDS: Final = 0.1
_REAPING_SECONDS: Final = 1.0
_MOST_NOISE: Final = 1000


@contextmanager
def run_server(endpoint: Endpoint, limits: Limits) -> Iterator["StdioTransport"]:
    """Run a server for the length of a block."""
    try:
        # In a session of its own it can be killed with all that it starts.
        process = subprocess.Popen(
            endpoint.words,
            cwd=endpoint.cwd,
            env=dict(endpoint.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        # The whole text of the error names the words, and values of the environment may be in them.
        reason = error.strerror if isinstance(error, OSError) else "a word or variable holds NUL"
        raise ServerFaultError(FaultKind.NOT_STARTED, f"could not be started: {reason}") from None
    transport = StdioTransport(process)
    try:
        yield transport
    finally:
        transport.close(limits)


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Tell its whole group: a program that is over may have left others behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


class StdioTransport:
    """Messages to and from a running program; both its outputs are read by threads."""

    version = ""
    is_modern = False

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        """Take over the three streams of a program."""
        self._process = process
        self._lines: SimpleQueue[bytes | ServerFaultError | None] = SimpleQueue()
        self._held = 0
        self._errors = b""
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._stdin = process.stdin
        self._readers = [
            Thread(target=self._read_lines, args=(process.stdout,), daemon=True),
            Thread(target=self._read_errors, args=(process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def exchange(
        self, message: Mapping[str, Any], deadline: float
    ) -> Generator[dict[str, Any], None, None]:
        """Send a request and give what comes in afterwards; see ``Transport``."""
        self.send(message, deadline)
        noise = 0
        while noise <= _MOST_NOISE:
            line = self._next_line(deadline)
            try:
                found = read_messages(line)
            except ValueError:
                found = []  # it prints what is no message
            # Who asks may have enough after any message: then the next line waits.
            yield from found
            noise += not found
        raise malformed(f"printed more than {_MOST_NOISE} lines that are no messages")

    def send(self, message: Mapping[str, Any], deadline: float) -> None:
        """Send a message; see ``Transport``. Half of one is never followed by another."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise ServerFaultError(FaultKind.TIMED_OUT, "was not asked: no time was left")
        killing = Timer(left, _signal, (self._process, signal.SIGKILL))
        killing.daemon = True
        killing.start()
        try:
            self._stdin.write(encode(message) + b"\n")
            self._stdin.flush()
        except (OSError, ValueError):
            if time.monotonic() >= deadline:
                text = "did not take what it was asked in time"
                raise ServerFaultError(FaultKind.TIMED_OUT, text) from None
            ended = self._ended()
            raise ServerFaultError(ended.kind, ended.detail) from None
        finally:
            killing.cancel()

    def close(self, limits: Limits) -> None:
        """End the program politely, then less so; what it has started is killed in any case."""
        try:
            with suppress(OSError):
                self._stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(limits.closing_seconds)
            if self._process.returncode is None:
                _signal(self._process, signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(limits.ending_seconds)
        finally:
            _signal(self._process, signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_REAPING_SECONDS)
            for reader in self._readers:
                reader.join(_REAPING_SECONDS)

    def _next_line(self, deadline: float) -> bytes:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                text = "did not answer in time" + self._last_error()
                raise ServerFaultError(FaultKind.TIMED_OUT, text, is_unclear=True)
            try:
                line = self._lines.get(timeout=min(left, _LOOK_SECONDS))
            except Empty:
                # A process that it has started may hold its output open.
                if self._process.poll() is None:
                    continue
                line = None
            if isinstance(line, bytes):
                self._held -= len(line)
                return line
            raise line or self._ended()

    def _ended(self) -> ServerFaultError:
        """Return how the program ended; it has closed its output, or is over."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2 * _LOOK_SECONDS)
        self._readers[1].join(2 * _LOOK_SECONDS)
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended by itself with exit code {code}"
        return ServerFaultError(FaultKind.EXITED, how + self._last_error(), is_unclear=True)

    def _last_error(self) -> str:
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1].strip()}" if lines else ""

    def _read_lines(self, stream: IO[bytes]) -> None:
        """Read lines until there is more than is read; those not asked for wait for who asks."""
        with stream:
            while line := stream.readline(MESSAGE_BYTES + 1):
                self._held += len(line)
                if len(line) > MESSAGE_BYTES or self._held > ANSWER_BYTES:
                    self._lines.put(too_large())
                    return
                self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self, stream: IO[bytes]) -> None:
        with stream:
            while line := stream.readline(_KEPT_ERRORS):
                # A line is kept whole: part of a secret would not be known for one.
                self._errors = (self._errors + line)[-_KEPT_ERRORS:]
                if len(self._errors) == _KEPT_ERRORS:
                    self._errors = self._errors.partition(b"\n")[2]

"""The connection to the server: made when it is first needed, kept, and given up when it fails."""

import atexit
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from threading import RLock
from typing import TYPE_CHECKING, Final

from grove_backend_mcp.mappings.assessment import Abilities, abilities_of
from grove_backend_mcp.mappings.mapping import ServerMapping
from grove_backend_mcp.servers import (
    ABOUT_ONE_LEARNING,
    FaultKind,
    Origin,
    ServerEntry,
    ServerFaultError,
)
from grove_backend_mcp.settings import McpSettings
from grove_backend_mcp.sync.record import Paths
from grove_core import BackendContext, BackendError, Backoff, StorageError

if TYPE_CHECKING:
    from grove_backend_mcp.client import Connection, Limits
    from grove_backend_mcp.protocol.memory_server import MemoryServer

# Within one command, the end of its time is worked out more than once.
_SLACK_SECONDS: Final = 1.0


class ServerConnection:
    """The connection of one project to its server."""

    def __init__(
        self,
        context: BackendContext,
        entry: ServerEntry,
        project: str,
        paths: Paths,
        clock: Callable[[], datetime],
        *,
        expected: Abilities,
    ) -> None:
        self.entry = entry
        self._expected = expected
        self._mapping: ServerMapping | None = None
        self.described = ""
        self._context = context
        self._project = project
        self._paths = paths
        self._clock = clock
        self._stack: ExitStack | None = None
        self._server: MemoryServer | None = None
        self._connection: Connection | None = None
        self._warnings: tuple[str, ...] = ()
        # By `time.monotonic()`: what the command has asked for, and what the connection has.
        self._reserved = 0.0
        self._end = 0.0
        # A call that was given up may still be at it when the next one comes, in another thread.
        self._lock = RLock()

    @property
    def abilities(self) -> Abilities:
        """What the server can do; what is to be expected, before it was connected."""
        return self._expected if self._mapping is None else abilities_of(self._mapping)

    @property
    def loses_writes(self) -> bool:
        """Whether the client starts the same server, whose store bears no second writer."""
        write = self._mapping.write if self._mapping else None
        single = write is not None and write.single_writer
        return single and not self.entry.url and self.entry.origin is not Origin.CONFIGURED

    def breaker(self) -> Backoff:
        """Return how the server has failed lately."""
        return Backoff.read(self._paths.breaker, self.entry.digest)

    def reserve(self, seconds: float) -> None:
        """Have the next connection last for a whole command, which may use it in several parts."""
        self._reserved = time.monotonic() + seconds

    def masked(self, text: str) -> str:
        """Return a text of the server as people may see it."""
        return text if self._connection is None else self._connection.shown(text)

    @contextmanager
    def server(self, seconds: float, *, asked: bool = False) -> Iterator["MemoryServer"]:
        """Talk to the server."""
        end = time.monotonic() + seconds
        breaker = self.breaker()
        if not asked and self._server is None and breaker.is_open(self._clock()):
            until = breaker.until()
            when = f" until {until:%H:%M:%S} UTC" if until else ""
            raise ServerFaultError(
                FaultKind.REFUSED, f"{breaker.detail} (not asked again{when})", is_unclear=False
            )
        if not self._lock.acquire(timeout=max(0.0, seconds)):
            raise ServerFaultError(FaultKind.TIMED_OUT, f"{self.entry.name} is still busy")
        try:
            yield self._ready(end)
        except ServerFaultError as fault:
            # Who had too little time has not shown that the server needs too much of it.
            given = self._end - (end - seconds)
            was_short = given < self._limits().call_seconds / 2
            if was_short and fault.kind is FaultKind.TIMED_OUT:
                self.close()
            elif fault.kind not in ABOUT_ONE_LEARNING:
                self._has_failed(fault)
            raise
        finally:
            self._lock.release()

    def has_worked(self) -> None:
        """Forget earlier failures; called after the server has done something."""
        with suppress(OSError):
            self._paths.breaker.unlink(missing_ok=True)

    def warnings(self) -> tuple[str, ...]:
        """Name what was odd about the server's answers, a line each."""
        return self._warnings if self._connection is None else tuple(self._connection.warnings)

    def close(self) -> None:
        """End the connection, and the server where it was started for that."""
        self._warnings = self.warnings()
        stack, self._stack, self._server, self._connection = self._stack, None, None, None
        atexit.unregister(self.close)
        if stack is not None:
            with suppress(ServerFaultError):
                stack.close()

    def _ready(self, end: float) -> "MemoryServer":
        end = max(end, self._reserved)
        if self._server is not None and self._end < end - _SLACK_SECONDS:
            self.close()
        if self._server is None:
            self._end = end
            self._server = self._connect(end)
        return self._server

    def _limits(self) -> "Limits":
        from grove_backend_mcp.client import Limits

        settings: McpSettings = self._context.settings or McpSettings()
        return Limits(connect_seconds=settings.connect_seconds, call_seconds=settings.call_seconds)

    def _connect(self, end: float) -> "MemoryServer":
        from grove_backend_mcp.client import connect
        from grove_backend_mcp.discovery.choose import endpoint_of
        from grove_backend_mcp.mappings.assessment import keep_assessment
        from grove_backend_mcp.mappings.choice import mapping_for
        from grove_backend_mcp.protocol.memory_server import MemoryServer

        settings: McpSettings = self._context.settings or McpSettings()
        limits = self._limits()
        endpoint = endpoint_of(self._context, self.entry)
        self._stack = ExitStack()
        atexit.register(self.close)
        until = end + limits.closing_seconds + limits.ending_seconds
        connection = self._stack.enter_context(connect(endpoint, limits, until=until))
        self._connection = connection
        tools = connection.tools()
        mapping = mapping_for(tools, connection.server_name, settings)
        keep_assessment(self._context, self.entry, connection, mapping, self._clock())
        self._mapping = mapping
        if mapping.write is None:
            raise ServerFaultError(
                FaultKind.UNSUITABLE,
                f"{self.entry.name} has no tool for storing that is known:"
                f" `grove backends mcp map {self.entry.name}` writes a mapping to complete",
            )
        known = mapping.profile or "as the configuration says"
        self.described = f"{connection.server_name} {connection.server_version}, spoken to {known}"
        server = MemoryServer(connection, mapping, self._project)
        server.prepare()
        return server

    def _has_failed(self, fault: ServerFaultError) -> None:
        self.close()
        with suppress(StorageError, BackendError):
            self.breaker().after_failure(self._clock(), fault.detail).write(self._paths.breaker)

"""The connection to the server: made when it is first needed, kept, and given up when it fails."""

import atexit
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from grove_backend_mcp.mappings.assessment import assessment_of
from grove_backend_mcp.servers import ABOUT_ONE_LEARNING, FaultKind, ServerEntry, ServerFaultError
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, BackendError, Backoff, StorageError

if TYPE_CHECKING:
    from grove_backend_mcp.client import Connection
    from grove_backend_mcp.protocol.memory_server import MemoryServer


class ServerConnection:
    """The connection of one project to its server."""

    def __init__(
        self,
        context: BackendContext,
        entry: ServerEntry,
        project: str,
        breaker: Path,
        clock: Callable[[], datetime],
        *,
        can_update: bool,
    ) -> None:
        self.entry = entry
        self.can_update = can_update
        """Whether it can be told a status; what is expected, before it was connected."""
        self.described = ""
        self._context = context
        self._settings: McpSettings = context.settings or McpSettings()
        self._project = project
        self._breaker = breaker
        self._clock = clock
        self._stack = ExitStack()
        self._server: MemoryServer | None = None
        self._connection: Connection | None = None
        # A call that was given up may still be at it when the next one comes, in another thread.
        self._lock = RLock()

    def breaker(self) -> Backoff:
        """Return how the server has failed lately."""
        return Backoff.read(self._breaker, self.entry.digest)

    @contextmanager
    def server(self, seconds: float, *, asked: bool = False) -> Iterator["MemoryServer"]:
        """Talk to the server, for some seconds at most."""
        until = time.monotonic() + seconds
        breaker = self.breaker()
        if not asked and self._server is None and breaker.is_open(self._clock()):
            when = breaker.until()
            said = f" until {when:%H:%M:%S} UTC" if when else ""
            raise ServerFaultError(FaultKind.REFUSED, f"{breaker.detail} (not asked again{said})")
        if not self._lock.acquire(timeout=max(0.0, seconds)):
            raise ServerFaultError(FaultKind.TIMED_OUT, f"{self.entry.name} is still busy")
        try:
            yield self._ready(until)
        except ServerFaultError as fault:
            # Who had too little time has not shown that the server needs too much of it.
            was_short = seconds < self._settings.call_seconds / 2
            if fault.kind not in ABOUT_ONE_LEARNING:
                self.close()
                if fault.kind is not FaultKind.TIMED_OUT or not was_short:
                    with suppress(StorageError, BackendError):
                        failed = self.breaker().after_failure(self._clock(), fault.detail)
                        failed.write(self._breaker)
            raise
        finally:
            self._lock.release()

    def has_worked(self) -> None:
        """Forget earlier failures; called after the server has done something."""
        with suppress(OSError):
            self._breaker.unlink(missing_ok=True)

    def close(self) -> None:
        """End the connection, and the server where it was started for that."""
        stack, self._stack = self._stack, ExitStack()
        self._server = self._connection = None
        atexit.unregister(self.close)
        with suppress(ServerFaultError):
            stack.close()

    def _ready(self, until: float) -> "MemoryServer":
        if self._server is not None and self._connection is not None:
            self._connection.until = until
            return self._server
        self._server = self._connect(until)
        return self._server

    def _connect(self, until: float) -> "MemoryServer":
        from grove_backend_mcp.client import Limits, connect
        from grove_backend_mcp.discovery.references import resolve
        from grove_backend_mcp.mappings.assessment import keep_assessment
        from grove_backend_mcp.mappings.choice import mapping_for
        from grove_backend_mcp.protocol.memory_server import MemoryServer

        settings = self._settings
        limits = Limits(
            connect_seconds=settings.connect_seconds, call_seconds=settings.call_seconds
        )
        endpoint = resolve(self.entry, self._context)
        atexit.register(self.close)
        connection = self._stack.enter_context(connect(endpoint, limits, until=until))
        self._connection = connection
        mapping = mapping_for(connection.tools(), connection.server_name, settings)
        if mapping.write is None:
            raise ServerFaultError(
                FaultKind.UNSUITABLE,
                f"{self.entry.name} has no tool for storing that is known:"
                f" `grove backends mcp map {self.entry.name}` writes a mapping to complete",
            )
        assessment = assessment_of(mapping)
        keep_assessment(self._context.home, self.entry.digest, assessment)
        self.can_update = assessment.can_update
        known = mapping.profile or "as the configuration says"
        self.described = f"{connection.server_name} {connection.server_version}, spoken to {known}"
        server = MemoryServer(connection, mapping, self._project)
        server.prepare()
        return server

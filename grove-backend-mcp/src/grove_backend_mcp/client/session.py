"""A session with one server: requests one at a time, whatever else the server says meanwhile."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from itertools import count, islice
from typing import Any, Final

from grove_backend_mcp.client.messages import (
    METHOD_NOT_FOUND,
    AnsweredWithErrorError,
    Limits,
    Reporter,
    SessionLostError,
    Transport,
    as_object,
    is_id,
    malformed,
    server_info,
    tool_result,
)
from grove_backend_mcp.servers import (
    Endpoint,
    FaultKind,
    ServerFaultError,
    Tool,
    ToolResult,
    tool_from,
)
from grove_core import __version__

OFFERED_VERSION: Final = "2025-11-25"
MODERN_VERSION: Final = "2026-07-28"
_UNSUPPORTED_VERSION: Final = -32022
_VERSION: Final = re.compile(r"[\x21-\x7e]{1,40}")
_CLIENT: Final = {"name": "grove", "version": __version__}
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_MOST_TOOLS: Final = 1000
_MOST_PAGES: Final = 20
# More than these are not answered while one answer is waited for.
_MOST_REPLIES: Final = 50
# Not counted among the time of the request, nor bounded by the end: that is some way off the last.
_CANCEL_SECONDS: Final = 0.1


class Connection:
    """A server that answers; every failure is a ``ServerFaultError``."""

    def __init__(
        self, transport: Transport, reporter: Reporter, limits: Limits, until: float
    ) -> None:
        """Make the handshake."""
        self.until = until
        """When it has to be over; may be moved."""
        self._transport = transport
        self._reporter = reporter
        self._limits = limits
        self._ids = count(1)
        self.server_name = ""
        self.server_version = ""
        self.protocol_version = ""
        with reporter.named_faults():
            self._shake_hands()

    def tools(self) -> Sequence[Tool]:
        """Ask for its tools; entries that are none are left out."""
        with self._reporter.named_faults():
            entries = islice(self._tool_entries(), _MOST_TOOLS)
            found = [tool for tool in map(tool_from, entries) if tool is not None]
            return list({tool.name: tool for tool in reversed(found)}.values())[::-1]

    def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool."""
        params = {"name": tool, "arguments": dict(arguments)}
        with self._reporter.named_faults(acts=True):
            try:
                result = self._ask(
                    "tools/call", params, time.monotonic() + self._limits.call_seconds, acts=True
                )
            except AnsweredWithErrorError as error:
                raise ServerFaultError(
                    FaultKind.TOOL_FAILED,
                    f"did not run its tool {tool}: {error.message}",
                    is_unclear=not error.is_ours,
                ) from None
            return tool_result(as_object(result, f"a call of {tool}"), self._reporter)

    def _ask(
        self, method: str, params: Mapping[str, Any], deadline: float, *, acts: bool = False
    ) -> object:
        """Make a request; where the server has lost the session, once more in a new one."""
        try:
            return self._request(method, params, deadline)
        except SessionLostError as lost:
            self._shake_hands()
            if acts and not lost.is_certain:
                # Where it was done all the same, it would be done twice.
                raise ServerFaultError(
                    FaultKind.REFUSED, "lost its session when it was asked", is_unclear=True
                ) from None
            return self._request(method, params, deadline)

    def _request(self, method: str, params: Mapping[str, Any], deadline: float) -> object:
        meta = {"_meta": _META} if self._transport.is_modern else {}
        message = {"id": next(self._ids), "method": method, "params": {**params, **meta}}
        try:
            return self._answer_to(message, min(deadline, self.until))
        except ServerFaultError as fault:
            # The handshake may not be cancelled, says the protocol.
            if fault.kind is FaultKind.TIMED_OUT and fault.is_unclear and method != "initialize":
                given_up = {"requestId": message["id"], "reason": "not answered in time"}
                with suppress(ServerFaultError):
                    self._notify("cancelled", given_up, time.monotonic() + _CANCEL_SECONDS)
            raise

    def _notify(self, what: str, params: Mapping[str, Any], deadline: float) -> None:
        message = {"method": f"notifications/{what}", "params": params}
        self._transport.send(message, deadline)

    def _answer_to(self, message: Mapping[str, Any], deadline: float) -> object:
        replies = 0
        with closing(self._transport.exchange(message, deadline)) as incoming:
            for found in incoming:
                if "method" in found:
                    replies += "id" in found
                    if "id" in found and replies <= _MOST_REPLIES:
                        self._reply(found, deadline)
                elif "error" in found and found.get("id") is None:
                    # A server that could not read the request does not know its id.
                    raise AnsweredWithErrorError(found["error"], is_ours=False)
                elif is_id(found.get("id"), message["id"]):
                    if found.get("error") is not None:
                        raise AnsweredWithErrorError(found["error"], is_ours=True)
                    return found.get("result")
        raise malformed("ended its answer without having answered")

    def _reply(self, request: Mapping[str, Any], deadline: float) -> None:
        """Answer a request of the server."""
        known: dict[str, Any] = {"ping": {}, "roots/list": {"roots": []}}
        if request["method"] in known:
            reply = {"result": known[request["method"]]}
        else:
            reply = {"error": {"code": METHOD_NOT_FOUND, "message": "not offered by this client"}}
        self._transport.send({"id": request["id"], **reply}, deadline)

    def _shake_hands(self) -> None:
        """Agree about a version, the widely spoken one first: who knows others only says so."""
        transport = self._transport
        transport.version, transport.is_modern = "", False
        deadline = time.monotonic() + self._limits.connect_seconds
        try:
            result = self._initialize(OFFERED_VERSION, deadline)
        except AnsweredWithErrorError as error:
            result = self._shake_hands_again(error, deadline)
        answer = as_object(result, "the handshake")
        name, version = server_info(answer)
        self.server_name = self._reporter.line(name)
        self.server_version = self._reporter.line(version)
        transport.version = MODERN_VERSION if transport.is_modern else _spoken(answer)
        self.protocol_version = transport.version
        if not transport.is_modern:
            self._notify("initialized", {}, min(deadline, self.until))

    def _initialize(self, version: str, deadline: float) -> object:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT}
        return self._request("initialize", params, deadline)

    def _shake_hands_again(self, error: AnsweredWithErrorError, deadline: float) -> object:
        """Try what the server says it speaks."""
        supported = _supported(error)
        try:
            if MODERN_VERSION in supported:
                self._transport.version, self._transport.is_modern = MODERN_VERSION, True
                return self._request("server/discover", {}, deadline)
            older = [version for version in supported if version < OFFERED_VERSION]
            if older:
                return self._initialize(max(older), deadline)
        except AnsweredWithErrorError as again:
            error = again
        kind = FaultKind.UNSUPPORTED if supported else FaultKind.REFUSED
        raise ServerFaultError(kind, f"refused the handshake: {error.message}") from None

    def _tool_entries(self) -> Iterator[object]:
        """Return the entries of all pages of the list of tools, within the time of one request."""
        deadline = time.monotonic() + self._limits.call_seconds
        params: dict[str, Any] = {}
        for _ in range(_MOST_PAGES):
            try:
                answer = as_object(self._ask("tools/list", params, deadline), "for its tools")
            except AnsweredWithErrorError as error:
                has_none = error.code == METHOD_NOT_FOUND
                kind = FaultKind.UNSUITABLE if has_none else FaultKind.MALFORMED
                raise ServerFaultError(kind, f"does not list its tools: {error.message}") from None
            entries = answer.get("tools")
            yield from entries if isinstance(entries, list) else []
            if not isinstance(answer.get("nextCursor"), str):
                return
            params = {"cursor": answer["nextCursor"]}


def _supported(error: AnsweredWithErrorError) -> list[str]:
    """Find the versions that a server names when it does not speak the one it was offered."""
    if error.code != _UNSUPPORTED_VERSION or not isinstance(error.data, dict):
        return []
    found = error.data.get("supported")
    versions = found if isinstance(found, list) else []
    return [one for one in versions if isinstance(one, str) and _VERSION.fullmatch(one)]


def _spoken(answer: Mapping[str, Any]) -> str:
    """Find the version that a server has chosen; any is fine."""
    version = answer.get("protocolVersion")
    is_version = isinstance(version, str) and _VERSION.fullmatch(version)
    return str(version) if is_version else OFFERED_VERSION


@contextmanager
def connect(
    endpoint: Endpoint, limits: Limits | None = None, *, until: float | None = None
) -> Iterator[Connection]:
    """Talk to a server for the length of a block; nothing of it is left afterwards."""
    limits = limits or Limits()
    now = time.monotonic()
    end = now + limits.whole_seconds if until is None else until
    reporter = Reporter(endpoint.name, endpoint.secrets)
    with ExitStack() as stack:
        with reporter.named_faults():
            if end <= now:
                raise ServerFaultError(FaultKind.TIMED_OUT, "was not asked: no time was left")
            transport = stack.enter_context(_way_to(endpoint, limits))
        yield Connection(transport, reporter, limits, end)


def _way_to(endpoint: Endpoint, limits: Limits) -> AbstractContextManager[Transport]:
    """Load only what the way needs: HTTP and TLS cost as much as everything else."""
    if endpoint.url:
        from grove_backend_mcp.client.http import reach_server

        return reach_server(endpoint, limits)
    from grove_backend_mcp.client.stdio import run_server

    return run_server(endpoint, limits)

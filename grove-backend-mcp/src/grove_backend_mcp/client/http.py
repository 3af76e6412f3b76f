"""A server that is reached by streamable HTTP: a request for each message, through no proxy."""

import http.client
import re
import socket
import ssl
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import Any, Final, cast

from grove_backend_mcp.client.addresses import address_of, redirected
from grove_backend_mcp.client.events import EventReader
from grove_backend_mcp.client.http_words import (
    fault_of,
    header_value,
    own_headers,
    refusal,
    says_session_lost,
)
from grove_backend_mcp.client.limits import Limits
from grove_backend_mcp.client.messages import MessageReader, encode, is_id, looks_like_answer
from grove_backend_mcp.client.sockets import BoundedSocket, open_socket
from grove_backend_mcp.client.transport import SessionLostError
from grove_backend_mcp.client.wording import Oddities
from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.servers import Endpoint

_CHUNK_BYTES: Final = 65536
_MOST_REDIRECTIONS: Final = 3
_FOLLOWED: Final = frozenset({307, 308})
_BAD_REQUEST: Final = 400
_NOT_FOUND: Final = 404
_SESSION: Final = "Mcp-Session-Id"
_SESSION_VALUE: Final = re.compile(r"[\x21-\x7e]{1,1024}")


class HttpTransport:
    """Messages to and from an address, each request on a connection of its own."""

    def __init__(self, endpoint: Endpoint, limits: Limits, warnings: Oddities) -> None:
        """Take a server's address; nothing is sent yet."""
        self._address = address_of(endpoint.url)
        self._headers = own_headers(endpoint.headers)
        self._context = ssl.create_default_context() if self._address.origin.is_secure else None
        self._limits = limits
        self._warnings = warnings
        self._reader = MessageReader(depth=limits.depth)
        self._session: str | None = None
        self._version = ""
        self._is_modern = False

    def exchange(
        self, message: Mapping[str, Any], deadline: float
    ) -> Generator[dict[str, Any], None, None]:
        """Send a request and give what comes in afterwards; see ``Transport``."""
        with self._request("POST", message, deadline) as response:
            if response.status >= http.client.MULTIPLE_CHOICES:
                yield from self._refused(response, message["id"])
                return
            self._take_session(response)
            kind = response.headers.get_content_type()
            if kind == "application/json":
                yield from self._document(response)
            elif kind == "text/event-stream":
                yield from self._stream(response, message["id"])
            else:
                raise ServerFaultError(
                    FaultKind.MALFORMED, f"answered with {kind}, not with JSON", is_unclear=True
                )

    def send(self, message: Mapping[str, Any], deadline: float) -> None:
        """Send a message; see ``Transport``. What is said to it does not matter."""
        with self._request("POST", message, deadline):
            pass

    def agree(self, version: str, *, is_modern: bool) -> None:
        """Take the version of the protocol; see ``Transport``."""
        self._version, self._is_modern = version, is_modern

    def forget(self) -> None:
        """Forget session and version; see ``Transport``."""
        self._session, self._version, self._is_modern = None, "", False

    def close(self, end: float) -> None:
        """Tell the server that its session is over; whatever it says to that."""
        if self._session is None:
            return
        deadline = min(end, time.monotonic() + self._limits.closing_seconds)
        with suppress(ServerFaultError), self._request("DELETE", None, deadline):
            pass

    @contextmanager
    def _request(
        self, method: str, message: Mapping[str, Any] | None, deadline: float
    ) -> Iterator[http.client.HTTPResponse]:
        """Make a request; what fails within the block has failed in the server's answer."""
        was_sent = False
        try:
            for _ in range(_MOST_REDIRECTIONS + 1):
                was_sent = False
                with closing(open_socket(self._address.origin, deadline, self._context)) as plain:
                    connection = self._connection(plain, deadline)
                    self._send_request(connection, method, message)
                    was_sent = True
                    with closing(connection.getresponse()) as response:
                        if response.status not in _FOLLOWED:
                            yield response
                            return
                        location = response.headers.get("Location", "")
                        self._address = redirected(self._address, location)
            raise ServerFaultError(FaultKind.REFUSED, "redirects without end")
        except (OSError, http.client.HTTPException) as error:
            raise fault_of(error, was_sent=was_sent) from None

    def _connection(self, plain: socket.socket, deadline: float) -> http.client.HTTPConnection:
        """Hand the socket to ``http.client``, which then neither connects nor speaks TLS."""
        origin = self._address.origin
        connection = http.client.HTTPConnection(origin.host, origin.port)
        if origin.is_secure:
            connection.default_port = http.client.HTTPS_PORT
        bounded = BoundedSocket(plain, deadline, self._limits.answer_bytes)
        connection.sock = cast("socket.socket", bounded)
        return connection

    def _send_request(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        message: Mapping[str, Any] | None,
    ) -> None:
        headers = {**self._headers, "Connection": "close", **self._protocol_headers(message)}
        headers["Accept"] = "application/json, text/event-stream"
        if message is None:
            connection.request(method, self._address.target, headers=headers)
            return
        headers["Content-Type"] = "application/json"
        connection.request(method, self._address.target, encode(message), headers)

    def _protocol_headers(self, message: Mapping[str, Any] | None) -> dict[str, str]:
        """Return what the protocol wants to see of a message before its body is read."""
        headers = {}
        if self._session is not None:
            headers[_SESSION] = self._session
        if self._version:
            headers["MCP-Protocol-Version"] = self._version
        if self._is_modern and message is not None and "method" in message:
            headers["Mcp-Method"] = message["method"]
            if message["method"] == "tools/call":
                headers["Mcp-Name"] = header_value(message["params"]["name"])
        return headers

    def _take_session(self, response: http.client.HTTPResponse) -> None:
        found = response.headers.get(_SESSION)
        if found is None:
            return
        if _SESSION_VALUE.fullmatch(found):
            self._session = found
        else:
            self._warnings.note("gives its session a name that no header can hold")

    def _refused(self, response: http.client.HTTPResponse, identifier: int) -> list[dict[str, Any]]:
        """Read an answer whose status is no success; it may be an error of JSON-RPC still."""
        body = self._whole(response)
        found: list[dict[str, Any]] = []
        with suppress(ValueError):
            found = [one for one in self._reader.read(body) if "jsonrpc" in one and "error" in one]
        answers = [one for one in found if is_id(one.get("id"), identifier)]
        if response.status == _NOT_FOUND and self._session is not None:
            raise SessionLostError(is_certain=True)
        if response.status == _BAD_REQUEST and not answers and says_session_lost(body):
            raise SessionLostError(is_certain=False)
        if found:
            # Whatever id it has, it can only mean what was asked.
            return answers or [{**one, "id": None} for one in found]
        raise refusal(response.status, body)

    def _document(self, response: http.client.HTTPResponse) -> list[dict[str, Any]]:
        """Read an answer that is one document."""
        try:
            return self._reader.read(self._whole(response))
        except ValueError:
            raise ServerFaultError(
                FaultKind.MALFORMED, "sent an answer that is no JSON", is_unclear=True
            ) from None

    def _whole(self, response: http.client.HTTPResponse) -> bytes:
        body = bytearray()
        while chunk := response.read1(_CHUNK_BYTES):
            body += chunk
            self._check_size(len(body))
        return bytes(body)

    def _check_size(self, size: int) -> None:
        most = self._limits.message_bytes
        if size > most:
            raise ServerFaultError(
                FaultKind.TOO_LARGE,
                f"sent a message of more than {most // 1024} KiB",
                is_unclear=True,
            )

    def _stream(
        self, response: http.client.HTTPResponse, identifier: int
    ) -> Iterator[dict[str, Any]]:
        """Return the messages of a stream of events as they come."""
        events = EventReader()
        while chunk := response.read1(_CHUNK_BYTES):
            for data in events.feed(chunk):
                yield from self._event(data, identifier)
            self._check_size(events.pending)
        for data in events.finish():
            yield from self._event(data, identifier)

    def _event(self, data: bytes, identifier: int) -> list[dict[str, Any]]:
        """Read an event; one that is no message is noted, unless it was to be the answer."""
        self._check_size(len(data))
        with suppress(ValueError):
            return self._reader.read(data)
        if looks_like_answer(data, identifier):
            raise ServerFaultError(
                FaultKind.MALFORMED, "sent an answer that is no JSON", is_unclear=True
            )
        self._warnings.note("sends events that are no messages")
        return []


@contextmanager
def reach_server(
    endpoint: Endpoint, limits: Limits, warnings: Oddities, end: float
) -> Iterator[HttpTransport]:
    """Talk to a server for the length of a block."""
    transport = HttpTransport(endpoint, limits, warnings)
    try:
        yield transport
    finally:
        transport.close(end)

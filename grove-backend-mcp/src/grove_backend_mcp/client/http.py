"""Streamable HTTP: requests, streams of events, and what statuses and failures mean in words."""

import http.client
import re
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import Any, Final, cast

from grove_backend_mcp.client.messages import (
    Limits,
    MessageReader,
    SessionLostError,
    Warnings,
    encode,
    is_id,
    looks_like_answer,
)
from grove_backend_mcp.client.sockets import BoundedSocket, address_of, open_socket, redirected
from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.servers import Endpoint

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")
_PLAIN_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
# They belong to the frame of a request, which is not the user's to set.
_FRAME: Final = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "content-type", "accept"}
    | {"accept-encoding", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"}
)
_LOOKED_AT: Final = 2000
_LOST_SESSION: Final = re.compile(
    rb"\b(?:missing|invalid|unknown|expired|no valid|no|bad)\s+(?:mcp[- ])?session\b"
    rb"|\bsession(?:[- ]id)?(?:\s+header)?(?:\s+(?:is|was|has|been|does))*"
    rb"\s+(?:missing|invalid|unknown|expired|not (?:found|valid|known|exist)|required|terminated)",
    re.IGNORECASE,
)
_WORDS: Final = {
    401: "wants credentials, or others (HTTP 401): check its headers where it is written down",
    403: "does not allow it (HTTP 403): check its headers where it is written down",
    404: "has nothing at its address (HTTP 404): check the path, often /mcp",
    405: "takes no such requests at its address (HTTP 405): streamable HTTP is spoken, not SSE",
    429: "is asked too often (HTTP 429)",
}


def own_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Take the headers that a server is to be given with each request."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise ServerFaultError(
                FaultKind.REFUSED, f"its header {name} holds what no header can hold"
            )
    return {name: value for name, value in headers.items() if name.lower() not in _FRAME}


def header_value(text: str) -> str:
    """Write a text so that it gets through a header, as the protocol has it."""
    if _PLAIN_VALUE.fullmatch(text) and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{b64encode(text.encode('utf-8', 'replace')).decode()}?="


def refusal(status: int, body: bytes) -> ServerFaultError:
    """Return what a status means that is no success."""
    if status in _WORDS:
        words = _WORDS[status]
    else:
        text = body.decode("utf-8", "replace").strip()
        words = f"answered with HTTP {status}"
        if text and not text.startswith("<"):
            words += f": {text}"
    return ServerFaultError(FaultKind.REFUSED, words, is_unclear=status not in _WORDS)


def says_session_lost(body: bytes) -> bool:
    """Return whether the words of a refusal say that a session is not known."""
    return _LOST_SESSION.search(body[:_LOOKED_AT]) is not None


def fault_of(error: OSError | http.client.HTTPException, *, was_sent: bool) -> ServerFaultError:
    """Return what has failed."""
    if was_sent and isinstance(error, ConnectionError):
        kind, words = FaultKind.EXITED, "closed the connection before it had answered"
    elif isinstance(error, TimeoutError):
        kind, words = FaultKind.TIMED_OUT, "could not be reached in time"
    elif isinstance(error, ssl.SSLCertVerificationError):
        kind, words = FaultKind.REFUSED, f"has no good certificate: {error.verify_message}"
    elif isinstance(error, ssl.SSLError):
        kind, words = FaultKind.REFUSED, f"does not speak TLS as it should: {error.reason}"
    elif isinstance(error, socket.gaierror):
        kind, words = FaultKind.REFUSED, "has an address whose host is not known"
    elif isinstance(error, OSError):
        kind, words = FaultKind.REFUSED, f"cannot be connected to: {error.strerror}"
    elif was_sent:
        kind, words = FaultKind.MALFORMED, "sent what is no whole answer of HTTP"
    else:
        kind, words = FaultKind.REFUSED, "has an address that cannot be asked for"
    return ServerFaultError(kind, words, is_unclear=was_sent)


_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class EventReader:
    """Finds the messages in a stream of server-sent events that comes in pieces."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._kind = b""
        self._is_first = True

    @property
    def pending(self) -> int:
        """How many bytes wait for the end of their event."""
        return len(self._rest) + sum(map(len, self._data))

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take a piece of the stream."""
        ends_later = b"\n" not in chunk and b"\r" not in chunk and not self._rest.endswith(b"\r")
        self._rest += chunk
        if ends_later:
            return []
        lines = _LINE_END.split(bytes(self._rest))
        self._rest = bytearray(lines.pop())
        # A line may end with two bytes, of which the second is still on its way.
        if chunk.endswith(b"\r") and lines:
            self._rest = bytearray(lines.pop() + b"\r")
        return [data for line in lines if (data := self._take(line)) is not None]

    def finish(self) -> list[bytes]:
        """End the stream; an event whose empty line is missing counts."""
        found = [*self.feed(b"\n"), *self.feed(b"\n\n")]
        return [data for data in found if data]

    def _take(self, line: bytes) -> bytes | None:
        """Take a line; an empty one ends an event, whose data is given."""
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            data, kind = b"\n".join(self._data), self._kind
            self._data, self._kind = [], b""
            return data if data and kind in {b"", b"message"} else None
        name, _colon, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._kind = value
        return None


_CHUNK_BYTES: Final = 65536
_MOST_REDIRECTIONS: Final = 3
_FOLLOWED: Final = frozenset({307, 308})
_BAD_REQUEST: Final = 400
_NOT_FOUND: Final = 404
_SESSION: Final = "Mcp-Session-Id"
_SESSION_VALUE: Final = re.compile(r"[\x21-\x7e]{1,1024}")


class HttpTransport:
    """Messages to and from an address, each request on a connection of its own."""

    def __init__(self, endpoint: Endpoint, limits: Limits, warnings: Warnings) -> None:
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
    endpoint: Endpoint, limits: Limits, warnings: Warnings, end: float
) -> Iterator[HttpTransport]:
    """Talk to a server for the length of a block."""
    transport = HttpTransport(endpoint, limits, warnings)
    try:
        yield transport
    finally:
        transport.close(end)

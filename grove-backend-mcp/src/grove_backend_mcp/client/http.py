"""Streamable HTTP: requests, streams of events, and what statuses and failures mean in words."""

import http.client
import io
import socket
import ssl
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from threading import Timer
from typing import Any, Final
from urllib.parse import SplitResult, urljoin, urlsplit

from grove_backend_mcp.client.messages import (
    ANSWER_BYTES,
    MESSAGE_BYTES,
    Limits,
    SessionLostError,
    encode,
    is_id,
    malformed,
    read_messages,
    too_large,
)
from grove_backend_mcp.servers import Endpoint, FaultKind, ServerFaultError

_CHUNK_BYTES: Final = 65536
_MOST_REDIRECTIONS: Final = 3
_FOLLOWED: Final = frozenset({307, 308})
_SESSION: Final = "Mcp-Session-Id"
_LOOKED_AT: Final = 2000
_WORDS: Final = {
    401: "wants credentials, or others (HTTP 401): check its headers where it is written down",
    403: "does not allow it (HTTP 403): check its headers where it is written down",
    404: "has nothing at its address (HTTP 404): check the path, often /mcp",
}


@contextmanager
def reach_server(endpoint: Endpoint, limits: Limits) -> Iterator["HttpTransport"]:
    """Talk to a server for the length of a block."""
    transport = HttpTransport(endpoint)
    try:
        yield transport
    finally:
        transport.close(time.monotonic() + limits.closing_seconds)


class HttpTransport:
    """Messages to and from an address, each request on a connection of its own."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Take a server's address; nothing is sent yet."""
        self.version = ""
        self.is_modern = False
        self._url = endpoint.url
        self._headers = {**endpoint.headers, "Accept": "application/json, text/event-stream"}
        is_secure = urlsplit(self._url).scheme == "https"
        self._context = ssl.create_default_context() if is_secure else None
        self._session: str | None = None

    def exchange(
        self, message: Mapping[str, Any], deadline: float
    ) -> Generator[dict[str, Any], None, None]:
        """Send a request and give what comes in afterwards; see ``Transport``."""
        with self._request("POST", message, deadline) as response:
            if response.status >= http.client.MULTIPLE_CHOICES:
                yield from self._refused(response, message["id"], deadline)
                return
            found = response.headers.get(_SESSION, "")
            if found.isascii() and found.isprintable():
                self._session = found or self._session
            kind = response.headers.get_content_type()
            if kind == "text/event-stream":
                for data in events_in(response):
                    with suppress(ValueError):  # others have events of their own
                        yield from read_messages(data)
            elif kind == "application/json":
                try:
                    yield from read_messages(_whole(response, deadline))
                except ValueError:
                    raise malformed("sent an answer that is no JSON") from None
            else:
                raise malformed(f"answered with {kind}, not with JSON")

    def send(self, message: Mapping[str, Any], deadline: float) -> None:
        """Send a message; see ``Transport``. What is said to it does not matter."""
        with self._request("POST", message, deadline):
            pass

    def close(self, deadline: float) -> None:
        """Tell the server that its session is over; whatever it says to that."""
        if self._session is not None:
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
                parts = urlsplit(self._url)
                with _connected(parts, self._context, deadline) as connection:
                    self._send(connection, method, parts, message)
                    was_sent = True
                    with closing(connection.getresponse()) as response:
                        _check_time(deadline)
                        if response.status not in _FOLLOWED:
                            yield response
                            _check_time(deadline)
                            return
                        self._url = _redirected(self._url, response.headers.get("Location", ""))
            raise ServerFaultError(FaultKind.REFUSED, "redirects without end")
        except (OSError, http.client.HTTPException) as error:
            if was_sent:
                _check_time(deadline)
            raise _fault_of(error, was_sent=was_sent) from None
        except ValueError:
            # The text of the error quotes the header.
            what = "has a header that cannot be sent: a line end in it, or a letter with an accent"
            raise ServerFaultError(FaultKind.REFUSED, what) from None

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        parts: SplitResult,
        message: Mapping[str, Any] | None,
    ) -> None:
        headers = {**self._headers, "Connection": "close"}
        if self._session is not None:
            headers[_SESSION] = self._session
        if self.version:
            headers["MCP-Protocol-Version"] = self.version
        if message is not None:
            headers["Content-Type"] = "application/json"
        # What the modern protocol wants to see of a message before its body is read.
        if self.is_modern and message is not None and "method" in message:
            headers["Mcp-Method"] = message["method"]
            if message["method"] == "tools/call":
                headers["Mcp-Name"] = message["params"]["name"]
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, encode(message) if message else None, headers)

    def _refused(
        self, response: http.client.HTTPResponse, identifier: int, deadline: float
    ) -> list[dict[str, Any]]:
        """Read an answer whose status is no success; it may be an error of JSON-RPC still."""
        body = _whole(response, deadline)
        found: list[dict[str, Any]] = []
        with suppress(ValueError):
            found = [one for one in read_messages(body) if "jsonrpc" in one and "error" in one]
        answers = [one for one in found if is_id(one.get("id"), identifier)]
        is_gone = response.status == http.client.NOT_FOUND and self._session is not None
        is_unknown = response.status == http.client.BAD_REQUEST and not answers
        if is_gone or (is_unknown and b"session" in body[:_LOOKED_AT].lower()):
            self._session = None
            raise SessionLostError(is_certain=is_gone)
        if found:
            # Whatever id it has, it can only mean what was asked.
            return answers or [{**one, "id": None} for one in found]
        raise _refusal(response.status, body)


def events_in(stream: io.BufferedIOBase) -> Iterator[bytes]:
    """Find the messages in a stream of server-sent events, as they come."""
    data: list[bytes] = []
    size = held = 0
    while line := stream.readline(MESSAGE_BYTES + 1):
        name, _colon, value = line.rstrip(b"\r\n").partition(b":")
        size += len(line)
        if name == b"data":
            data.append(value.removeprefix(b" "))
            held += len(value)
        if size > ANSWER_BYTES or held > MESSAGE_BYTES:
            raise too_large()
        if data and not line.strip():
            yield b"\n".join(data)
            data, held = [], 0
    if data:
        yield b"\n".join(data)


def _whole(response: http.client.HTTPResponse, deadline: float) -> bytes:
    body = bytearray()
    while chunk := response.read1(_CHUNK_BYTES):
        body += chunk
        if len(body) > MESSAGE_BYTES:
            raise too_large()
    _check_time(deadline)
    return bytes(body)


@contextmanager
def _connected(
    parts: SplitResult, context: ssl.SSLContext | None, deadline: float
) -> Iterator[http.client.HTTPConnection]:
    """Connect to a server, through no proxy; the connection is cut when the time is up."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    host, port = parts.hostname or "", parts.port
    if context is None:
        connection = http.client.HTTPConnection(host, port, timeout=left)
    else:
        connection = http.client.HTTPSConnection(host, port, timeout=left, context=context)
    with closing(connection):
        connection.connect()
        plain: socket.socket = connection.sock
        # A server that sends a byte now and then is never late by the timeout of one read.
        cut = Timer(max(deadline - time.monotonic(), 0), _cut, (plain,))
        cut.daemon = True
        cut.start()
        try:
            yield connection
        finally:
            cut.cancel()


def _cut(plain: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(plain, socket.SHUT_RDWR)


def _check_time(deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise ServerFaultError(FaultKind.TIMED_OUT, "did not answer in time", is_unclear=True)


def _redirected(url: str, location: str) -> str:
    """Follow a redirection of the server to itself."""
    with suppress(ValueError):
        found, known = urlsplit(urljoin(url, location)), urlsplit(url)
        if (found.scheme, found.netloc) == (known.scheme, known.netloc):
            return found.geturl()
    raise ServerFaultError(
        FaultKind.REFUSED,
        "redirects to another server, which is not followed; if that is right, give the address"
        " that it redirects to",
    )


def _refusal(status: int, body: bytes) -> ServerFaultError:
    """Return what a status means that is no success."""
    if status in _WORDS:
        return ServerFaultError(FaultKind.REFUSED, _WORDS[status])
    text = body.decode("utf-8", "replace").strip()
    said = f": {text}" if text and not text.startswith("<") else ""
    words = f"answered with HTTP {status}{said}"
    return ServerFaultError(FaultKind.REFUSED, words, is_unclear=True)


def _fault_of(error: OSError | http.client.HTTPException, *, was_sent: bool) -> ServerFaultError:
    """Return what has failed."""
    kind = FaultKind.REFUSED
    if was_sent and isinstance(error, ConnectionError):
        kind, words = FaultKind.EXITED, "closed the connection before it had answered"
    elif isinstance(error, TimeoutError):
        kind, words = FaultKind.TIMED_OUT, "could not be reached in time"
    elif isinstance(error, OSError):
        why = getattr(error, "verify_message", "") or error.strerror
        words = f"cannot be connected to: {why}"
    else:
        kind, words = FaultKind.MALFORMED, "sent what is no whole answer of HTTP"
    return ServerFaultError(kind, words, is_unclear=was_sent)

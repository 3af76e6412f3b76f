"""What the headers, statuses and failures of HTTP mean here, in words."""

import http.client
import re
import socket
import ssl
from base64 import b64encode
from collections.abc import Mapping
from typing import Final

from grove_backend_mcp.faults import FaultKind, ServerFaultError

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

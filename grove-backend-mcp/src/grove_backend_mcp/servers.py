"""What a memory server is: as it is written down, as it is reached, its tools, and its faults."""

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from attrs import field, frozen

from grove_core import BackendError


class Origin(Enum):
    """Where a server is written down, the strongest first."""

    CONFIGURED = "configured"
    """In the section ``[backends.mcp]``."""
    LOCAL = "local"
    """With the client, for this project, by the user."""
    PROJECT = "project"
    """In the project's ``.mcp.json``, which may be a stranger's."""
    USER = "user"
    """With the client, by the user."""


_DIGEST_LENGTH: Final = 16


@frozen(kw_only=True)
class ServerEntry:
    """A server as it is written down: references to the environment are not expanded."""

    name: str
    origin: Origin
    source: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(factory=dict)
    refused: str = ""
    """Why it cannot be used whatever it is."""

    @property
    def described(self) -> str:
        """Where it is written down, and how one talks to it."""
        return f"{self.source} ({self.origin.value}, {'http' if self.url else 'stdio'})"

    @property
    def digest(self) -> str:
        """What tells it from every other server: a digest of all that it is reached by."""
        import hashlib  # it loads OpenSSL, and most starts of a session need no digest

        # The last of these were what a plugin of the client added, in version 0.1.
        parts = ["http" if self.url else "stdio", self.command, list(self.args), dict(self.env)]
        text = json.dumps([*parts, self.url, dict(self.headers), {}], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


@frozen(kw_only=True, repr=False)
class Endpoint:
    """A server as it is to be reached: references are expanded, so it is never shown or stored."""

    name: str
    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(factory=dict)
    cwd: str = "."
    url: str = ""
    headers: Mapping[str, str] = field(factory=dict)
    secrets: tuple[str, ...] = ()


class FaultKind(Enum):
    """Why a server could not be used; the values stand in ``grove doctor`` and in JSON."""

    NOT_STARTED = "could not be started"
    EXITED = "ended by itself"
    REFUSED = "refused the connection"
    TIMED_OUT = "did not answer in time"
    TOO_LARGE = "sent more than is read"
    MALFORMED = "sent what is no answer"
    UNSUPPORTED = "speaks another version of the protocol"
    TOOL_FAILED = "said that its tool failed"
    NOT_STORED = "does not give back what was stored"
    UNSUITABLE = "has no tools that fit"


ABOUT_ONE_LEARNING: Final = frozenset({FaultKind.TOOL_FAILED, FaultKind.NOT_STORED})
"""Faults that are no reason to leave a server alone: another learning may fare better."""


class ServerFaultError(BackendError):
    """A server could not be used; whether it has done something all the same may be unclear."""

    def __init__(self, kind: FaultKind, detail: str, *, is_unclear: bool = False) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.is_unclear = is_unclear


@frozen(kw_only=True)
class Tool:
    """A tool of a server."""

    name: str
    schema: Mapping[str, Any]
    annotations: Mapping[str, Any]

    @property
    def required(self) -> frozenset[str]:
        """The arguments that it cannot be called without."""
        found = self.schema.get("required")
        names = found if isinstance(found, list) else []
        return frozenset(one for one in names if isinstance(one, str))


@frozen(kw_only=True)
class ToolResult:
    """What a tool has answered: untrusted."""

    structured: Any
    texts: tuple[str, ...]
    is_error: bool
    said: str = ""


_LONGEST_NAME: Final = 128


def tool_from(document: object) -> Tool | None:
    """Read one entry of a list of tools."""
    if not isinstance(document, dict):
        return None
    name, schema = document.get("name"), document.get("inputSchema")
    hints = document.get("annotations")
    # A name gets into messages and headers.
    if not isinstance(name, str) or not name.isascii() or not name.isprintable():
        return None
    if not 0 < len(name) <= _LONGEST_NAME or not isinstance(schema, dict):
        return None
    if not isinstance(schema.get("properties", {}), dict):
        return None
    return Tool(name=name, schema=schema, annotations=hints if isinstance(hints, dict) else {})

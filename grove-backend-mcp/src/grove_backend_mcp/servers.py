"""A memory server as somebody has written it down, and as it is to be reached."""

import json
from collections.abc import Mapping
from enum import Enum
from typing import Final

from attrs import field, frozen


class Transport(Enum):
    """How one talks to a server."""

    STDIO = "stdio"
    HTTP = "http"


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
    PLUGIN = "plugin"
    """By a plugin of the client."""


_DIGEST_LENGTH: Final = 16


@frozen(kw_only=True)
class ServerEntry:
    """A server as it is written down: references to the environment are not expanded."""

    name: str
    origin: Origin
    source: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(factory=dict)
    extra: Mapping[str, str] = field(factory=dict)

    @property
    def digest(self) -> str:
        """What tells it from every other server: a digest of all that it is reached by."""
        import hashlib  # it loads OpenSSL, and most starts of a session need no digest

        parts = [self.transport.value, self.command, list(self.args), dict(self.env), self.url]
        text = json.dumps([*parts, dict(self.headers), dict(self.extra)], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


@frozen(kw_only=True, repr=False)
class Endpoint:
    """A server as it is to be reached: references are expanded, so it is never shown or stored."""

    name: str
    transport: Transport
    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(factory=dict)
    cwd: str = "."
    url: str = ""
    headers: Mapping[str, str] = field(factory=dict)
    secrets: tuple[str, ...] = ()

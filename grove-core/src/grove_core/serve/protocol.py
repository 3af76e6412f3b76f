"""The Model Context Protocol, as far as a server of tools needs it: JSON-RPC, a message a line."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
UNSUPPORTED_VERSION: Final = -32022

_META: Final = "io.modelcontextprotocol"

Message = Mapping[str, Any]
Id = str | int | float | None


class Refused(Exception):  # noqa: N818 - the answer to a request, which is no fault of ours
    """A message that gets an error for an answer."""

    def __init__(
        self, code: int, reason: str, request_id: Id = None, data: Message | None = None
    ) -> None:
        """Say why."""
        super().__init__(reason)
        self.request_id = request_id
        self._error = {"code": code, "message": reason, **({"data": data} if data else {})}

    def answer(self) -> bytes:
        """Write the answer."""
        return _line({"id": self.request_id, "error": self._error})


class Request:
    """A message of the client: a request, or a notification, which has no id."""

    def __init__(self, line: bytes) -> None:
        """Read a message."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Refused(PARSE_ERROR, f"the line is not JSON: {error}") from error
        if not isinstance(message, dict):
            raise Refused(INVALID_REQUEST, "the message is no object")
        self.id: Id = message.get("id")
        if not isinstance(self.id, str | int | float | None):
            raise Refused(INVALID_REQUEST, "the id is neither text nor a number")
        method, parameters = message.get("method"), message.get("params", {})
        self.is_answer = method is None and ("result" in message or "error" in message)
        if not self.is_answer and not isinstance(method, str):
            raise Refused(INVALID_REQUEST, "the message names no method", self.id)
        self.method: str = method or ""
        self.parameters: Message = parameters if isinstance(parameters, dict) else {}
        self.is_notification = "id" not in message
        meta = self.parameters.get("_meta")
        named = meta.get(f"{_META}/protocolVersion") if isinstance(meta, dict) else None
        self.version: str | None = named if isinstance(named, str) else None

    @property
    def is_modern(self) -> bool:
        """Whether it is of the era without a handshake."""
        return self.version is not None

    def check_version(self) -> None:
        """Refuse a version that is not spoken."""
        if self.version not in (None, MODERN):
            data = {"supported": [MODERN], "requested": self.version}
            reason = f"version {self.version} is not supported"
            raise self.refuse(UNSUPPORTED_VERSION, reason, data)

    def answer(self, result: Message, *, cacheable: bool = False) -> bytes:
        """Write the answer."""
        if self.is_modern:
            result = {**result, "resultType": "complete", "_meta": {f"{_META}/serverInfo": _info()}}
            if cacheable:
                result = {**result, "ttlMs": 0, "cacheScope": "private"}
        return _line({"id": self.id, "result": result})

    def refuse(self, code: int, reason: str, data: Message | None = None) -> Refused:
        """Make an error of the answer."""
        return Refused(code, reason, self.id, data)


def answer(request: Request, tools: Callable[[], Sequence[Message]]) -> bytes:
    """Answer a request that calls no tool."""
    match request.method:
        case "initialize":
            wanted = request.parameters.get("protocolVersion")
            version = wanted if wanted in HANDSHAKE else HANDSHAKE[0]
            handshake = {"protocolVersion": version, "serverInfo": _info(), **_abilities()}
            return request.answer(handshake)
        case "server/discover":
            versions = {"supportedVersions": [MODERN], "serverInfo": _info(), **_abilities()}
            return request.answer(versions, cacheable=True)
        case "tools/list":
            return request.answer({"tools": tools()}, cacheable=True)
        case "ping":
            return request.answer({})
    raise request.refuse(METHOD_NOT_FOUND, f"there is no method {request.method[:80]}")


def _abilities() -> Message:
    return {"capabilities": {"tools": {}}}


def _info() -> Message:
    from grove_core import __version__

    return {"name": "grove", "version": __version__}


def _line(message: Message) -> bytes:
    text = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"))
    return text.encode("ascii") + b"\n"

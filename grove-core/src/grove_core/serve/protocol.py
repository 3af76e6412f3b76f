"""The Model Context Protocol, as far as a server of tools needs it: JSON-RPC, a message a line."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

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
        error = {"code": code, "message": reason, **({"data": data} if data else {})}
        self.answer = _line({"id": request_id, "error": error})


class Request(NamedTuple):
    """A message of the client that wants an answer."""

    id: Id
    method: str
    parameters: Message
    is_modern: bool
    """Whether it is of the era without a handshake."""

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


def read(line: bytes) -> Request | None:
    """Read a message; an answer and a notification, which has no id, want no answer."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused(PARSE_ERROR, f"the line is not JSON: {error}") from error
    request_id = message.get("id") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(request_id, str | int | float | None):
        raise Refused(INVALID_REQUEST, "the message is no object with a plain id")
    method, parameters = message.get("method"), message.get("params")
    if method is None and ("result" in message or "error" in message):
        return None
    if not isinstance(method, str):
        raise Refused(INVALID_REQUEST, "the message names no method", request_id)
    if "id" not in message:
        return None
    parameters = parameters if isinstance(parameters, dict) else {}
    meta = parameters.get("_meta")
    version = meta.get(f"{_META}/protocolVersion") if isinstance(meta, dict) else None
    if version not in (None, MODERN):
        data = {"supported": [MODERN], "requested": version}
        raise Refused(UNSUPPORTED_VERSION, "this version is not supported", request_id, data)
    return Request(request_id, method, parameters, version is not None)


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

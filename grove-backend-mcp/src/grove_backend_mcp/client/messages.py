"""Messages of JSON-RPC, as bytes and as values."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from grove_backend_mcp.client.wording import plain_json
from grove_backend_mcp.faults import FaultKind, ServerFaultError

METHOD_NOT_FOUND: Final = -32601
UNSUPPORTED_VERSION: Final = -32022


class AnsweredWithErrorError(Exception):
    """The server has answered with an error of JSON-RPC."""

    def __init__(self, error: object, *, is_ours: bool) -> None:
        found = error if isinstance(error, dict) else {"message": str(error)}
        code = found.get("code")
        self.code = code if isinstance(code, int) else 0
        self.message = str(found.get("message", ""))
        self.data = found.get("data")
        self.is_ours = is_ours
        super().__init__(self.message)


def encode(message: Mapping[str, Any]) -> bytes:
    """Write a message on one line."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


@frozen(kw_only=True)
class MessageReader:
    """Reads messages of one server."""

    depth: int

    def read(self, data: bytes) -> list[dict[str, Any]]:
        """Read what a server has sent at once: a message, or several in a list."""
        try:
            # For the length of the text, lists of a message count as levels, too.
            value = plain_json(json.loads(data.decode("utf-8", "replace")), self.depth)
        except RecursionError:
            raise ServerFaultError(
                FaultKind.MALFORMED,
                f"sent lists or objects more than {self.depth} levels deep",
                is_unclear=True,
            ) from None
        found = value if isinstance(value, list) else [value]
        return [one for one in found if isinstance(one, dict) and _is_message(one)]


def _is_message(value: Mapping[str, Any]) -> bool:
    return "method" in value or "result" in value or "error" in value


def is_id(found: object, identifier: int) -> bool:
    """Return whether an answer's id is that of a request."""
    if isinstance(found, bool):
        return False
    return found == identifier or found == str(identifier)


def looks_like_answer(data: bytes, identifier: int) -> bool:
    """Return whether bytes that are no JSON were to be the answer to a request."""
    pattern = rb'"id"\s*:\s*"?%d"?\s*[,}]' % identifier
    return b'"jsonrpc"' in data and re.search(pattern, data) is not None

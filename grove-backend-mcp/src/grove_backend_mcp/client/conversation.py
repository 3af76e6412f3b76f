"""Requests and their answers, one at a time, whatever else the server says meanwhile."""

import itertools
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import Any, Final

from grove_backend_mcp.client.messages import METHOD_NOT_FOUND, AnsweredWithErrorError, is_id
from grove_backend_mcp.client.transport import Transport
from grove_backend_mcp.client.wording import Oddities
from grove_backend_mcp.faults import FaultKind, ServerFaultError

# Not counted among the time of the request, nor bounded by the end: that is some way off the last.
_CANCEL_SECONDS: Final = 0.1
# More than these are not answered while one answer is waited for.
_MOST_REPLIES: Final = 50


class Conversation:
    """One side of JSON-RPC: asks, and answers what little may be asked back."""

    def __init__(self, transport: Transport, warnings: Oddities, end: float) -> None:
        """Begin."""
        self._transport = transport
        self._warnings = warnings
        self._end = end
        self._ids = itertools.count(1)

    def request(self, method: str, params: Mapping[str, Any], deadline: float) -> object:
        """Ask, and wait for the answer."""
        identifier = next(self._ids)
        deadline = min(deadline, self._end)
        message = {"id": identifier, "method": method, "params": params}
        try:
            return self._answer_to(message, deadline)
        except ServerFaultError as fault:
            # The handshake may not be cancelled, says the protocol.
            if fault.kind is FaultKind.TIMED_OUT and fault.is_unclear and method != "initialize":
                self._cancel(identifier)
            raise

    def notify(self, method: str, params: Mapping[str, Any], deadline: float) -> None:
        """Tell the server something."""
        self._transport.send({"method": method, "params": params}, min(deadline, self._end))

    def _answer_to(self, message: Mapping[str, Any], deadline: float) -> object:
        replies = 0
        with closing(self._transport.exchange(message, deadline)) as incoming:
            for found in incoming:
                if "method" in found:
                    replies += "id" in found
                    if replies <= _MOST_REPLIES:
                        self._reply(found, deadline)
                elif "error" in found and found.get("id") is None:
                    # A server that could not read the request does not know its id.
                    raise AnsweredWithErrorError(found["error"], is_ours=False)
                elif not is_id(found.get("id"), message["id"]):
                    self._warnings.note(f"answered what was not asked: id {found.get('id')!r}")
                elif found.get("error") is not None:
                    raise AnsweredWithErrorError(found["error"], is_ours=True)
                else:
                    return found.get("result")
        raise ServerFaultError(
            FaultKind.MALFORMED, "ended its answer without having answered", is_unclear=True
        )

    def _reply(self, request: Mapping[str, Any], deadline: float) -> None:
        """Answer a request of the server; notifications need none."""
        if "id" not in request:
            return
        reply: dict[str, Any] = {"id": request["id"]}
        if request["method"] == "ping":
            reply["result"] = {}
        elif request["method"] == "roots/list":
            reply["result"] = {"roots": []}
        else:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": "not offered by this client"}
        self._transport.send(reply, deadline)

    def _cancel(self, identifier: int) -> None:
        """Say that the answer is not waited for any longer."""
        params = {"requestId": identifier, "reason": "not answered in time"}
        message = {"method": "notifications/cancelled", "params": params}
        with suppress(ServerFaultError):
            self._transport.send(message, time.monotonic() + _CANCEL_SECONDS)

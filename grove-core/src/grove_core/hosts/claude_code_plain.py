"""The few fields of Claude Code's payloads that a hook with little to do reads.

Kept apart from ``claude_code``, which turns payloads into objects, since importing what that needs
costs more than such a hook.
"""

import json

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from typing import Any

_LONGEST_REASON = 64


class PlainPayload:
    """A payload of Stop or SessionEnd."""

    def __init__(self, data: bytes) -> None:
        """Read a payload.

        Args:
            data: What the client wrote.

        Raises:
            ValueError: It is not JSON, or not an object.
        """
        payload: object = json.loads(data)
        if not isinstance(payload, dict):
            raise ValueError("the payload is no object")  # noqa: TRY004 - like JSON's own errors
        self._payload: dict[str, Any] = payload

    @property
    def session_id(self) -> str:
        """The session's id, not checked."""
        return self._text("session_id")

    @property
    def has_background_work(self) -> bool:
        """Whether anything still runs in the background."""
        return bool(self._payload.get("background_tasks"))

    @property
    def stop_hook_active(self) -> bool:
        """Whether an earlier stop of this prompt was blocked."""
        return self._payload.get("stop_hook_active") is True

    @property
    def reason(self) -> str | None:
        """Why the session ends; ``None`` for words that the client does not use."""
        reason = self._text("reason")
        plain = reason.isascii() and reason.replace("_", "a").isalpha()
        return reason if not reason or (plain and len(reason) <= _LONGEST_REASON) else None

    def _text(self, name: str) -> str:
        value = self._payload.get(name)
        return value if isinstance(value, str) else ""

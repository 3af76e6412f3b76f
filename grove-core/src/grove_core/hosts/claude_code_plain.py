"""The few fields of Claude Code's payloads that a hook with little to do reads.

Kept apart from ``claude_code``, which turns payloads into objects, since importing what that needs
costs more than such a hook.
"""

import json
import os

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PROCESS_ID_VARIABLE = "CLAUDE_PID"
ENVIRONMENT_FILE_VARIABLE = "CLAUDE_ENV_FILE"
NOTIFICATION_PREFIX = "<task-notification>"
CONTEXT_LIMIT = 9_000
"""Characters. Longer context is put into a file of which the agent sees only the beginning."""

_LONGEST_REASON = 64
_MOST_DIGITS = 9


def context_text(event: str, text: str) -> str:
    """Make an answer with text for the agent.

    Args:
        event: The client's name of the event.
        text: What the agent should know.

    Returns:
        What to print.
    """
    output = {"hookEventName": event, "additionalContext": text[:CONTEXT_LIMIT]}
    return json.dumps({"hookSpecificOutput": output}) + "\n"


def process_of(environment: "Mapping[str, str]") -> int | None:
    """Tell which process the client is.

    Args:
        environment: The process's environment.

    Returns:
        Its number, if it is known.
    """
    text = environment.get(PROCESS_ID_VARIABLE, "")
    plain = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if plain else None


def possible_path(text: str) -> str:
    """Take a path as text; empty when the kernel would not take it."""
    try:
        return "" if b"\0" in os.fsencode(text) else text
    except UnicodeEncodeError:
        return ""


class PlainPayload:
    """A payload of SessionStart, UserPromptSubmit, Stop or SessionEnd."""

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

    @property
    def prompt(self) -> str:
        """What the user wrote."""
        return self._text("prompt")

    @property
    def is_notification(self) -> bool:
        """Whether the client wrote the prompt itself, about work in the background."""
        return self.prompt.startswith(NOTIFICATION_PREFIX)

    @property
    def prompt_id(self) -> str | None:
        """The prompt's id, if it has one."""
        return self._text("prompt_id") or None

    @property
    def source(self) -> str:
        """Why the session starts."""
        return self._text("source")

    @property
    def cwd(self) -> str:
        """The agent's directory, absolute; empty when unknown."""
        cwd = possible_path(self._text("cwd"))
        return cwd if cwd.startswith("/") else ""

    @property
    def transcript_path(self) -> str:
        """The client's transcript; empty when unknown."""
        return possible_path(self._text("transcript_path"))

    def _text(self, name: str) -> str:
        value = self._payload.get(name)
        return value if isinstance(value, str) else ""

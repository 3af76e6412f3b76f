"""What Claude Code and the session's server say to each other in hooks of type ``mcp_tool``."""

import json
from collections.abc import Mapping
from typing import Any, Final

from grove_core.hosts.claude_code import PLUGIN_ROOT_VARIABLE
from grove_core.hosts.claude_hooks import EVENT_FIELD, SLOTS
from grove_core.hosts.contract import Answer, HookEvent

_BLOCKS, _FAULT = 2, 3

_EVENTS: Final = {slot.name: slot.event for slot in SLOTS if slot.fields}
# What is no text in the payload. Everything else is, whatever it looks like.
_VALUES: Final = frozenset({"tool_input", "stop_hook_active", "background_tasks"})
# May be of any type: a text counts as what it looks like only if that is an object or a list.
_ANY_VALUE: Final = "tool_response"


def tools_prefix(environment: Mapping[str, str]) -> str:
    """Return how the client begins the names of the server's tools."""
    return "mcp__plugin_grove_grove__" if PLUGIN_ROOT_VARIABLE in environment else "mcp__grove__"


def event_of(arguments: Mapping[str, Any]) -> HookEvent | None:
    """Return which event a call of the tool is about."""
    name = arguments.get(EVENT_FIELD)
    return _EVENTS.get(name) if isinstance(name, str) else None


def payload_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Turn what the client says into what it writes to the standard input of a command hook."""
    payload = {
        name: _value(name, text) for name, text in arguments.items() if text and name != EVENT_FIELD
    }
    payload["hook_event_name"] = arguments.get(EVENT_FIELD)
    return {name: value for name, value in payload.items() if value is not None}


def _value(name: str, text: object) -> object:
    if not isinstance(text, str) or name not in (*_VALUES, _ANY_VALUE):
        return text
    if name == _ANY_VALUE and text[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text if name == _ANY_VALUE else None


def is_fault(answer: Answer) -> bool:
    """Return whether grove failed, which the client is to say and to go on."""
    return answer.exit_code == _FAULT


def answer_text(answer: Answer) -> str:
    """Say as a hook's JSON what a command hook says with its exit code and its streams."""
    if answer.exit_code == _BLOCKS:
        return json.dumps({"decision": "block", "reason": answer.stderr.rstrip("\n")})
    if answer.stdout or is_fault(answer):
        return answer.stdout or answer.stderr
    return json.dumps({"systemMessage": answer.stderr.rstrip("\n")} if answer.stderr else {})

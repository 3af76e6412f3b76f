"""Claude Code's hooks of type ``mcp_tool``: how they are registered, and what they say."""

import json
from collections.abc import Mapping
from typing import Any, Final

from grove_core.hosts.claude_code import PLUGIN_ROOT_VARIABLE
from grove_core.hosts.claude_hooks import (
    FILE_TOOLS,
    HOOK_TOOL,
    OTHER_TOOLS,
    SHELL_TOOL,
    SLOTS,
    Group,
)
from grove_core.hosts.contract import Answer, HookEvent

_BLOCKS, _FAULT = 2, 3

_EVENT: Final = "event"
_COMMON: Final = (
    "session_id",
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "agent_id",
)
_CALL: Final = ("tool_name", "tool_input", "tool_use_id")
_FIELDS: Final[Mapping[HookEvent, tuple[str, ...]]] = {
    HookEvent.USER_PROMPT_SUBMIT: ("prompt",),
    HookEvent.PRE_TOOL_USE: _CALL,
    HookEvent.POST_TOOL_USE: (*_CALL, "tool_response"),
    HookEvent.POST_TOOL_USE_FAILURE: (*_CALL, "error"),
    HookEvent.TASK_COMPLETED: ("task_id", "task_subject", "task_description"),
    HookEvent.STOP: ("stop_hook_active", "background_tasks"),
}
"""SessionStart and SessionEnd are missing: at these the client has no server to ask."""

_EVENTS: Final = {slot.name: slot.event for slot in SLOTS if slot.event in _FIELDS}
# What is no text in the payload. Everything else is, whatever it looks like.
_VALUES: Final = frozenset({"tool_input", "stop_hook_active", "background_tasks"})
# May be of any type: a text counts as what it looks like only if that is an object or a list.
_ANY_VALUE: Final = "tool_response"
# The client waits as long as a hook may take by the clock, and a little longer.
_TIMEOUTS: Final = {HookEvent.PRE_TOOL_USE: 25, HookEvent.STOP: 25}
_USUAL_TIMEOUT: Final = 15


def server_groups(server: str) -> dict[str, list[Group]]:
    """Make the hooks that the session's server answers."""
    return {
        slot.name: [
            {**({"matcher": matcher} if matcher else {}), "hooks": [_hook(server, slot.event)]}
            for matcher in _matchers(for_tools=slot.for_tools, for_files=slot.for_files)
        ]
        for slot in SLOTS
        if slot.event in _FIELDS
    }


def _matchers(*, for_tools: bool, for_files: bool) -> tuple[str, ...]:
    tools = (f"{SHELL_TOOL}|{OTHER_TOOLS}",) if for_tools else ("",)
    return (*tools, FILE_TOOLS) if for_files else tools


def _hook(server: str, event: HookEvent) -> Group:
    name = next(slot.name for slot in SLOTS if slot.event is event)
    return {
        "type": "mcp_tool",
        "server": server,
        "tool": HOOK_TOOL,
        "input": {_EVENT: name, **{each: f"${{{each}}}" for each in (*_COMMON, *_FIELDS[event])}},
        "timeout": _TIMEOUTS.get(event, _USUAL_TIMEOUT),
    }


def tools_prefix(environment: Mapping[str, str]) -> str:
    """Return how the client begins the names of the server's tools."""
    return "mcp__plugin_grove_grove__" if PLUGIN_ROOT_VARIABLE in environment else "mcp__grove__"


def event_of(arguments: Mapping[str, Any]) -> HookEvent | None:
    """Return which event a call of the tool is about."""
    name = arguments.get(_EVENT)
    return _EVENTS.get(name) if isinstance(name, str) else None


def payload_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Turn what the client says into what it writes to the standard input of a command hook."""
    payload = {
        name: _value(name, text) for name, text in arguments.items() if text and name != _EVENT
    }
    payload["hook_event_name"] = arguments.get(_EVENT)
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

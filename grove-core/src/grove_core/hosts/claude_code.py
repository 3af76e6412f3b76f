"""Claude Code: its payloads, its variables, its answers. No other module knows a field of its."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from grove_core.errors import CodecError
from grove_core.hosts.contract import Answer, HookEvent, HookInput, StartSource
from grove_core.identifiers import is_session_id
from grove_core.model.ticket import BackgroundTask, ToolCall, ToolResult

NAME: Final = "claude-code"
SESSION_ID_VARIABLE: Final = "CLAUDE_CODE_SESSION_ID"
PLUGIN_ROOT_VARIABLE: Final = "CLAUDE_PLUGIN_ROOT"
PROCESS_ID_VARIABLE: Final = "CLAUDE_PID"
TOOLS_VARIABLE: Final = "GROVE_TOOLS"
"""Set by the session's server itself: how the names of its tools begin."""
CONTEXT_LIMIT: Final = 9_000
"""Characters. Longer context is put into a file of which the agent sees only the beginning."""

MOST_BLOCKS_IN_A_ROW: Final = 8
"""The client overrides the next one, and then ends a headless run with an empty result."""

FILE_TOOLS: Final = ("Read", "Edit", "Write", "MultiEdit", "NotebookEdit")
"""Those that touch one file; ``hooks/fast.py`` goes the full way for them."""

_ENVIRONMENT_FILE_VARIABLE: Final = "CLAUDE_ENV_FILE"
_NOTIFICATION_PREFIX: Final = "<task-notification>"
_MOST_DIGITS: Final = 9

_EDITING_TOOLS: Final = frozenset(FILE_TOOLS) - {"Read"}
_EDITED_FILE_FIELDS: Final = ("file_path", "notebook_path")
_TRANSCRIPT_SCAN_LIMIT: Final = 64 * 1024 * 1024

T = TypeVar("T")


def parse(event: HookEvent, data: bytes, environment: Mapping[str, str]) -> HookInput:
    """Read a hook's standard input."""
    payload = _load(data)
    session_id = _text(payload, "session_id")
    if not is_session_id(session_id):
        raise CodecError(f"the payload holds no usable session_id: {session_id[:140]!r}")
    prompt = _text(payload, "prompt")
    cwd = _path(payload, "cwd")
    if not cwd.startswith("/"):
        cwd = ""
    return HookInput(
        event=event,
        session_id=session_id,
        cwd=cwd,
        transcript_path=_path(payload, "transcript_path"),
        prompt_id=_text(payload, "prompt_id") or None,
        agent_id=_text(payload, "agent_id") or None,
        agent_type=_text(payload, "agent_type"),
        source=StartSource(_text(payload, "source")),
        prompt=prompt,
        is_notification=prompt.startswith(_NOTIFICATION_PREFIX),
        plan_mode=_text(payload, "permission_mode") == "plan",
        tool=_tool_call(event, payload, cwd),
        result=_tool_result(event, payload),
        is_over="tool_response" in payload or "error" in payload,
        touched_file=_touched_file(event, payload, cwd),
        background=tuple(_background(payload)),
        stop_hook_active=payload.get("stop_hook_active") is True,
        process_id=_process_of(environment),
        set_of_hooks=environment.get(PLUGIN_ROOT_VARIABLE) or sys.argv[0],
        tools=environment.get(TOOLS_VARIABLE, ""),
        environment_file=environment.get(_ENVIRONMENT_FILE_VARIABLE) or None,
    )


def event_name(event: HookEvent) -> str:
    """Return what the client calls an event."""
    return "".join(word.capitalize() for word in event.value.split("-"))


def is_event(name: str, data: bytes) -> bool:
    """Return whether the client itself calls an event so, whether or not grove handles it."""
    try:
        event = _text(_load(data), "hook_event_name")
    except CodecError:
        return False
    return bool(event) and name.replace("-", "") == event.lower()


def context_answer(event: HookEvent, text: str, message: str = "") -> Answer:
    """Answer with text for the agent, and a line for the person."""
    if not text:
        return Answer()
    output = {"hookEventName": event_name(event), "additionalContext": text[:CONTEXT_LIMIT]}
    told = {"systemMessage": message} if message else {}
    return Answer(stdout=json.dumps({**told, "hookSpecificOutput": output}) + "\n")


def deny_answer(reason: str) -> Answer:
    """Answer a tool call with a denial, the one word on permissions that grove ever says."""
    output = {
        "hookEventName": event_name(HookEvent.PRE_TOOL_USE),
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    }
    return Answer(stdout=json.dumps({"hookSpecificOutput": output}) + "\n")


def block_answer(reason: str) -> Answer:
    """Answer a stop, of the agent or of a subagent, with a block."""
    return Answer(exit_code=2, stderr=reason + "\n")


def has_edits(transcript_path: str, offset: int, root: Path, excluded: Iterable[str]) -> bool:
    """Return whether the agent has edited files of a project, from the client's transcript."""
    try:
        with Path(transcript_path).open("rb") as transcript:
            transcript.seek(offset)
            content = transcript.read(_TRANSCRIPT_SCAN_LIMIT)
    except OSError:
        return False
    top = os.path.realpath(root)
    excluded = tuple(f"{path.rstrip('/')}/" for path in excluded)
    lines = (line for line in content.split(b"\n") if b'"tool_use"' in line)
    return any(_is_work(path, top, excluded) for line in lines for path in _edited_files(line))


def _edited_files(line: bytes) -> list[str]:
    """List the files that the calls in a transcript's line edit; empty text for an unnamed one."""
    try:
        return [
            _edited_file(block.get("input"))
            for block in json.loads(line)["message"]["content"]
            if block.get("type") == "tool_use" and block.get("name") in _EDITING_TOOLS
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def _edited_file(arguments: object) -> str:
    if not isinstance(arguments, dict):
        return ""
    return next(filter(None, (_path(arguments, name) for name in _EDITED_FILE_FIELDS)), "")


def _is_work(path: str, top: str, excluded: tuple[str, ...]) -> bool:
    if not path:
        return True
    relative = os.path.relpath(os.path.realpath(Path(top, path)), top)
    return relative.split("/")[0] != ".." and not f"{relative}/".startswith(excluded)


def _load(data: bytes) -> Mapping[str, Any]:
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CodecError(f"standard input is not JSON: {error}") from error
    if not isinstance(payload, dict):
        raise CodecError("standard input is JSON but not an object")
    return payload


def _get(payload: Mapping[str, Any], name: str, kind: type[T], default: T) -> T:
    value = payload.get(name)
    return value if isinstance(value, kind) else default


def _text(payload: Mapping[str, Any], name: str) -> str:
    return _get(payload, name, str, "")


def _path(payload: Mapping[str, Any], name: str) -> str:
    text = _text(payload, name)
    try:
        return "" if b"\0" in os.fsencode(text) else text
    except UnicodeEncodeError:
        return ""  # the kernel would not take it


def _process_of(environment: Mapping[str, str]) -> int | None:
    text = environment.get(PROCESS_ID_VARIABLE, "")
    plain = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if plain else None


def _tool_call(event: HookEvent, payload: Mapping[str, Any], cwd: str) -> ToolCall | None:
    if event is HookEvent.TASK_COMPLETED:
        names = ("task_id", "task_subject", "task_description")
        task = {name: payload[name] for name in names if isinstance(payload.get(name), str)}
        return ToolCall(name="TaskCompleted", input=task, cwd=cwd)
    name = _text(payload, "tool_name")
    if not name:
        return None
    return ToolCall(
        name=name,
        input=_get(payload, "tool_input", dict, {}),
        use_id=_text(payload, "tool_use_id") or None,
        cwd=cwd,
    )


def _tool_result(event: HookEvent, payload: Mapping[str, Any]) -> ToolResult | None:
    if event is HookEvent.POST_TOOL_USE_FAILURE:
        return ToolResult(succeeded=False, error=_text(payload, "error"))
    if event is not HookEvent.POST_TOOL_USE:
        return None
    response = payload.get("tool_response")
    task_id = response.get("backgroundTaskId") if isinstance(response, dict) else None
    return ToolResult(
        succeeded=True,
        response=response,
        background_task_id=task_id if isinstance(task_id, str) and task_id else None,
    )


def _touched_file(event: HookEvent, payload: Mapping[str, Any], cwd: str) -> str:
    if event is not HookEvent.POST_TOOL_USE or _text(payload, "tool_name") not in FILE_TOOLS:
        return ""
    path = _edited_file(payload.get("tool_input"))
    is_known = path.startswith("/") or (path and cwd)
    return os.path.join(cwd, path) if is_known else ""  # noqa: PTH118 - as it is written


def _background(payload: Mapping[str, Any]) -> Iterator[BackgroundTask]:
    for task in _get(payload, "background_tasks", list, []):
        if not isinstance(task, dict) or _get(task, "status", str, "running") != "running":
            continue
        if identifier := _text(task, "id"):
            yield BackgroundTask(id=identifier, kind=_text(task, "type"))

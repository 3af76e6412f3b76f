"""Claude Code: its payloads, its variables, its answers."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from grove_core import (
    CONTEXT_LIMIT,
    BackgroundTask,
    CheckResult,
    HookAnswer,
    HookEvent,
    HookInput,
    HookReply,
    HostAbilities,
    HostContext,
    HostSetup,
    HostSpec,
    Registration,
    ToolCall,
    ToolResult,
    hookimpl,
)
from grove_hosts.payloads import NAMES, directory, get, hook_input, path, text, transcript_lines

grove_api = 2

NAME: Final = "claude-code"
SESSION_ID_VARIABLE: Final = "CLAUDE_CODE_SESSION_ID"
PLUGIN_ROOT_VARIABLE: Final = "CLAUDE_PLUGIN_ROOT"
FILE_TOOLS: Final = ("Read", "Edit", "Write", "MultiEdit", "NotebookEdit")
"""Those that touch one file; grove's byte filter for tool calls knows them as well."""

_PROCESS_ID_VARIABLES: Final = ("CLAUDE_PID", "GROVE_CLIENT_PID")
_SERVER_VARIABLE: Final = "GROVE_SERVER"
_ENVIRONMENT_FILE_VARIABLE: Final = "CLAUDE_ENV_FILE"
_NOTIFICATION_PREFIX: Final = "<task-notification>"
_MOST_DIGITS: Final = 9
_BLOCKS: Final = 2

_EDITING_TOOLS: Final = frozenset(FILE_TOOLS) - {"Read"}
_EDITED_FILE_FIELDS: Final = ("file_path", "notebook_path")


def parse(
    name: str, payload: Mapping[str, Any], environment: Mapping[str, str]
) -> HookInput | None:
    """Read a hook's payload; the client has many more events than grove handles."""
    if name not in _EVENTS:
        return None
    event, cwd = _EVENTS[name], directory(payload)
    return hook_input(
        event,
        payload,
        prompt_id=text(payload, "prompt_id") or None,
        is_notification=text(payload, "prompt").startswith(_NOTIFICATION_PREFIX),
        tool=_tool_call(event, payload, cwd),
        result=_tool_result(event, payload),
        is_over="tool_response" in payload or "error" in payload,
        touched_file=_touched_file(event, payload, cwd),
        background=tuple(_background(payload)),
        process_id=_process_of(environment),
        set_of_hooks=environment.get(PLUGIN_ROOT_VARIABLE) or sys.argv[0],
        tools=tools_prefix(environment) if _SERVER_VARIABLE in environment else "",
        environment_file=environment.get(_ENVIRONMENT_FILE_VARIABLE) or None,
    )


_EVENTS: Final = {event.value: event for event in HookEvent}


def tools_prefix(environment: Mapping[str, str]) -> str:
    """Return how the client begins the names of the session server's tools."""
    return "mcp__plugin_grove_grove__" if PLUGIN_ROOT_VARIABLE in environment else "mcp__grove__"


def answer(call: HookInput, reply: HookReply) -> HookAnswer:
    """Say a reply as the client takes it: a block by exit code 2, all else as JSON."""
    if reply.block:
        return HookAnswer(exit_code=_BLOCKS, stderr=reply.block + "\n")
    output: dict[str, Any] = {}
    if reply.deny:
        output = {"permissionDecision": "deny", "permissionDecisionReason": reply.deny}
    elif reply.context:
        output = {"additionalContext": reply.context[:CONTEXT_LIMIT]}
    document: dict[str, Any] = {"systemMessage": reply.message} if output and reply.message else {}
    if output:
        document["hookSpecificOutput"] = {"hookEventName": NAMES[call.event], **output}
    return HookAnswer(
        stdout=json.dumps(document) + "\n" if document else "",
        stderr=reply.warning + "\n" if reply.warning else "",
    )


def edited_files(transcript_path: str, offset: int) -> Iterator[str]:
    """Name the files that the agent's calls have edited, from the client's transcript."""
    for line in transcript_lines(transcript_path, offset, b'"tool_use"'):
        for block in get(get(line, "message", dict, {}), "content", list, []):
            call = block if isinstance(block, dict) else {}
            if call.get("type") == "tool_use" and call.get("name") in _EDITING_TOOLS:
                yield _edited_file(call.get("input"))


def _edited_file(arguments: object) -> str:
    if not isinstance(arguments, dict):
        return ""
    return next(filter(None, (path(arguments, name) for name in _EDITED_FILE_FIELDS)), "")


def _process_of(environment: Mapping[str, str]) -> int | None:
    found = next(filter(None, map(environment.get, _PROCESS_ID_VARIABLES)), "")
    plain = found.isascii() and found.isdigit() and len(found) <= _MOST_DIGITS
    return int(found) if plain else None


def _tool_call(event: HookEvent, payload: Mapping[str, Any], cwd: str) -> ToolCall | None:
    if event is HookEvent.TASK_COMPLETED:
        names = ("task_id", "task_subject", "task_description")
        task = {name: payload[name] for name in names if isinstance(payload.get(name), str)}
        return ToolCall(name="TaskCompleted", input=task, cwd=cwd)
    name = text(payload, "tool_name")
    if not name:
        return None
    return ToolCall(
        name=name,
        input=get(payload, "tool_input", dict, {}),
        use_id=text(payload, "tool_use_id") or None,
        cwd=cwd,
    )


def _tool_result(event: HookEvent, payload: Mapping[str, Any]) -> ToolResult | None:
    if event is HookEvent.POST_TOOL_USE_FAILURE:
        return ToolResult(succeeded=False, error=text(payload, "error"))
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
    if event is not HookEvent.POST_TOOL_USE or text(payload, "tool_name") not in FILE_TOOLS:
        return ""
    found = _edited_file(payload.get("tool_input"))
    is_known = found.startswith("/") or (found and cwd)
    return os.path.join(cwd, found) if is_known else ""  # noqa: PTH118 - as it is written


def _background(payload: Mapping[str, Any]) -> Iterator[BackgroundTask]:
    for task in get(payload, "background_tasks", list, []):
        if not isinstance(task, dict) or get(task, "status", str, "running") != "running":
            continue
        if identifier := text(task, "id"):
            yield BackgroundTask(id=identifier, kind=text(task, "type"))


def _setup(context: HostContext) -> HostSetup:
    from grove_hosts.claude_code.settings import setup

    return setup(context)


def _registered(context: HostContext) -> Sequence[Registration]:
    from grove_hosts.claude_code.settings import registrations

    return registrations(context.root, context.environment)


def _check(context: HostContext) -> Iterable[CheckResult]:
    from grove_hosts.claude_code.checks import check

    return check(context)


@hookimpl
def grove_hosts() -> Sequence[HostSpec]:
    """Offer Claude Code."""
    return [
        HostSpec(
            name=NAME,
            title="Claude Code",
            parse=parse,
            answer=answer,
            abilities=HostAbilities(
                most_blocks=8,
                results="an event of its own",
                background=True,
                session_variables=(SESSION_ID_VARIABLE,),
                shell_variables=("CLAUDECODE",),
            ),
            setup=_setup,
            registered=_registered,
            events=tuple(NAMES[one] for one in HookEvent if one is not HookEvent.SUBAGENT_STOP),
            check=_check,
            edited_files=edited_files,
        )
    ]

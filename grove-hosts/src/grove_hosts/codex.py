"""OpenAI Codex CLI: its payloads, its transcript, its answers."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grove_core import (
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
from grove_hosts.payloads import get, hook_input, path, text

NAME: Final = "codex"
SHELL_TOOL: Final = "Bash"
SET_VARIABLE: Final = "GROVE_HOOKS"
"""Set in the command of a project's hooks, which run beside the person's own."""

_PATCH_TOOL: Final = "apply_patch"
_PATCHED_FILE: Final = re.compile(r"(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$")
_EXIT_CODE: Final = re.compile(r"Exit code: (-?\d+)\n")
_EVENTS: Final = {
    "SessionStart": HookEvent.SESSION_START,
    "UserPromptSubmit": HookEvent.USER_PROMPT_SUBMIT,
    "PreToolUse": HookEvent.PRE_TOOL_USE,
    "PostToolUse": HookEvent.POST_TOOL_USE,
    "Stop": HookEvent.STOP,
    "SubagentStop": HookEvent.SUBAGENT_STOP,
    "SessionEnd": HookEvent.SESSION_END,
}
_NAMES: Final = {event: name for name, event in _EVENTS.items()}
_TAIL: Final = 2 * 1024 * 1024
"""Bytes of a transcript's end; the line of a command holds what it has printed."""
_SCAN_LIMIT: Final = 64 * 1024 * 1024


def parse(_: str, payload: Mapping[str, Any], environment: Mapping[str, str]) -> HookInput | None:
    """Read a hook's payload; what else the client tells of is no concern of grove's."""
    event = _EVENTS.get(text(payload, "hook_event_name"))
    if event is None:
        return None
    agent_id = text(payload, "agent_id") or None
    return hook_input(
        event,
        payload,
        agent_id=agent_id,
        # A subagent has turns of its own, which no prompt has begun.
        prompt_id=None if agent_id else text(payload, "turn_id") or None,
        tool=_tool_call(payload),
        result=_tool_result(payload) if event is HookEvent.POST_TOOL_USE else None,
        is_over=event is HookEvent.POST_TOOL_USE,
        set_of_hooks=environment.get(SET_VARIABLE, ""),
    )


def _tool_call(payload: Mapping[str, Any]) -> ToolCall | None:
    name, arguments = text(payload, "tool_name"), get(payload, "tool_input", dict, {})
    if not name:
        return None
    if name == _PATCH_TOOL:
        # The client's own matchers know it by this name, too.
        found = _PATCHED_FILE.search(text(arguments, "command"))
        name, arguments = "Edit", {**arguments, "file_path": found[1] if found else ""}
    use_id = text(payload, "tool_use_id") or None
    return ToolCall(name=name, input=arguments, use_id=use_id, cwd=path(payload, "cwd"))


def _tool_result(payload: Mapping[str, Any]) -> ToolResult:
    response = payload.get("tool_response")
    succeeded = _succeeded(payload, response)
    if succeeded is False:
        return ToolResult(succeeded=False, error=response if isinstance(response, str) else "")
    return ToolResult(succeeded=succeeded, response=response)


def _succeeded(payload: Mapping[str, Any], response: object) -> bool | None:
    """Return whether a call has done what it should; ``None`` where nothing says so."""
    if text(payload, "tool_name") == SHELL_TOOL:
        return _exits_well(path(payload, "transcript_path"), text(payload, "tool_use_id"))
    if isinstance(response, str):
        found = _EXIT_CODE.match(response)
        return int(found[1]) == 0 if found else None
    return response.get("isError") is not True if isinstance(response, dict) else None


def _exits_well(transcript_path: str, use_id: str) -> bool | None:
    """Look up how a command has ended; its line stands there before the hook is called."""
    if not (transcript_path and use_id):
        return None
    for line in reversed(_lines_of(transcript_path, -_TAIL, _TAIL)):
        if use_id.encode() in line:
            item = _completed(line, "CommandExecution")
            if item.get("id") == use_id and isinstance(item.get("exit_code"), int):
                return bool(item["exit_code"] == 0)
    return None


def edited_files(transcript_path: str, offset: int) -> Iterator[str]:
    """Name the files that patches have changed, from the client's transcript."""
    for line in _lines_of(transcript_path, offset, _SCAN_LIMIT):
        if b'"FileChange"' in line:
            yield from get(_completed(line, "FileChange"), "changes", dict, {})


def _lines_of(transcript_path: str, offset: int, limit: int) -> Sequence[bytes]:
    """Read lines from an offset on; a negative one counts from the end."""
    try:
        with Path(transcript_path).open("rb") as file:
            start = file.seek(0, 2) + offset if offset < 0 else offset
            file.seek(max(0, start))
            return file.read(limit).split(b"\n")
    except OSError:
        return ()


def _completed(line: bytes, kind: str) -> Mapping[str, Any]:
    """Return what a line of a transcript says to be done, if it is of a kind."""
    try:
        payload = json.loads(line)["payload"]
        item = payload["item"] if payload["type"] == "item_completed" else {}
        return item if item.get("type") == kind else {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def answer(call: HookInput, reply: HookReply) -> HookAnswer:
    """Say a reply as the client takes it: with a key too many nothing of it counts."""
    document: dict[str, Any] = {}
    output: dict[str, str] = {}
    if told := reply.message or reply.warning:
        document["systemMessage"] = told
    if call.event in (HookEvent.STOP, HookEvent.SUBAGENT_STOP):
        if reply.block:
            document |= {"decision": "block", "reason": reply.block}
    elif reply.deny and call.event is HookEvent.PRE_TOOL_USE:
        output = {"permissionDecision": "deny", "permissionDecisionReason": reply.deny}
    elif reply.context:
        output = {"additionalContext": reply.context}
    if output:
        document["hookSpecificOutput"] = {"hookEventName": _NAMES[call.event], **output}
    return HookAnswer(stdout=json.dumps(document) + "\n" if document else "")


def _setup(context: HostContext) -> HostSetup:
    from grove_hosts.codex_settings import setup

    return setup(context)


def _registered(context: HostContext) -> Sequence[Registration]:
    from grove_hosts.codex_settings import registered

    return registered(context)


def _check(context: HostContext) -> Iterable[CheckResult]:
    from grove_hosts.codex_settings import check

    return check(context)


@hookimpl
def grove_hosts() -> Sequence[HostSpec]:
    """Offer Codex."""
    return [
        HostSpec(
            name=NAME,
            title="OpenAI Codex CLI",
            parse=parse,
            answer=answer,
            abilities=HostAbilities(
                results="the exit code in its transcript",
                session_variables=("CODEX_SESSION_ID", "CODEX_THREAD_ID"),
                trust="Start codex once and choose to trust the hooks, or open /hooks there.",
                sandboxed=True,
            ),
            setup=_setup,
            registered=_registered,
            events=tuple(name for name in _EVENTS if name != "SubagentStop"),
            check=_check,
            edited_files=edited_files,
        )
    ]

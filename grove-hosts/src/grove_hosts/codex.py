"""OpenAI Codex CLI: its payloads, its transcript, its answers."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grove_core import (
    CONTEXT_LIMIT,
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
from grove_hosts.payloads import (
    EVENTS,
    NAMES,
    SET_VARIABLE,
    directory,
    get,
    hook_input,
    path,
    text,
    transcript_lines,
)

grove_api = 2

NAME: Final = "codex"

REGISTERED: Final = tuple(
    name for name in EVENTS if name not in ("PostToolUseFailure", "TaskCompleted")
)
"""The others it does not have, and would never call trusted."""

_EXIT_CODE: Final = re.compile(r"Exit code: (-?\d+)\n")
_TAIL: Final = 2 * 1024 * 1024
"""Bytes of a transcript's end; the line of a command holds what it has printed."""


def parse(_: str, payload: Mapping[str, Any], environment: Mapping[str, str]) -> HookInput | None:
    """Read a hook's payload; what else the client tells of is no concern of grove's."""
    event = EVENTS.get(text(payload, "hook_event_name"))
    if event is None:
        return None
    return hook_input(
        event,
        payload,
        # A subagent has turns of its own, which no prompt has begun.
        prompt_id=None if "agent_id" in payload else text(payload, "turn_id") or None,
        tool=_tool_call(payload),
        result=_tool_result(payload) if event is HookEvent.POST_TOOL_USE else None,
        is_over=event is HookEvent.POST_TOOL_USE,
        set_of_hooks=environment.get(SET_VARIABLE, ""),
    )


def _tool_call(payload: Mapping[str, Any]) -> ToolCall | None:
    name = text(payload, "tool_name")
    if not name:
        return None
    return ToolCall(
        name=name,
        input=get(payload, "tool_input", dict, {}),
        use_id=text(payload, "tool_use_id") or None,
        cwd=directory(payload),
    )


def _tool_result(payload: Mapping[str, Any]) -> ToolResult:
    response = payload.get("tool_response")
    succeeded = _succeeded(payload, response)
    if succeeded is False:
        return ToolResult(succeeded=False, error=response if isinstance(response, str) else "")
    return ToolResult(succeeded=succeeded, response=response)


def _succeeded(payload: Mapping[str, Any], response: object) -> bool | None:
    """Return whether a call has done what it should; ``None`` where nothing says so."""
    if text(payload, "tool_name") == "Bash":
        return _exits_well(path(payload, "transcript_path"), text(payload, "tool_use_id"))
    if isinstance(response, str):
        found = _EXIT_CODE.match(response)
        return int(found[1]) == 0 if found else None
    return response.get("isError") is not True if isinstance(response, dict) else None


def _exits_well(transcript: str, use_id: str) -> bool | None:
    """Look up how a command has ended; its line stands there before the hook is called."""
    try:
        start = max(0, Path(transcript).stat().st_size - _TAIL) if transcript else 0
    except OSError:
        return None
    for item in _done(transcript, start, "CommandExecution", use_id.encode()):
        if item.get("id") == use_id and isinstance(item.get("exit_code"), int):
            return bool(item["exit_code"] == 0)
    return None


def edited_files(transcript: str, offset: int) -> Iterator[str]:
    """Name the files that patches have changed, from the client's transcript."""
    for item in _done(transcript, offset, "FileChange", b'"FileChange"'):
        yield from get(item, "changes", dict, {})


def _done(transcript: str, offset: int, kind: str, holding: bytes) -> Iterator[Mapping[str, Any]]:
    """Give what a transcript calls done, of one kind."""
    for line in transcript_lines(transcript, offset, holding):
        item = get(get(line, "payload", dict, {}), "item", dict, {})
        if item.get("type") == kind:
            yield item


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
        # The client takes what is longer to pieces in the middle, and counts bytes.
        text = reply.context.encode()[:CONTEXT_LIMIT].decode("utf-8", "ignore")
        output = {"additionalContext": text}
    if output:
        document["hookSpecificOutput"] = {"hookEventName": NAMES[call.event], **output}
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
            events=REGISTERED,
            check=_check,
            edited_files=edited_files,
        )
    ]

"""Cursor: hooks of its own shape; at a stop it can be given a next message, and is not held.

Written from what its hooks' executor does with files and answers; no session of it was driven.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grove_core import (
    Hold,
    HookAnswer,
    HookEvent,
    HookInput,
    HookReply,
    HostAbilities,
    HostContext,
    HostFile,
    HostSetup,
    HostSpec,
    Registration,
    ToolResult,
    hookimpl,
)
from grove_hosts import settings
from grove_hosts.payloads import (
    EVENTS,
    SET_VARIABLE,
    USUAL_EVENTS,
    get,
    hook_input,
    path,
    shell_call,
    text,
)

grove_api = 2

NAME: Final = "cursor"
_EVENTS: Final = {f"{name[0].lower()}{name[1:]}": EVENTS[name] for name in USUAL_EVENTS}
_EVENTS["beforeSubmitPrompt"] = _EVENTS.pop("userPromptSubmit")
_SHELL: Final = "Shell"
_EXIT_CODE: Final = re.compile(r'"exitCode":\s*(-?\d+)')
_NOTE: Final = (
    "Cursor cannot be held at a stop: grove's reason becomes the agent's next message. This was not"
    " tried with Cursor itself; please report what does not work."
)


def parse(
    name: str, payload: Mapping[str, Any], environment: Mapping[str, str]
) -> HookInput | None:
    """Read a hook's payload; a turn that was broken off is no stop."""
    event = _EVENTS.get(name or text(payload, "hook_event_name"))
    if event is None or text(payload, "status") in ("aborted", "error"):
        return None
    roots = [one for one in get(payload, "workspace_roots", list, []) if isinstance(one, str)]
    cwd, given = path(payload, "cwd") or "".join(roots[:1]), get(payload, "tool_input", dict, {})
    place = str(Path(cwd, text(given, "cwd")))
    tool = shell_call(text(given, "command"), place, text(payload, "tool_use_id"))
    return hook_input(
        event,
        {**payload, "cwd": cwd},
        prompt_id=text(payload, "generation_id") or None,
        tool=tool if text(payload, "tool_name") == _SHELL else None,
        result=_result(event, payload),
        set_of_hooks=environment.get(SET_VARIABLE, ""),
        stop_hook_active=get(payload, "loop_count", int, 0) > 0,
    )


def _result(event: HookEvent, payload: Mapping[str, Any]) -> ToolResult | None:
    if event is HookEvent.POST_TOOL_USE_FAILURE:
        return ToolResult(succeeded=False, error=text(payload, "error_message"))
    if event is not HookEvent.POST_TOOL_USE:
        return None
    response = text(payload, "tool_output")
    code = _EXIT_CODE.search(response)
    return ToolResult(succeeded=code[1] == "0" if code else None, response=response)


def answer(call: HookInput, reply: HookReply) -> HookAnswer:
    """Say a reply as the client takes it; exit code 2 would keep a session from starting."""
    del call
    document: dict[str, str] = {}
    if reply.block:
        document = {"followup_message": reply.block}
    elif reply.deny:
        document = {"permission": "deny", "user_message": reply.deny, "agent_message": reply.deny}
    elif reply.context:
        document = {"additional_context": reply.context}
    return HookAnswer(stdout=json.dumps(document) + "\n" if document else "")


def _files(context: HostContext) -> Mapping[str, Path]:
    folders = {"user": Path(context.environment.get("HOME") or "/"), "project": context.root}
    return {kind: folder / ".cursor" / "hooks.json" for kind, folder in folders.items()}


def _setup(context: HostContext) -> HostSetup:
    """Register hooks in the person's file, or in the project's."""
    # Behind the command the client puts the payload, as a here-document of the shell.
    program = f"{SET_VARIABLE}=project grove" if context.shared else shlex.quote(context.program)
    hook = {"command": f"{program} hook {NAME}", "timeout": 30}
    groups = {
        event: [{**hook, "matcher": _SHELL} if "Tool" in event else hook] for event in _EVENTS
    }
    file = HostFile(
        path=_files(context)["project" if context.shared else "user"],
        put=lambda content: _put(content, groups),
        take=_take,
        said=settings.said,
    )
    return HostSetup(files=(file,), notes=(_NOTE,)) if context.hooks else HostSetup(files=())


def _put(content: str, groups: settings.Groups) -> str:
    document = settings.parse(settings.put(content, NAME, groups))
    return settings.written_like(content, settings.parse(content), {"version": 1, **document})


def _take(content: str, original: str) -> str:
    rest = settings.take(content, NAME)
    document = settings.parse(rest)
    # Without it the client runs nothing, so it stays where it may be somebody else's.
    if ("hooks" in document and not original) or "version" in settings.parse(original):
        return rest
    document.pop("version", None)
    return settings.written_like(content, settings.parse(content), document) if document else ""


def _registered(context: HostContext) -> Sequence[Registration]:
    """Find grove's hooks in the files."""
    return settings.registered_among(_files(context), NAME)


@hookimpl
def grove_hosts() -> Sequence[HostSpec]:
    """Offer Cursor."""
    return [
        HostSpec(
            name=NAME,
            title="Cursor",
            parse=parse,
            answer=answer,
            abilities=HostAbilities(
                hold=Hold.ASKS,
                most_blocks=5,
                results="the exit code in the result, or an event of its own",
                session_variables=("CURSOR_CONVERSATION_ID",),
                shell_variables=("CURSOR_AGENT",),
                driven=False,
            ),
            setup=_setup,
            registered=_registered,
            events=tuple(_EVENTS),
        )
    ]

"""Gemini CLI: names of events of its own, results in text, and a denial wherever a hook fails."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
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
    Status,
    ToolCall,
    ToolResult,
    hookimpl,
)
from grove_hosts.payloads import SET_VARIABLE, directory, get, hook_input, shell_call, text
from grove_hosts.settings import Groups, as_list, as_table, hooks_file, read, registered_among
from grove_hosts.skills import shared_skill

grove_api = 2

NAME: Final = "gemini"
_EVENTS: Final = {
    "SessionStart": HookEvent.SESSION_START,
    "BeforeAgent": HookEvent.USER_PROMPT_SUBMIT,
    "BeforeTool": HookEvent.PRE_TOOL_USE,
    "AfterTool": HookEvent.POST_TOOL_USE,
    "AfterAgent": HookEvent.STOP,
    "SessionEnd": HookEvent.SESSION_END,
}
_NAMES: Final = {event: name for name, event in _EVENTS.items()}
_SHELL: Final = "run_shell_command"
_TOOLS: Final = (_SHELL, "mcp_.*")
_GROVES_NAMES: Final = {"read_file": "Read", "replace": "Edit", "write_file": "Write"}
_SECONDS: Final = {"BeforeTool": 25, "AfterAgent": 25, "SessionEnd": 3}
_USUAL_SECONDS: Final = 15
# What hooks have said at the start stands before the prompt when the client has no screen.
_CONTEXT: Final = re.compile(r"\A(?:\s*<hook_context>.*?</hook_context>)+\s*", re.DOTALL)
# What follows a command's own output, from which only its place tells it apart.
_TRAILER: Final = re.compile(r"(Error|Exit Code|Signal|Background PIDs|Process Group PGID): .*")
_FAILURES: Final = ("Error", "Exit Code", "Signal")


def parse(
    name: str, payload: Mapping[str, Any], environment: Mapping[str, str]
) -> HookInput | None:
    """Read a hook's payload; what else the client tells of is no concern of grove's."""
    event = _EVENTS.get(name or text(payload, "hook_event_name"))
    if event is None:
        return None
    return hook_input(
        event,
        {**payload, "prompt": _CONTEXT.sub("", text(payload, "prompt"))},
        tool=_tool_call(payload),
        result=_tool_result(payload) if event is HookEvent.POST_TOOL_USE else None,
        set_of_hooks=environment.get(SET_VARIABLE, ""),
    )


def _tool_call(payload: Mapping[str, Any]) -> ToolCall | None:
    """Read a call, which has no id; a subagent's looks like any other."""
    name, given = text(payload, "tool_name"), get(payload, "tool_input", dict, {})
    cwd, server = directory(payload), get(payload, "mcp_context", dict, {})
    if name == _SHELL:
        return shell_call(text(given, "command"), str(Path(cwd, text(given, "dir_path"))))
    if server:
        name = f"mcp__{text(server, 'server_name')}__{text(server, 'tool_name')}"
    return ToolCall(name=_GROVES_NAMES.get(name, name), input=given, cwd=cwd) if name else None


def _tool_result(payload: Mapping[str, Any]) -> ToolResult:
    response = get(payload, "tool_response", dict, {})
    if error := response.get("error"):
        return ToolResult(succeeded=False, error=text(as_table(error), "message"))
    succeeded: bool | None = True
    if text(payload, "tool_name") == _SHELL:
        succeeded = _succeeded(text(response, "llmContent"))
    return ToolResult(succeeded=succeeded, response=response)


def _succeeded(said: str) -> bool | None:
    """Return whether a command has done well; ``None`` if it goes on, or was broken off."""
    lines = said.strip().removesuffix("</untrusted_context>").strip().splitlines()
    trailer: list[str] = []
    while lines and (found := _TRAILER.fullmatch(lines.pop())):
        trailer.append(found[1])
    if not trailer:
        return None
    return not any(one in _FAILURES for one in trailer)


def answer(call: HookInput, reply: HookReply) -> HookAnswer:
    """Say a reply as the client takes it; without JSON it would read standard error instead."""
    document: dict[str, Any] = {}
    if told := reply.message or reply.warning:
        document["systemMessage"] = told
    if reason := reply.block or reply.deny:
        document |= {"decision": "deny", "reason": reason}
    elif reply.context:
        output = {"hookEventName": _NAMES[call.event], "additionalContext": reply.context}
        document["hookSpecificOutput"] = output
    return HookAnswer(stdout=json.dumps(document) + "\n")


def _setup(context: HostContext) -> HostSetup:
    """Register hooks in the person's settings, or in those of the project."""
    files = [*shared_skill(context)]
    if not context.hooks:
        return HostSetup(files=tuple(files))
    file = _files(context)["project" if context.shared else "user"]
    notes = ["Gemini CLI runs hooks only in folders that you have told it to trust."]
    if context.shared:
        notes.append(f"Gemini CLI reads {file} only when it is started in {context.root}.")
    return HostSetup(files=(*files, hooks_file(file, NAME, _groups(context))), notes=tuple(notes))


def _files(context: HostContext) -> Mapping[str, Path]:
    folders = {"user": Path(context.environment.get("HOME") or "/"), "project": context.root}
    return {kind: folder / ".gemini" / "settings.json" for kind, folder in folders.items()}


def _groups(context: HostContext) -> Groups:
    program, own_set = shlex.quote(context.program), ""
    if context.shared:
        program, own_set = "grove", f"{SET_VARIABLE}=project "
    # A program that is gone, and each word on standard error, would deny what the agent does.
    run = f"{own_set}exec {program} hook {NAME} 2>/dev/null"
    command = f"command -v {program} >/dev/null 2>&1 || exit 0; {run}"
    own = {name: client for client, name in _GROVES_NAMES.items()}
    before = [*_TOOLS, *(own.get(name, re.escape(name)) for name in context.tools)]
    narrowed = {"BeforeTool": before, "AfterTool": _TOOLS}
    matchers = {event: {"matcher": f"^({'|'.join(one)})$"} for event, one in narrowed.items()}
    hook = {"type": "command", "name": "grove", "command": command}
    groups = {}
    for event in _EVENTS:
        milliseconds = _SECONDS.get(event, _USUAL_SECONDS) * 1000
        timed = {**matchers.get(event, {}), "hooks": [{**hook, "timeout": milliseconds}]}
        groups[event] = [timed]
    return groups


def _registered(context: HostContext) -> Sequence[Registration]:
    """Find grove's hooks in the settings."""
    return registered_among(_files(context), NAME)


def _check(context: HostContext) -> Iterator[CheckResult]:
    """Look for what keeps the client from running hooks."""
    for file in _files(context).values():
        switches = as_table(read(file).get("hooksConfig"))
        if switches.get("enabled") is False or "grove" in as_list(switches.get("disabled")):
            detail, fix = f"{file} switches grove's hooks off", "Take that out of its hooksConfig"
            yield CheckResult(status=Status.BROKEN, detail=detail, fix=fix)


@hookimpl
def grove_hosts() -> Sequence[HostSpec]:
    """Offer Gemini CLI."""
    return [
        HostSpec(
            name=NAME,
            title="Gemini CLI",
            parse=parse,
            answer=answer,
            abilities=HostAbilities(
                context_with_start=False,
                results="the lines after a command's output",
                shell_variables=("GEMINI_CLI",),
                fails_open=False,
                trust="Gemini CLI runs hooks only in folders that you have told it to trust.",
            ),
            setup=_setup,
            registered=_registered,
            events=tuple(_EVENTS),
            check=_check,
        )
    ]

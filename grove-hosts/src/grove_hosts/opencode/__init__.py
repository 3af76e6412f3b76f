"""OpenCode: it has plugins instead of hooks, and grove's calls ``grove hook opencode``.

The plugin's payloads are like Claude Code's; in the answers everything has its name.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import asdict

from grove_core import (
    CodecError,
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
    StartSource,
    StorageError,
    ToolCall,
    ToolResult,
    hookimpl,
    read_text,
)
from grove_hosts.payloads import EVENTS, directory, get, hook_input, text
from grove_hosts.skills import shared_skill

grove_api = 2

NAME: Final = "opencode"
_NEEDED: Final = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
_SHELL: Final = "Bash"
_OWN_TOOLS: Final = (_SHELL, "TodoWrite", "Read", "Edit", "Write")
_FIRST_LINE: Final = "// grove's plugin for OpenCode"
_PROGRAM: Final = re.compile(r'^const PROGRAM = "(.*)"$', re.MULTILINE)
_NOT_SHARED: Final = (
    "OpenCode's plugin is only installed for you alone, without --shared: where a project holds a"
    " plugin, the client installs 63 MB of packages beside it."
)


def parse(
    name: str, payload: Mapping[str, Any], environment: Mapping[str, str]
) -> HookInput | None:
    """Read what the plugin says."""
    del environment
    event = EVENTS.get(name or text(payload, "hook_event_name"))
    if event is None:
        return None
    tool, is_over = _tool_call(payload), event is HookEvent.POST_TOOL_USE
    file = text(tool.input, "file_path") if tool is not None and is_over else ""
    return hook_input(
        event,
        payload,
        prompt_id=text(payload, "prompt_id") or None,
        # The client keeps the instructions of a request with no session: all is told again.
        source=StartSource.COMPACT if text(payload, "source") == "resume" else StartSource.STARTUP,
        plan_mode=text(payload, "agent") == "plan",
        tool=tool,
        result=_result(payload) if is_over else None,
        touched_file=str(Path(directory(payload), file)) if file else "",
        is_tentative=payload.get("tentative") is True,
        process_id=get(payload, "process_id", int, 0) or None,
    )


def _tool_call(payload: Mapping[str, Any]) -> ToolCall | None:
    name, given = text(payload, "tool_name"), get(payload, "tool_input", dict, {})
    if name and name not in _OWN_TOOLS:
        name = f"mcp__{name.replace('_', '__', 1)}"
    use_id, place = text(payload, "tool_use_id"), Path(directory(payload), text(given, "workdir"))
    return ToolCall(name=name, input=given, use_id=use_id or None, cwd=str(place)) if name else None


def _result(payload: Mapping[str, Any]) -> ToolResult:
    """Say whether a call succeeded; a command that ran out of time has no exit code."""
    response = get(payload, "tool_response", dict, {})
    if text(payload, "tool_name") != _SHELL:
        return ToolResult(succeeded=response.get("isError") is not True, response=response)
    code = response.get("exit")
    return ToolResult(succeeded=code == 0 if isinstance(code, int) else None, response=response)


def answer(call: HookInput, reply: HookReply) -> HookAnswer:
    """Tell the plugin what to do."""
    del call
    said = {name: one for name, one in asdict(reply).items() if one}
    return HookAnswer(stdout=json.dumps(said) + "\n" if said else "")


def _plugin(context: HostContext) -> Path:
    """Return where the user's plugin is, which works in all projects."""
    variables = context.environment
    folder = variables.get("XDG_CONFIG_HOME") or Path(variables.get("HOME", ""), ".config")
    return Path(folder, "opencode/plugins/grove.js")


def _setup(context: HostContext) -> HostSetup:
    skill = shared_skill(context)
    if context.shared or not context.hooks:
        return HostSetup(files=(*skill,), notes=(_NOT_SHARED,) if context.hooks else ())

    def put(content: str) -> str:
        if content.strip() and not content.startswith(_FIRST_LINE):
            raise CodecError("it is another plugin")
        source = Path(__file__).with_name("plugin.js").read_text(encoding="utf-8")
        return source.replace('"@PROGRAM@"', json.dumps(context.program))

    file = HostFile(
        path=_plugin(context),
        put=put,
        take=lambda content, _: "" if content.startswith(_FIRST_LINE) else content,
        is_whole=True,
    )
    return HostSetup(files=(*skill, file))


def _registered(context: HostContext) -> Sequence[Registration]:
    path = _plugin(context)
    try:
        programs = _PROGRAM.findall(read_text(path) or "")
    except StorageError:
        programs = []
    return [
        Registration(source=path, kind="user", event=event, program=program)
        for program in programs
        for event in _NEEDED
    ]


@hookimpl
def grove_hosts() -> Sequence[HostSpec]:
    """Offer OpenCode."""
    return [
        HostSpec(
            name=NAME,
            title="OpenCode",
            parse=parse,
            answer=answer,
            abilities=HostAbilities(
                results="the exit code that comes with the result",
                session_variables=("GROVE_SESSION_ID",),
                shell_variables=("OPENCODE",),
            ),
            setup=_setup,
            registered=_registered,
            events=_NEEDED,
        )
    ]

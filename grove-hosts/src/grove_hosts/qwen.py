"""Qwen Code: Claude Code's contract, with names of its own for the tools."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from grove_core import (
    HookAnswer,
    HookEvent,
    HookInput,
    HookReply,
    HostAbilities,
    HostContext,
    HostSetup,
    HostSpec,
    Registration,
    hookimpl,
)
from grove_hosts import claude_code, settings
from grove_hosts.payloads import EVENTS, OWN_WORDS, SET_VARIABLE, USUAL_EVENTS, get, text

grove_api = 2

NAME: Final = "qwen"
_SHELL: Final = {"run_shell_command": "Bash"}
_FILE_TOOLS: Final = {"read_file": "Read", "edit": "Edit", "write_file": "Write"}
_TOOLS: Final = {**_SHELL, **_FILE_TOOLS, "notebook_edit": "NotebookEdit", "agent": "Agent"}
_STARTED: Final = re.compile(r"Background shell started\.\nid: (\S+)")


def parse(_: str, payload: Mapping[str, Any], environment: Mapping[str, str]) -> HookInput | None:
    """Read a hook's payload; an empty prompt stands for what goes back to the model by itself."""
    event = EVENTS.get(text(payload, "hook_event_name"))
    if event is None or (event is HookEvent.USER_PROMPT_SUBMIT and not text(payload, "prompt")):
        return None
    name, response = text(payload, "tool_name"), get(payload, "tool_response", dict, {})
    tasks = map(settings.as_table, get(payload, "background_tasks", list, []))
    source = text(payload, "source")
    told = {
        **payload,
        # What was shown at the start is no part of a session that is resumed.
        "source": "compact" if source == "resume" else source,
        "tool_name": _TOOLS.get(name, name),
        # Only subagents stand among them.
        "background_tasks": [{**task, "type": "subagent"} for task in tasks],
    }
    if started := _STARTED.match(text(response, "llmContent")):
        told["tool_response"] = {**response, "backgroundTaskId": started[1]}
    call = claude_code.parse(event.value, told, {})
    return call and evolve(
        call,
        is_notification=call.prompt.startswith(OWN_WORDS),
        set_of_hooks=environment.get(SET_VARIABLE, ""),
    )


def answer(call: HookInput, reply: HookReply) -> HookAnswer:
    """Say a reply as Claude Code takes it, but blocks and warnings as JSON."""
    if reply.block:
        document = {"decision": "block", "reason": reply.block}
    elif reply.warning:
        document = {"systemMessage": reply.warning}
    else:
        return claude_code.answer(call, reply)
    return HookAnswer(stdout=json.dumps(document) + "\n")


def _setup(context: HostContext) -> HostSetup:
    """Register hooks in the settings, the person's or the project's."""
    file = _files(context)["project" if context.shared else "user"]
    command = shlex.join([context.program, "hook", NAME])
    if context.shared:
        command = f"{SET_VARIABLE}=project grove hook {NAME}"
    # Exit code 2 holds the prompt or the call back, whatever has gone wrong.
    command += " || true"
    hooks = settings.hooks_file(file, NAME, settings.command_groups(command, _matchers(context)))
    notes = (f"Commit {file}; everybody needs grove on PATH.",) if context.shared else ()
    return HostSetup(files=(hooks,), notes=notes) if context.hooks else HostSetup(files=())


def _matchers(context: HostContext) -> Mapping[str, str]:
    own = {ours: name for name, ours in _TOOLS.items()}
    tools = {
        "PreToolUse": [*_SHELL, "mcp__.*", *(own.get(one, one) for one in context.tools)],
        "PostToolUse": [*_SHELL, "mcp__.*", *_FILE_TOOLS],
        "PostToolUseFailure": [*_SHELL, "mcp__.*"],
        **({"SubagentStop": context.agents} if context.agents else {}),
    }
    narrowed = {event: f"^({'|'.join(names)})$" for event, names in tools.items()}
    return {**dict.fromkeys(USUAL_EVENTS, ""), **narrowed}


def _files(context: HostContext) -> Mapping[str, Path]:
    named, home = (context.environment.get(name) for name in ("QWEN_HOME", "HOME"))
    own = Path(named or Path(home or "/", ".qwen")) / "settings.json"
    return {"user": own, "project": context.root / ".qwen" / "settings.json"}


def _registered(context: HostContext) -> Sequence[Registration]:
    """Find grove's hooks in the settings."""
    return settings.registered_among(_files(context), NAME)


@hookimpl
def grove_hosts() -> Sequence[HostSpec]:
    """Offer Qwen Code."""
    return [
        HostSpec(
            name=NAME,
            title="Qwen Code",
            parse=parse,
            answer=answer,
            abilities=HostAbilities(
                most_blocks=8,
                results="an event of its own",
                background=True,
                session_variables=("QWEN_CODE_SESSION_ID",),
                shell_variables=("QWEN_CODE",),
                fails_open=False,
            ),
            setup=_setup,
            registered=_registered,
            events=USUAL_EVENTS,
        )
    ]

"""grove's hooks in Claude Code's configuration: what they look like, and how to know one again."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from grove_core.hosts.contract import HookEvent

SHELL_TOOL: Final = "Bash"
OTHER_TOOLS: Final = "TaskUpdate|TodoWrite|mcp__.*"
# One entry of its own, so that these are exact names and no regular expression.
FILE_TOOLS: Final = "Read|Edit|Write|MultiEdit|NotebookEdit"
ALLOW_RULE: Final = "Bash(grove *)"
# Each condition that fits starts the hook again, side by side; more than these cost more than one
# hook without any.
MOST_CONDITIONS: Final = 3

# What a shell reads from a here-document is seen by nothing but the shell's own name.
_SHELLS: Final = (f"{SHELL_TOOL}(*bash*)", f"{SHELL_TOOL}(sh *)")
_ANY_SHELL: Final = f"{SHELL_TOOL}(*sh*)"
SHELL_CONDITIONS: Final = frozenset({*_SHELLS, _ANY_SHELL})
_PROGRAM: Final = "grove"
_LAUNCHER: Final = "grove-hook"
_SERVER_PROGRAM: Final = "${CLAUDE_PLUGIN_ROOT}/bin/grove-serve"
PLUGIN_SERVER: Final = "plugin:grove:grove"
"""The client's name of the server that the plugin brings."""
HOOK_TOOL: Final = "hook"
"""The server's tool that the client calls for a hook."""
_ARGUMENTS: Final = frozenset(event.value for event in HookEvent)


@frozen(kw_only=True)
class HookSlot:
    """When the client runs a hook."""

    event: HookEvent
    name: str
    timeout: int
    for_tools: bool = False
    for_files: bool = False


SLOTS: Final = (
    HookSlot(event=HookEvent.SESSION_START, name="SessionStart", timeout=15),
    HookSlot(event=HookEvent.USER_PROMPT_SUBMIT, name="UserPromptSubmit", timeout=15),
    HookSlot(event=HookEvent.PRE_TOOL_USE, name="PreToolUse", timeout=25, for_tools=True),
    HookSlot(
        event=HookEvent.POST_TOOL_USE,
        name="PostToolUse",
        timeout=15,
        for_tools=True,
        for_files=True,
    ),
    HookSlot(
        event=HookEvent.POST_TOOL_USE_FAILURE, name="PostToolUseFailure", timeout=15, for_tools=True
    ),
    HookSlot(event=HookEvent.TASK_COMPLETED, name="TaskCompleted", timeout=15),
    HookSlot(event=HookEvent.STOP, name="Stop", timeout=25),
    HookSlot(event=HookEvent.SESSION_END, name="SessionEnd", timeout=3),
)

Group = Mapping[str, Any]


@frozen
class OwnHook:
    """A hook of grove's as a configuration names it."""

    program: str
    arguments: tuple[str, ...]


def own_hook(hook: object) -> OwnHook | None:
    """Return whether a hook is one of grove's, whichever version wrote it."""
    if not isinstance(hook, Mapping):
        return None
    if (hook.get("server"), hook.get("tool")) == (PLUGIN_SERVER, HOOK_TOOL):
        return OwnHook(_SERVER_PROGRAM, ())
    if hook.get("type") != "command":
        return None
    words = _words(hook.get("command"), hook.get("args"))
    match words:
        case [program, "hook", event, *_] if _is_named(program, _PROGRAM):
            pass
        case [program, event, *_] if _is_named(program, _LAUNCHER):
            pass
        case _:
            return None
    return OwnHook(program, tuple(words[1:])) if event in _ARGUMENTS else None


def _words(command: object, arguments: object) -> Sequence[str]:
    if not isinstance(command, str):
        return ()
    if isinstance(arguments, list):
        return [command, *(word for word in arguments if isinstance(word, str))]
    try:
        return shlex.split(command)
    except ValueError:
        return ()


def _is_named(program: str, name: str) -> bool:
    return program.rpartition("/")[2] == name


def conditions_for(literals: Sequence[str]) -> tuple[str, ...]:
    """Say for which shell commands a hook is worth starting."""
    words = _narrowest({literal.partition(" ")[0] for literal in literals})
    shells = _SHELLS if len(words) + len(_SHELLS) <= MOST_CONDITIONS else (_ANY_SHELL,)
    if not words or len(words) + len(shells) > MOST_CONDITIONS:
        return ()
    return tuple(dict.fromkeys((*(f"{SHELL_TOOL}(*{word}*)" for word in words), *shells)))


def _narrowest(words: Collection[str]) -> Sequence[str]:
    """Leave out words that hold another one: what looks for that finds them as well."""
    return sorted(
        word for word in words if not any(other != word and other in word for other in words)
    )


def hook_groups(program: str, conditions: Sequence[str]) -> dict[str, list[Group]]:
    """Make grove's hooks as they stand in the client's settings."""
    return {slot.name: _groups(slot, program, conditions) for slot in SLOTS}


def _groups(slot: HookSlot, program: str, conditions: Sequence[str]) -> list[Group]:
    hook = {
        "type": "command",
        # In shell form: other clients read these settings and drop ``args``.
        "command": shlex.join([program, "hook", slot.event.value]),
        "timeout": slot.timeout,
    }
    if not slot.for_tools:
        return [{"hooks": [hook]}]
    of_files = [{"matcher": FILE_TOOLS, "hooks": [hook]}] if slot.for_files else []
    if not conditions:
        return [{"matcher": f"{SHELL_TOOL}|{OTHER_TOOLS}", "hooks": [hook]}, *of_files]
    narrowed = [{**hook, "if": condition} for condition in conditions]
    return [
        {"matcher": SHELL_TOOL, "hooks": narrowed},
        {"matcher": OTHER_TOOLS, "hooks": [hook]},
        *of_files,
    ]

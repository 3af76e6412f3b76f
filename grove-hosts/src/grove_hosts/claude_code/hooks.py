"""grove's hooks in Claude Code's configuration, and what the session's server is told by them."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from grove_core import HookEvent
from grove_hosts.claude_code import FILE_TOOLS
from grove_hosts.payloads import NAMES

SHELL_TOOL: Final = "Bash"
OTHER_TOOLS: Final = "TaskUpdate|TodoWrite|mcp__.*"
# One entry of its own, so that these are exact names and no regular expression.
_FILE_TOOLS: Final = "|".join(FILE_TOOLS)
ALLOW_RULE: Final = "Bash(grove *)"
# Each condition that fits starts the hook again, side by side; more than these cost more than one
# hook without any.
MOST_CONDITIONS: Final = 3

# What a shell reads from a here-document is seen by nothing but the shell's own name.
_SHELLS: Final = (f"{SHELL_TOOL}(*bash*)", f"{SHELL_TOOL}(sh *)")
_ANY_SHELL: Final = f"{SHELL_TOOL}(*sh*)"
PLUGIN_SERVER: Final = "plugin:grove:grove"
"""The client's name of the server that the plugin brings."""
SERVER: Final = "grove"
"""The name of the server in a project's ``.mcp.json``."""
_SERVERS: Final = {PLUGIN_SERVER: "${CLAUDE_PLUGIN_ROOT}/bin/grove-serve", SERVER: "grove"}
HOOK_TOOL: Final = "hook"
"""The server's tool that the client calls for a hook."""
EVENT_FIELD: Final = "event"
_ARGUMENTS: Final = frozenset(event.value for event in HookEvent)


_COMMON: Final = (
    "session_id",
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
)
_CALL: Final = ("tool_name", "tool_input", "tool_use_id")
_TASK: Final = ("task_id", "task_subject", "task_description")
_ALWAYS: Final = ("",)
_TOOLS: Final = (f"{SHELL_TOOL}|{OTHER_TOOLS}",)


@frozen
class HookSlot:
    """When the client runs a hook, and which fields it tells the session's server."""

    event: HookEvent
    timeout: int
    matchers: tuple[str, ...] = _ALWAYS
    fields: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the client calls the event."""
        return NAMES[self.event]

    @property
    def for_tools(self) -> bool:
        """Return whether it looks at calls that could close a ticket."""
        return self.matchers != _ALWAYS


SLOTS: Final = (
    # At a session's start and end the client has no server to ask.
    HookSlot(HookEvent.SESSION_START, 15),
    HookSlot(HookEvent.USER_PROMPT_SUBMIT, 15, fields=("prompt",)),
    HookSlot(HookEvent.PRE_TOOL_USE, 25, _TOOLS, _CALL),
    HookSlot(HookEvent.POST_TOOL_USE, 15, (*_TOOLS, _FILE_TOOLS), (*_CALL, "tool_response")),
    HookSlot(HookEvent.POST_TOOL_USE_FAILURE, 15, _TOOLS, (*_CALL, "error")),
    HookSlot(HookEvent.TASK_COMPLETED, 15, fields=_TASK),
    HookSlot(HookEvent.STOP, 25, fields=("stop_hook_active", "background_tasks")),
    HookSlot(HookEvent.SESSION_END, 3),
)
# A stop's command waits for the server's answer, and is the gate itself if that has died.
_STOP_BESIDE_SERVER: Final = 50
_TIMEOUT_OF_A_GATE: Final = 25

Group = Mapping[str, Any]


def own_hook(hook: object) -> Sequence[str]:
    """Return the words that a hook runs if it is one of grove's, whichever version wrote it."""
    if not isinstance(hook, Mapping):
        return ()
    if hook.get("tool") == HOOK_TOOL and hook.get("server") in _SERVERS:
        return (_SERVERS[hook["server"]],)
    command, arguments = hook.get("command"), hook.get("args")
    if hook.get("type") != "command" or not isinstance(command, str):
        return ()
    try:
        words = [command] if isinstance(arguments, list) else shlex.split(command)
    except ValueError:
        return ()
    if isinstance(arguments, list):
        words += [word for word in arguments if isinstance(word, str)]
    match [words[0].rpartition("/")[2], *words[1:]] if words else ():
        case ["grove", "hook", event, *_] | ["grove-hook", event, *_] if event in _ARGUMENTS:
            return words
    return ()


def conditions_for(literals: Sequence[str], of_gates: Sequence[str] = ()) -> tuple[str, ...]:
    """Say for which shell commands a hook is worth starting; nothing where it is for any.

    What gates of plugins look for comes on top: such a word is in few other commands.
    """
    words = _first_words(literals)
    shells = _SHELLS if len(words) + len(_SHELLS) <= MOST_CONDITIONS else (_ANY_SHELL,)
    if not words or len(words) + len(shells) > MOST_CONDITIONS or "" in of_gates:
        return ()
    added = [word for word in _first_words((*words, *of_gates)) if word not in words]
    found = (*map(_condition, words), *shells, *map(_condition, added))
    return tuple(dict.fromkeys(found))


def _first_words(literals: Sequence[str]) -> list[str]:
    """Take first words, without those that hold another: what looks for that finds them as well."""
    firsts = {literal.partition(" ")[0] for literal in literals}
    return sorted(one for one in firsts if not any(two != one and two in one for two in firsts))


def _condition(word: str) -> str:
    return f"{SHELL_TOOL}(*{word}*)"


def hook_groups(program: str, conditions: Sequence[str]) -> dict[str, list[Group]]:
    """Make grove's hooks as commands."""
    return {slot.name: _command_groups(slot, program, conditions) for slot in SLOTS}


def server_groups(server: str) -> dict[str, list[Group]]:
    """Make the hooks that the session's server answers."""
    return {
        slot.name: [_group(matcher, _server_hook(slot, server)) for matcher in slot.matchers]
        for slot in SLOTS
        if slot.fields
    }


def hook_groups_with_server(program: str) -> dict[str, list[Group]]:
    """Make hooks for the project's server, with commands where it cannot answer and at stops."""
    asked, stop = server_groups(SERVER), _command(HookEvent.STOP, program, _STOP_BESIDE_SERVER)
    return {**hook_groups(program, ()), **asked, "Stop": [*asked["Stop"], _group("", stop)]}


def with_gates(
    groups: Mapping[str, list[Group]], program: str, tools: Sequence[str], agents: Sequence[str]
) -> dict[str, list[Group]]:
    """Add what gates of plugins must see besides: calls of some tools, stops of some subagents."""
    added = dict(groups)
    for event, names in ((HookEvent.PRE_TOOL_USE, tools), (HookEvent.SUBAGENT_STOP, agents)):
        if names:
            name, hook = NAMES[event], _command(event, program, _TIMEOUT_OF_A_GATE)
            added[name] = [*added.get(name, ()), _group("|".join(names), hook)]
    return added


def _command_groups(slot: HookSlot, program: str, conditions: Sequence[str]) -> list[Group]:
    hook = _command(slot.event, program, slot.timeout)
    if not conditions or slot.matchers == _ALWAYS:
        return [_group(matcher, hook) for matcher in slot.matchers]
    narrowed = [{**hook, "if": condition} for condition in conditions]
    others = [_group(matcher, hook) for matcher in (OTHER_TOOLS, *slot.matchers[1:])]
    return [_group(SHELL_TOOL, *narrowed), *others]


def _group(matcher: str, *hooks: Group) -> Group:
    return {**({"matcher": matcher} if matcher else {}), "hooks": [*hooks]}


def _command(event: HookEvent, program: str, timeout: int) -> Group:
    # In shell form: other clients read these settings and drop ``args``.
    command = shlex.join([program, "hook", event.value])
    return {"type": "command", "command": command, "timeout": timeout}


def _server_hook(slot: HookSlot, server: str) -> Group:
    fields = {name: f"${{{name}}}" for name in (*_COMMON, *slot.fields)}
    return {
        "type": "mcp_tool",
        "server": server,
        "tool": HOOK_TOOL,
        "input": {EVENT_FIELD: slot.name, **fields},
        "timeout": slot.timeout,
    }

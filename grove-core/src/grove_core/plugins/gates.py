"""What a plugin hands to grove that has a gate of its own: when the agent is held, and why.

A gate decides from what it is told and from what it has kept, and does no I/O. grove keeps its
state with the session, writes its trace, and prints its answers as the client takes them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from attrs import field

from grove_core.model.ticket import BackgroundTask, Ticket, TicketClose, ToolCall
from grove_core.model.value import TEXT, TEXTS, Value, checked, frozen
from grove_core.plugins.descriptors import CLASS_OR_NONE, FUNCTION, NAME, ProjectContext

LARGEST_STATE: Final = 256 * 1024
"""Bytes, as JSON."""


def _is_document(value: object) -> bool:
    try:
        if not isinstance(value, Mapping):
            return False
        text = json.dumps(dict(value), ensure_ascii=False)
        return len(text.encode("utf-8", "surrogatepass")) <= LARGEST_STATE
    except (TypeError, ValueError, RecursionError):
        return False


@frozen(kw_only=True, eq=False, repr=False)
class GateCall(Value):
    """What happens in a session, as a gate is told of it.

    Attributes:
        session_id: The client's session id.
        prompt_id: The client's id of the user prompt that the work belongs to, if it is known.
        prompt: The prompt, where one arrives.
        tool: The tool call that is about to run.
        commands: The simple commands that a shell call would run, each as its words, the program
            first; ``None`` stands for a word that only the running shell knows.
        closes: The tickets that the call would close, as ticket systems say.
        agent_id: The subagent whose call or whose end it is; ``None`` for the main agent.
        agent_type: The client's name of the kind of that agent; empty when it is not known.
        plan_mode: Whether the agent plans and must not act.
        background: Work that goes on in the background at a stop.
        work: A fingerprint of the project's files as git sees them, for gates that ask for it
            (``PluginGate.watches_work``); empty where git cannot tell.
        tickets: The tickets of the session's work: the current one, or those that were closed.
    """

    session_id: str
    prompt_id: str | None = None
    prompt: str = ""
    tool: ToolCall | None = None
    commands: tuple[tuple[str | None, ...], ...] = ()
    closes: tuple[TicketClose, ...] = ()
    agent_id: str | None = None
    agent_type: str = ""
    plan_mode: bool = False
    background: tuple[BackgroundTask, ...] = ()
    work: str = ""
    tickets: tuple[Ticket, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class GateAnswer(Value):
    """What a gate answers.

    Attributes:
        state: What it keeps, a JSON document of at most 256 KiB; an empty one is not kept. At stops
            grove asks only gates that keep something.
        block: Why the agent may not stop; empty lets it. Only for the two kinds of stops.
        deny: Why a tool call may not run; empty has no opinion. Only before a tool call.
        context: Text for the agent, with a prompt.
        warning: What the user should know, for grove's log.
        trace: Lines for the session's trace.
        outcome: What it came to, such as ``approved``, where a cycle of the gate ends: ``grove
            stats`` counts them.
    """

    state: Mapping[str, Any] = field(
        validator=checked(_is_document, "a JSON document of at most 256 KiB")
    )
    block: str = field(default="", validator=TEXT)
    deny: str = field(default="", validator=TEXT)
    context: str = field(default="", validator=TEXT)
    warning: str = field(default="", validator=TEXT)
    trace: tuple[str, ...] = field(default=(), validator=TEXTS)
    outcome: str = field(default="", validator=TEXT)


class PluginGate:
    """A gate: a class of a plugin derives from it and overrides what it looks at.

    Each method is given what has happened, what the gate has kept for the session (an empty
    document at first) and the time, and answers at once, without any I/O. It is called with a time
    limit while the session is locked; one that fails lets the agent go on.

    Attributes:
        literals: Words of which one must stand in a tool call for the gate to be asked about it, as
            in ``CloseMatcher.literals``; an empty text asks about every call of the tools that
            grove's hooks see. Calls that would close a ticket are always asked about.
        prompts: Texts of which one must stand in a prompt, in small letters, for a gate to be asked
            about it that keeps nothing for the session; an empty text asks about every prompt.
        tools: Names of client tools, beside shells and MCP tools, whose calls it must see; ``grove
            init --hooks`` registers them.
        agents: Kinds of subagents whose stop it must see, as the client names them; ``grove init
            --hooks`` registers them.
        most_blocks: How often it stops the agent in a row at most.
        watches_work: Whether ``GateCall.work`` is needed with prompts and at stops; git is asked.
    """

    literals: Sequence[str] = ()
    prompts: Sequence[str] = ("",)
    tools: Sequence[str] = ()
    agents: Sequence[str] = ()
    most_blocks: int = 3
    watches_work: bool = False

    def on_prompt(self, call: GateCall, state: Mapping[str, Any], now: datetime) -> GateAnswer:
        """Take notice of a user prompt; ``context`` of the answer is given to the agent."""
        del call, now
        return GateAnswer(state=state)

    def before_tool(self, call: GateCall, state: Mapping[str, Any], now: datetime) -> GateAnswer:
        """Let a tool call go on to the client's own permissions, or deny it."""
        del call, now
        return GateAnswer(state=state)

    def on_stop(self, call: GateCall, state: Mapping[str, Any], now: datetime) -> GateAnswer:
        """Let the agent stop, or hold it."""
        del call, now
        return GateAnswer(state=state)

    def on_subagent_stop(
        self, call: GateCall, state: Mapping[str, Any], now: datetime
    ) -> GateAnswer:
        """Let a subagent stop, or hold it."""
        del call, now
        return GateAnswer(state=state)

    def pending(self, state: Mapping[str, Any]) -> str:
        """Say in one line what the session still has to do for the gate; empty when nothing."""
        del state
        return ""


@frozen(kw_only=True, eq=False, repr=False)
class GateSpec(Value):
    """A gate that a plugin offers.

    Attributes:
        name: The gate's name, and that of its section ``[gates.<name>]``.
        open: Gives the gate for a project, or ``None`` where its settings switch it off. The
            settings of its context are ``None`` where nothing is said in its section.
        settings: An attrs class for its section, or ``None``.
    """

    name: str = field(validator=NAME)
    open: Callable[[ProjectContext], PluginGate | None] = field(validator=FUNCTION)
    settings: type | None = field(default=None, validator=CLASS_OR_NONE)

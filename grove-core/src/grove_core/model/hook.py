"""One hook call as grove understands it, what grove wants then, and what the client is told."""

from enum import Enum
from typing import Final

from grove_core.model.ticket import BackgroundTask, ToolCall, ToolResult
from grove_core.model.value import Value, frozen

CONTEXT_LIMIT: Final = 9_000
"""Bytes of text for the agent in one reply; clients cut or file away what is longer."""


class HookEvent(Enum):
    """The events that grove handles, by the names of ``grove hook``."""

    SESSION_START = "session-start"
    USER_PROMPT_SUBMIT = "user-prompt-submit"
    PRE_TOOL_USE = "pre-tool-use"
    POST_TOOL_USE = "post-tool-use"
    POST_TOOL_USE_FAILURE = "post-tool-use-failure"
    TASK_COMPLETED = "task-completed"
    STOP = "stop"
    SUBAGENT_STOP = "subagent-stop"
    SESSION_END = "session-end"


class StartSource(Enum):
    """Why a session starts."""

    STARTUP = "startup"
    RESUME = "resume"
    CLEAR = "clear"
    COMPACT = "compact"
    FORK = "fork"

    @classmethod
    def _missing_(cls, _: object) -> "StartSource":
        return cls.STARTUP

    @property
    def continues(self) -> bool:
        """Whether an earlier state of the same session goes on."""
        return self in (StartSource.RESUME, StartSource.COMPACT)


@frozen(kw_only=True, eq=False, repr=False)
class HookInput(Value):
    """One hook call, as grove understands it.

    Attributes:
        event: What happens.
        host: The host's name, which grove fills in.
        session_id: The client's id of the session, the same for its subagents' calls.
        cwd: The agent's directory, absolute; empty when the client does not say.
        transcript_path: The client's transcript, which the adapter can read; empty for none.
        prompt_id: The client's id of the user prompt that the work belongs to.
        agent_id: The subagent whose call or whose end it is; ``None`` for the main agent.
        agent_type: The client's name of the kind of that agent.
        source: Why the session starts.
        prompt: The prompt.
        is_notification: Whether no person wrote the prompt: a notice of the client, or grove's own
            reason for a block that comes back.
        plan_mode: Whether the agent plans and must not act.
        tool: The tool call, under grove's names.
        result: What became of it.
        is_over: Whether the call has run already though no hook was told of it before.
        touched_file: The file that the call has touched, absolute, if it is one.
        background: Work that goes on in the background at a stop.
        stop_hook_active: Whether the client says that a block keeps the agent at work.
        is_tentative: Whether the agent may yet go on by itself: a block is answered and does not
            count, and the client asks again if that was the end.
        process_id: The client's process, if it is known.
        set_of_hooks: Tells two registrations of grove for one client apart.
        tools: How the names of the session server's tools begin; empty where there is none.
        environment_file: A file of shell lines that the agent's later shells read.
    """

    event: HookEvent
    session_id: str
    host: str = ""
    cwd: str = ""
    transcript_path: str = ""
    prompt_id: str | None = None
    agent_id: str | None = None
    agent_type: str = ""
    source: StartSource = StartSource.STARTUP
    prompt: str = ""
    is_notification: bool = False
    plan_mode: bool = False
    tool: ToolCall | None = None
    result: ToolResult | None = None
    is_over: bool = False
    touched_file: str = ""
    background: tuple[BackgroundTask, ...] = ()
    stop_hook_active: bool = False
    is_tentative: bool = False
    process_id: int | None = None
    set_of_hooks: str = ""
    tools: str = ""
    environment_file: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class HookReply(Value):
    """What grove wants of the client.

    Attributes:
        context: Text for the agent, at most ``CONTEXT_LIMIT`` bytes.
        message: One line for the person.
        block: Why the agent must go on; only at stops.
        deny: Why the call must not run; only before a tool call.
        warning: What the person should know while the agent goes on.
    """

    context: str = ""
    message: str = ""
    block: str = ""
    deny: str = ""
    warning: str = ""


NO_REPLY: Final = HookReply()


@frozen(kw_only=True, eq=False, repr=False)
class HookAnswer(Value):
    """What a hook's process prints and exits with."""

    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""


SILENCE: Final = HookAnswer()

"""What grove needs to know of a hook call, and what it answers, whatever the client."""

from enum import Enum

from attrs import frozen

from grove_core.model.ticket import BackgroundTask, ToolCall, ToolResult
from grove_core.model.value import Value


class HookEvent(Enum):
    """The hook events that grove handles, by the names of ``grove hook``."""

    SESSION_START = "session-start"
    USER_PROMPT_SUBMIT = "user-prompt-submit"
    PRE_TOOL_USE = "pre-tool-use"
    POST_TOOL_USE = "post-tool-use"
    POST_TOOL_USE_FAILURE = "post-tool-use-failure"
    TASK_COMPLETED = "task-completed"
    STOP = "stop"
    SESSION_END = "session-end"


class StartSource(Enum):
    """Why a session starts."""

    STARTUP = "startup"
    RESUME = "resume"
    CLEAR = "clear"
    COMPACT = "compact"
    FORK = "fork"

    @property
    def continues(self) -> bool:
        """Whether an earlier state of the same session goes on."""
        return self in (StartSource.RESUME, StartSource.COMPACT)


@frozen(kw_only=True, eq=False, repr=False)
class HookInput(Value):
    """One hook call.

    Attributes:
        event: The event.
        session_id: The client's session id, checked.
        cwd: The agent's directory, absolute; empty when unknown.
        transcript_path: The client's transcript; empty when unknown.
        prompt_id: The client's id of the current user prompt.
        agent_id: The client's id of the subagent that acts; ``None`` for the main agent.
        source: Why the session starts.
        prompt: The user's prompt.
        is_notification: Whether the prompt is the client's own notice of finished work.
        plan_mode: Whether the client is only planning.
        tool: The tool call.
        result: What became of it.
        touched_file: The file that it has read or changed, absolute; empty for other calls.
        background: Work still running in the background.
        stop_hook_active: Whether an earlier stop of this prompt was blocked.
        reason: Why the session ends.
        process_id: The client's process.
        set_of_hooks: Which of the client's sets of hooks made the call: it may hold several.
        tools: How the names of the agent's tools begin, where a server offers them.
        environment_file: A file whose lines reach later shell calls of the agent.
    """

    event: HookEvent
    session_id: str
    cwd: str = ""
    transcript_path: str = ""
    prompt_id: str | None = None
    agent_id: str | None = None
    source: StartSource = StartSource.STARTUP
    prompt: str = ""
    is_notification: bool = False
    plan_mode: bool = False
    tool: ToolCall | None = None
    result: ToolResult | None = None
    touched_file: str = ""
    background: tuple[BackgroundTask, ...] = ()
    stop_hook_active: bool = False
    reason: str = ""
    process_id: int | None = None
    set_of_hooks: str = ""
    tools: str = ""
    environment_file: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Answer(Value):
    """What a hook process prints and exits with.

    Attributes:
        exit_code: 0 to go on, 2 to block, 3 after a crash.
        stdout: For the client; empty or one whole answer.
        stderr: For the agent when blocking, else for the person.
    """

    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""


SILENCE = Answer()

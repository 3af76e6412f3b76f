"""What grove needs to know of a hook call, and what it answers, whatever the client."""

from enum import Enum

from grove_core.model.ticket import BackgroundTask, ToolCall, ToolResult
from grove_core.model.value import Value, frozen


class HookEvent(Enum):
    """The hook events that grove handles, by the names of ``grove hook``."""

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
    """One hook call."""

    event: HookEvent
    session_id: str
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
    """Whether the call has run already: no hook was told of it before."""
    touched_file: str = ""
    background: tuple[BackgroundTask, ...] = ()
    stop_hook_active: bool = False
    process_id: int | None = None
    set_of_hooks: str = ""
    tools: str = ""
    environment_file: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Answer(Value):
    """What a hook process prints and exits with."""

    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""


SILENCE = Answer()

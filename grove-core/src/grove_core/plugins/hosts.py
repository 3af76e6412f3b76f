"""What a plugin hands to grove for a client: its payloads in, grove's replies out, its settings.

A client, such as a coding agent on the command line, is a *host*. Its adapter translates: what the
client says becomes a ``HookInput``, what grove wants becomes a ``HookAnswer``. Tools have grove's
names whatever the client calls them: ``Bash`` runs shell text in ``input["command"]``,
``mcp__SERVER__TOOL`` is a tool of an MCP server.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final

from attrs import field

from grove_core.model.check import CheckResult
from grove_core.model.ticket import BackgroundTask, ToolCall, ToolResult
from grove_core.model.value import FLAG, TEXT, TEXTS, Value, frozen, instance_of
from grove_core.plugins.descriptors import FUNCTION, NAME, CloseMatcher

DEFAULT_HOST: Final = "claude-code"
"""Whose hooks name an event and no host; those that were written first do."""
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


class Hold(Enum):
    """What a client does with a block at a stop."""

    HOLDS = "holds"
    """The agent goes on, with the reason."""
    ASKS = "asks"
    """The reason becomes the next message, where the client takes it."""
    NONE = "none"
    """The agent stops all the same."""


@frozen(kw_only=True, eq=False, repr=False)
class HostAbilities(Value):
    """What a client can do for grove; the documentation's table and ``grove doctor`` say it.

    Attributes:
        hold: What it does with a block.
        most_blocks: How many blocks in a row it obeys; ``None`` for any number.
        context_with_start: Whether text that answers the start reaches the agent; else grove gives
            it with the session's first prompt.
        results: How the adapter sees that a command failed, in a few words; empty if it cannot.
        background: Whether a stop says what still runs.
        session_variables: Variables of the agent's shell that hold the session's id.
        shell_variables: Other variables that the agent's shell has and a person's has not.
        fails_open: Whether the agent goes on when a hook's program is missing or crashes.
        trust: What the person must do before hooks run, in a sentence; empty for nothing.
        sandboxed: Whether the agent's shell may usually not write outside of the project.
        driven: Whether the adapter was tried with the real client; else its page says so.
    """

    hold: Hold = field(default=Hold.HOLDS, validator=instance_of(Hold))
    most_blocks: int | None = None
    context_with_start: bool = field(default=True, validator=FLAG)
    results: str = field(default="", validator=TEXT)
    background: bool = field(default=False, validator=FLAG)
    session_variables: tuple[str, ...] = field(default=(), validator=TEXTS)
    shell_variables: tuple[str, ...] = field(default=(), validator=TEXTS)
    fails_open: bool = field(default=True, validator=FLAG)
    trust: str = field(default="", validator=TEXT)
    sandboxed: bool = field(default=False, validator=FLAG)
    driven: bool = field(default=True, validator=FLAG)


@frozen(kw_only=True, eq=False, repr=False)
class HostContext(Value):
    """Where an adapter installs grove, or looks for it.

    Attributes:
        root: The project's root.
        environment: The process's environment.
        program: grove's program, an absolute path; what a hook is to run.
        matchers: How closes of the ticket systems that are used here are recognised: their tools
            and words.
        gate_words: Words without which no plugin's gate looks at a shell command; an empty one for
            any command.
        tools: Names of tools, beside shells and MCP tools, that plugins' gates must see.
        agents: Kinds of subagents whose stop plugins' gates must see.
        protocol: What an agent should know of grove's gate, in Markdown.
        hooks: Whether hooks are to be registered.
        shared: Whether the files that the team commits are meant, not the person's own.
        server: Whether the session's server is to answer hooks, where the client can.
        allow: Whether the agent may run grove without a question, where the client has such a rule.
        rules: Whether the protocol is to be written as a rule, where the client reads such files.
        status_line: Whether the client's status line is to show grove.
    """

    root: Path
    environment: Mapping[str, str]
    program: str = ""
    matchers: tuple[CloseMatcher, ...] = ()
    gate_words: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    protocol: str = ""
    hooks: bool = True
    shared: bool = False
    server: bool = False
    allow: bool = False
    rules: bool = False
    status_line: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class HostFile(Value):
    """A file of the client's that grove writes to.

    grove keeps what was there before and puts it back, byte by byte, unless somebody has edited the
    file since.

    Attributes:
        path: The file, absolute; in the project, or in the client's own directory of the user.
        put: From the file's text, empty where there is none, to the text with grove's entries.
            Raises ``CodecError`` where the text cannot be changed safely.
        take: From the file's text, and what it was before grove wrote there, as far as is known, to
            the text without grove's entries.
        is_whole: Whether all of the file is grove's; such a file is removed again.
        said: What a text means to the client; two texts that mean the same count as unedited.
    """

    path: Path
    put: Callable[[str], str] = field(validator=FUNCTION)
    take: Callable[[str, str], str] = field(validator=FUNCTION)
    is_whole: bool = field(default=False, validator=FLAG)
    said: Callable[[str], Any] = field(default=str.strip, validator=FUNCTION)


@frozen(kw_only=True, eq=False, repr=False)
class HostSetup(Value):
    """What installing grove for a client takes.

    Attributes:
        files: What is written.
        notes: What the person should know or do, such as steps of trust, in sentences.
    """

    files: tuple[HostFile, ...]
    notes: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class Registration(Value):
    """A hook of grove's that a client is told to run.

    Attributes:
        source: The file that says so.
        kind: Whose it is: ``user``, ``project``, ``local`` or ``plugin``.
        event: The client's name of the event.
        program: The program that it runs.
        matcher: For which tools, in the client's words.
        condition: A narrower condition, in the client's words.
        arguments: The program's arguments.
    """

    source: Path
    kind: str
    event: str
    program: str
    matcher: str | None = None
    condition: str | None = None
    arguments: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class HostSpec(Value):
    """A client that grove can work in.

    The entry point in ``grove.hosts`` is named like the host: a hook imports no other.

    Attributes:
        name: The host's name: ``grove hook NAME``, ``grove init --hooks NAME``.
        title: The client's own name, for people.
        parse: From the event's name (as given after ``grove hook``, empty where the host's name
            stands), the payload and the environment to a call; ``None`` where grove has nothing to
            do. Raises ``CodecError`` for a payload that makes no sense. It may read the client's
            transcript, and nothing else.
        answer: From a call and grove's reply to what the process prints.
        abilities: What the client can do.
        setup: What installing takes.
        registered: Finds grove's hooks in the client's settings.
        events: The client's names of the events that must be registered.
        check: Looks for what else keeps hooks from running, for ``grove doctor``.
        edited_files: From a transcript and an offset in bytes to the files that the agent's calls
            have edited since; an empty text stands for an unnamed one. ``None`` where it cannot be
            told.
    """

    name: str = field(validator=NAME)
    title: str = field(validator=NAME)
    parse: Callable[[str, Mapping[str, Any], Mapping[str, str]], HookInput | None] = field(
        validator=FUNCTION
    )
    answer: Callable[[HookInput, HookReply], HookAnswer] = field(validator=FUNCTION)
    abilities: HostAbilities = field(validator=instance_of(HostAbilities))
    setup: Callable[[HostContext], HostSetup] = field(validator=FUNCTION)
    registered: Callable[[HostContext], Sequence[Registration]] = field(validator=FUNCTION)
    events: tuple[str, ...] = field(validator=TEXTS)
    check: Callable[[HostContext], Iterable[CheckResult]] | None = None
    edited_files: Callable[[str, int], Iterable[str]] | None = None

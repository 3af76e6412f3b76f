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
from grove_core.model.hook import HookAnswer, HookInput, HookReply
from grove_core.model.value import FLAG, TEXT, TEXTS, Value, frozen, instance_of
from grove_core.plugins.descriptors import FUNCTION, NAME, CloseMatcher

DEFAULT_HOST: Final = "claude-code"
"""Whose hooks name an event and no host; those that were written first do."""


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

"""What a plugin hands to grove: frozen descriptors whose factories do the work when called.

A descriptor is cheap to make. Anything that is slow to import belongs inside the function that a
descriptor names, not at the top of the plugin's module: hooks run on every tool call.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from attrs import field

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import (
    Capability,
    Changes,
    Detection,
    Filters,
    Health,
    Hit,
    Query,
    Receipt,
    StorageLayout,
    Synchronised,
)
from grove_core.model.ticket import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_core.model.value import FLAG, TEXT, TEXTS, Value, checked, frozen, instance_of, tuple_of

if TYPE_CHECKING:
    # Most hooks ask for no trust.
    from grove_core.storage.trust import TrustRequest


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != "" and value == value.strip() and value.isprintable()


def _are(is_one: Callable[[Any], object], value: object) -> bool:
    return isinstance(value, tuple) and value != () and all(map(is_one, value))


_LITERAL: Final = r"[A-Za-z0-9_-]+(?: [A-Za-z0-9_-]+)*"
NAME: Final = checked(_is_name, "one line of text, not empty, without blanks at its ends")
_TOOLS: Final = checked(partial(_are, _is_name), "a tuple of one or more names")
FUNCTION: Final = checked(callable, "a function")
_FUNCTION_OR_NONE: Final = checked(
    lambda value: value is None or callable(value), "a function or None"
)
CLASS_OR_NONE: Final = checked(
    lambda value: value is None or isinstance(value, type), "a class or None"
)
_LITERALS: Final = checked(
    partial(_are, lambda one: isinstance(one, str) and re.fullmatch(_LITERAL, one)),
    "a tuple of words of ASCII letters, digits, - and _, or of several with blanks between",
)


@frozen(kw_only=True, eq=False, repr=False)
class ProjectContext(Value):
    """Where a plugin is asked to look.

    Attributes:
        root: The project's root.
        cwd: The directory the agent is in, at or below the root.
        environment: The process's environment.
        session_id: The client's session id; empty outside a session.
        settings: The plugin's own configuration section, validated, or ``None``.
    """

    root: Path
    cwd: Path
    environment: Mapping[str, str] = field(factory=dict)
    session_id: str = ""
    settings: Any = None


Confirm = Callable[[TicketClose, ToolResult | None, ProjectContext], Confirmation]


class EnabledWhen(Enum):
    """When the closes of a ticket system count."""

    DETECTED = "detected"
    """Wherever the system detects itself."""
    ACTIVE = "active"
    """Only where it is the active system of an initialised project, or overridden."""
    OVERRIDDEN = "overridden"
    """Only where ``ticketing.overrides.<name> = true``: its marker says nothing about a project."""


@frozen(kw_only=True, eq=False, repr=False)
class TicketProbe(Value):
    """How grove finds out whether a ticket system is used in a project.

    Attributes:
        name: The system's name, the same as in its ``CloseMatcher``.
        detect: Returns what gives the system away, or ``None``; looks at file names only and takes
            at most two milliseconds.
        current_ticket: Returns which ticket is in progress, or ``None``; called with a time limit.
        paths: Paths relative to the project root that belong to the system: changes there are not
            work.
        enabled_when: When its closes count.
        per_session: The system has no tickets: where it is the active one, a session's changes arm
            the gate (session mode).
        settings: An attrs class for the section ``[tickets.<name>]``, or ``None``.
    """

    name: str = field(validator=NAME)
    detect: Callable[[ProjectContext], Detection | None] = field(validator=FUNCTION)
    current_ticket: Callable[[ProjectContext], Ticket | None] | None = field(
        default=None, validator=_FUNCTION_OR_NONE
    )
    paths: tuple[str, ...] = field(default=(), validator=TEXTS)
    enabled_when: EnabledWhen = field(
        default=EnabledWhen.DETECTED, validator=instance_of(EnabledWhen)
    )
    per_session: bool = field(default=False, validator=FLAG)
    settings: type | None = field(default=None, validator=CLASS_OR_NONE)


@frozen(kw_only=True, eq=False, repr=False)
class CloseMatcher(Value):
    """How grove recognises that a tool call closes tickets.

    A system may have several, for tools of different kinds; the first one's ``confirm`` is asked.

    Attributes:
        system: The ticket system's name.
        literals: Whole words (letters, digits, ``-``, ``_``; ASCII) of which at least one stands in
            the input of every call that could match; of an entry with blanks, such as
            ``bug status``, every word does. Other calls are never looked at.
        tools: Names of the client's tools to look at; a trailing ``*`` stands for any ending.
        match: From a call to the tickets it would close or open again, in the order in which that
            would happen. It must not run anything.
        confirm: Says afterwards whether a close really happened; called with a time limit. The
            result is ``None`` when the state is asked for again later.
        once_per_prompt: At most one gate cycle is opened for this system in a user prompt.
    """

    system: str = field(validator=NAME)
    literals: tuple[str, ...] = field(validator=_LITERALS)
    tools: tuple[str, ...] = field(validator=_TOOLS)
    match: Callable[[ToolCall, ProjectContext], Sequence[TicketClose]] = field(validator=FUNCTION)
    confirm: Confirm | None = field(default=None, validator=_FUNCTION_OR_NONE)
    once_per_prompt: bool = field(default=False, validator=FLAG)


@frozen(kw_only=True, eq=False, repr=False)
class CommandReader(Value):
    """How grove sees which commands a call of a shell would run.

    Attributes:
        tools: Names of the client's tools that run shell text.
        read: From a call to the simple commands that it would run, each as its words, the program
            first; ``None`` stands for a word that only the running shell knows. It must not run
            anything.
    """

    tools: tuple[str, ...] = field(validator=_TOOLS)
    read: Callable[[ToolCall], Sequence[Sequence[str | None]]] = field(validator=FUNCTION)


class Area(Enum):
    """Whose learnings a backend is opened for."""

    PROJECT = "project"
    PERSONAL = "personal"


@frozen(kw_only=True, eq=False, repr=False)
class BackendContext(Value):
    """Where a memory backend is to work.

    Attributes:
        root: The project's root.
        home: grove's own directory of the user (``GROVE_HOME``).
        area: The project's learnings, or the user's personal ones.
        environment: The process's environment.
        settings: The backend's own configuration section, validated, or ``None``.
        layout: How learnings are to lie in the project (``storage.layout``): a backend that keeps
            them in the project's files writes new ones so, and reads either way.
        in_hook: Whether a hook of the client waits for the answer: no other program and no server
            may be asked then.
        trusted: Digests of the requests (``TrustRequest``) that the user has agreed to for this
            project with ``grove trust``.
    """

    root: Path
    home: Path
    area: Area = Area.PROJECT
    environment: Mapping[str, str] = field(factory=dict)
    settings: Any = None
    layout: StorageLayout = StorageLayout.SINGLE
    in_hook: bool = False
    trusted: frozenset[str] = frozenset()


@runtime_checkable
class MemoryBackend(Protocol):
    """Where learnings are kept.

    Every backend can write, search and ping. What else it can do, ``capabilities`` says; a call
    without the capability raises ``UnsupportedError``. Failures are raised as ``BackendError``,
    or as ``StorageError`` where a file is the cause.

    Each call may come in another thread, never two at once on one backend unless an earlier call
    was late and is still running. What belongs to one thread does not do: a SQLite connection that
    is kept between calls needs ``check_same_thread=False``.
    """

    @property
    def name(self) -> str:
        """The backend's name, the same as in its ``BackendSpec``."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do besides write, search and ping."""
        ...

    def write(self, learning: Learning) -> Receipt:
        """Store a learning.

        Writing a learning whose id is already stored changes nothing.

        Args:
            learning: What to store; its scope has been routed already.

        Returns:
            What was done: stored, or duplicate when the id was there already. Where a server holds
            the learnings (``SYNCHRONISE``), queued as well: it is stored here and waits for that.

        Raises:
            BackendError: It could not be stored.
        """
        ...

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        """Find learnings that fit a query.

        Args:
            query: What to look for; an empty query finds everything, with relevance 0.
            filters: What may be returned.

        Returns:
            Hits, most relevant first.

        Raises:
            BackendError: The store could not be searched.
        """
        ...

    def ping(self) -> Health:
        """Look whether the store works, really.

        Returns:
            Its health; never raises.
        """
        ...

    def get(self, learning_id: str) -> Learning | None:
        """Fetch one learning of any status (capability ``GET``).

        Args:
            learning_id: Its id.

        Returns:
            The learning, or ``None`` when there is none of that id.
        """
        ...

    def iterate(self) -> Iterable[Learning]:
        """Go through all learnings of any status (capability ``ITERATE``), oldest first."""
        ...

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        """Archive, restore or supersede a learning (capability ``SET_STATUS``).

        Args:
            learning_id: Its id.
            status: The new status.
            note: A few words for people, such as ``decayed 2026-05-07``.

        Returns:
            The learning with its new status.

        Raises:
            LearningNotFoundError: There is none of that id.
        """
        ...


@frozen(kw_only=True, eq=False, repr=False)
class Freshness(Value):
    """How well what a memory backend keeps here stands for what its server has.

    Attributes:
        source: What the server is called, for people, such as ``the memory server notes``.
        mark: A file that was last written when both were in line, whether it is there or not.
        waiting: Ids of what has not got to the server yet.
        fault: What was wrong when the server was to be asked last; empty when nothing was.
    """

    source: str = field(validator=TEXT)
    mark: Path = field(validator=instance_of(Path))
    waiting: tuple[str, ...] = field(default=(), validator=TEXTS)
    fault: str = field(default="", validator=TEXT)


@runtime_checkable
class EveryCapability(MemoryBackend, Protocol):
    """A memory backend that has the methods of every capability; one needs those it declares."""

    def files(self) -> Sequence[Path]:
        """Name what its learnings are read from (capability ``FILES``).

        grove compares time, size and inode of each, and of the files in a folder; as long as
        nothing differs it may use what it has kept of the learnings without opening the backend.

        Returns:
            Files and folders, absolute, in the same order each time, whether they are there or
            not.
        """
        ...

    def changes(self, mark: str) -> Changes:
        """Return what has changed since an earlier answer (capability ``CHANGES``).

        grove keeps an index of all learnings, and brings it up to date so without reading all of
        them again: adding each answer to what was kept gives what ``iterate`` would list.

        Args:
            mark: The mark of that answer; empty at first or when in doubt. It has been kept in a
                file that may have been damaged since: a mark that the backend does not know means
                that everything is asked for.

        Returns:
            What has changed, or everything.

        Raises:
            BackendError: The learnings could not be read.
        """
        ...

    def freshness(self) -> Freshness:
        """Return how well what is kept here stands for what the server has (``SYNCHRONISE``).

        A backend whose learnings a server holds answers searches of hooks, ``iterate`` and ``get``
        from what it keeps here, and so does this: it asks no server.
        """
        ...

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        """Deliver what waits, and take in what is new on the server (``SYNCHRONISE``).

        grove has it done in a process of its own, which is ended after two minutes, when a session
        starts and the latest time was long ago, and in ``grove maintain flush``.

        Args:
            seconds: How long that may take.
            asked: Whether a person has asked for it: what was put off because it had failed is
                tried as well.

        Returns:
            What came of it; a server that cannot be used is a fault in it.

        Raises:
            BackendError: What is kept here could not be read or written.
        """
        ...


@frozen(kw_only=True, eq=False, repr=False)
class Repair(Value):
    """A file that merges have spoilt.

    Attributes:
        path: The file.
        before: Its text; bytes that are no UTF-8 as surrogates.
        after: Its text as it is to be; the same where nothing can be done. grove writes it, after
            it has kept the text before.
        repaired: What is repaired, a line each for people; line numbers are those of ``before``.
        left: What is not, and has to be repaired by hand; line numbers are those of ``after``.
    """

    path: Path
    before: str
    after: str
    repaired: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class CommandSpec(Value):
    """A further sub-command of ``grove``, or of ``grove backends <backend>``.

    A ``GroveError`` that the command raises ends it as it ends grove's own: its message goes to
    standard error, and the exit code is 1. A command of a backend (``BackendSpec.commands``) finds
    the project with ``click.get_current_context().find_object(BackendContext)``: the area is the
    project's, the settings are validated, and no hook waits.

    Attributes:
        name: What the user types.
        target: ``module:attribute`` of a click command, imported only when it is called.
        help: One line for ``grove --help``, or for ``grove backends <backend> --help``.
    """

    name: str = field(validator=NAME)
    target: str = field(validator=NAME)
    help: str = field(validator=TEXT)


@frozen(kw_only=True, eq=False, repr=False)
class Discovered(Value):
    """A store that a backend could keep learnings in, for ``grove backends discover``.

    Attributes:
        name: What people know it by.
        source: Where it is written down, for people, such as ``.mcp.json``.
        usable: Whether the backend can use it as things stand.
        used: Whether it is the one that the backend uses here.
        why: Why it is usable or not and what helps, in one line.
    """

    name: str = field(validator=TEXT)
    source: str = field(validator=TEXT)
    usable: bool = field(validator=FLAG)
    used: bool = field(validator=FLAG)
    why: str = field(validator=TEXT)


@frozen(kw_only=True, eq=False, repr=False)
class BackendSpec(Value):
    """A memory backend that a plugin offers.

    Attributes:
        name: The backend's name.
        detect: Returns what makes the backend available in a project, or ``None``; looks at file
            names only.
        open: Gives the backend itself; heavy imports belong here.
        settings: An attrs class for the section ``[backends.<name>]``, or ``None``.
        paths: Paths relative to the project root that belong to it: changes there are not work.
            They are to give it away as well: a backend that was not available may be asked again
            only after one of them looks different, or an hour later. One without any is asked in
            every prompt, as long as it is not available.
        shared: Where in the project it keeps what is committed, as patterns relative to the
            project's root in which ``*`` stands for any name, such as ``.grove/notes/*.md``. Where
            git ignores them, learnings of scope team go to another backend, if one is shared.
        relocate: Brings everything that is committed into the layout of the context
            (``grove maintain migrate``), or only says what that would change when the second
            argument is true. Nothing is lost when it is interrupted, and a second run changes
            nothing. Returns a line for people on each thing that is moved.
        repair: Looks for what merges have done to such files and says how to repair it, for
            ``grove maintain repair``, which writes the files; nothing is written here.
        trust: Returns what the project's files ask to be run or reached, agreed to or not, for
            ``grove trust``; looks at files only. Values of settings that are ``TRUSTED_ONLY`` are
            not among it: grove asks for these itself.
        discover: Lists the stores that the backend could use in a project, usable or not, for
            ``grove backends discover``; looks at files only and starts nothing. ``None`` where
            there is one store, which ``detect`` names.
        commands: Further commands, called as ``grove backends <backend> <command>``. Each finds
            the ``BackendContext`` of the project as ``CommandSpec`` says.
    """

    name: str = field(validator=NAME)
    detect: Callable[[BackendContext], Detection | None] = field(validator=FUNCTION)
    open: Callable[[BackendContext], MemoryBackend] = field(validator=FUNCTION)
    settings: type | None = field(default=None, validator=CLASS_OR_NONE)
    paths: tuple[str, ...] = field(default=(), validator=TEXTS)
    shared: tuple[str, ...] = field(default=(), validator=TEXTS)
    relocate: Callable[[BackendContext, bool], Sequence[str]] | None = field(
        default=None, validator=_FUNCTION_OR_NONE
    )
    repair: Callable[[BackendContext], Sequence[Repair]] | None = field(
        default=None, validator=_FUNCTION_OR_NONE
    )
    trust: Callable[[BackendContext], "Sequence[TrustRequest]"] | None = field(
        default=None, validator=_FUNCTION_OR_NONE
    )
    discover: Callable[[BackendContext], Sequence[Discovered]] | None = field(
        default=None, validator=_FUNCTION_OR_NONE
    )
    commands: tuple[CommandSpec, ...] = field(default=(), validator=tuple_of(CommandSpec))


@frozen(kw_only=True, eq=False, repr=False)
class HealthCheck(Value):
    """Something that can go wrong silently and that a plugin knows how to look at.

    Attributes:
        name: Short name for people. One that is called like a gate is given the gate's settings.
        run: Looks and tells.
    """

    name: str = field(validator=NAME)
    run: Callable[[ProjectContext], Health] = field(validator=FUNCTION)


@frozen(kw_only=True, eq=False, repr=False)
class ReflectionContext(Value):
    """What a check of a candidate may know.

    Attributes:
        root: The project's root.
        session_id: The session that submits.
        ticket: The ticket that the work was for, if there is one.
        now: The time of the submission, UTC.
    """

    root: Path
    session_id: str
    ticket: Ticket | None
    now: datetime

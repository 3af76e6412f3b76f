"""Tickets, tool calls, and what a tool call would close."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from types import NoneType
from typing import Any

from attrs import field

from grove_core.model.value import FLAG, TEXT, TEXT_OR_NONE, TEXTS, Value, frozen, instance_of


@frozen(kw_only=True, eq=False, repr=False)
class Ticket(Value):
    """A ticket as its system describes it.

    Attributes:
        ticket_id: The system's own id; ``None`` when only the system is known.
        source: Name of the ticket system.
        title: One line, empty when unknown.
        description: Longer text, empty when unknown.
        labels: The system's labels or tags.
        detected_at: When grove first saw it, UTC.
    """

    ticket_id: str | None = field(validator=TEXT_OR_NONE)
    source: str = field(validator=TEXT)
    title: str = field(default="", validator=TEXT)
    description: str = field(default="", validator=TEXT)
    labels: tuple[str, ...] = field(default=(), validator=TEXTS)
    detected_at: datetime | None = field(default=None, validator=instance_of(datetime, NoneType))


@frozen(kw_only=True, eq=False, repr=False)
class ToolCall(Value):
    """A tool call of the coding agent.

    Attributes:
        name: The client's name of the tool, such as ``Bash``.
        input: The tool's input as the client sent it; never changed.
        use_id: The client's id of this call, if it gave one.
        cwd: The directory the call starts in, absolute.
    """

    name: str
    input: Mapping[str, Any]
    use_id: str | None = None
    cwd: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class ToolResult(Value):
    """What became of a tool call.

    Attributes:
        succeeded: Whether it succeeded; ``None`` where the client does not say.
        response: The client's response, of any JSON shape; ``None`` after a failure.
        error: The client's error text after a failure.
        background_task_id: Set when the command goes on in the background.
    """

    succeeded: bool | None
    response: Any = None
    error: str = ""
    background_task_id: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class TicketClose(Value):
    """One ticket that a tool call would close, or open again.

    Attributes:
        system: Name of the ticket system.
        ticket_id: The id as typed; ``None`` when it is known only once the call has run.
        title: One line, if the call itself tells it.
        directory: The directory whose store is meant, if it is not the call's own.
        reopens: Whether the call opens the ticket again instead of closing it.
        certain: Whether a call that succeeds closes it; not so where that comes later or elsewhere,
            as with a commit message that takes effect on the default branch.
    """

    system: str = field(validator=TEXT)
    ticket_id: str | None = field(validator=TEXT_OR_NONE)
    title: str = field(default="", validator=TEXT)
    directory: str | None = field(default=None, validator=TEXT_OR_NONE)
    reopens: bool = field(default=False, validator=FLAG)
    certain: bool = field(default=True, validator=FLAG)


class Confirmation(Enum):
    """Whether a close really happened."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@frozen(kw_only=True, eq=False, repr=False)
class CloseIntent(Value):
    """Closes that a tool call announced and that still wait for confirmation."""

    key: str
    call: ToolCall
    closes: tuple[TicketClose, ...]
    recorded_at: datetime
    prompt_id: str | None = None
    agent_id: str | None = None
    background_task_id: str | None = None
    already_closed: tuple[TicketClose, ...] = ()
    """Those of the closes whose tickets were closed before the call: of these it closes none."""


@frozen(kw_only=True, eq=False, repr=False)
class BackgroundTask(Value):
    """Work that the client says is still running in the background."""

    id: str
    kind: str = field(default="")

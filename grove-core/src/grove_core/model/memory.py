"""What core and a memory backend say to each other."""

from datetime import datetime
from enum import Enum

from attrs import field

from grove_core.model.learning import Category, Learning, LearningStatus, Scope
from grove_core.model.value import (
    FLAG,
    STATEMENT,
    TEXT,
    TEXTS,
    Value,
    frozen,
    instance_of,
    tuple_of,
)


@frozen(kw_only=True, eq=False, repr=False)
class Query(Value):
    """What a search is about; every part is optional.

    Attributes:
        text: Free text, such as a person's search words or a prompt.
        ticket_id: Id of the ticket in progress.
        ticket_title: Its title.
        ticket_description: Its description.
        tags: Lower-case tags, such as the ticket's labels.
        files: POSIX paths relative to the project root.
        error_signature: An error message or its first line.
    """

    text: str = ""
    ticket_id: str = ""
    ticket_title: str = ""
    ticket_description: str = ""
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    error_signature: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the query says nothing at all."""
        return self == Query()


@frozen(kw_only=True, eq=False, repr=False)
class Filters(Value):
    """What a search may return.

    Attributes:
        statuses: Statuses to return; active ones by default.
        scopes: Scopes to return; empty for all.
        categories: Categories to return; empty for all.
        tags: Tags of which one must be present; empty for all.
        created_after: Only learnings written after this instant.
        limit: At most this many hits; ``None`` for all.
    """

    statuses: frozenset[LearningStatus] = frozenset({LearningStatus.ACTIVE})
    scopes: frozenset[Scope] = frozenset()
    categories: frozenset[Category] = frozenset()
    tags: frozenset[str] = frozenset()
    created_after: datetime | None = None
    limit: int | None = None

    def admit(self, learning: Learning) -> bool:
        """Return whether a learning passes, the limit aside.

        Args:
            learning: The learning to look at.

        Returns:
            Whether every filter lets it through.
        """
        return (
            learning.status in self.statuses
            and (not self.scopes or learning.scope in self.scopes)
            and (not self.categories or learning.category in self.categories)
            and (not self.tags or not self.tags.isdisjoint(learning.tags))
            and (self.created_after is None or learning.timestamp > self.created_after)
        )


@frozen(kw_only=True, eq=False, repr=False)
class Hit(Value):
    """One result of a search.

    Attributes:
        learning: The learning found.
        relevance: How well it fits, 0 to 1, absolute: a weak best hit stays weak.
        complete: Whether all fields of the learning are the stored ones.
        reasons: Why it matched, in a few words each.
    """

    learning: Learning = field(validator=instance_of(Learning))
    relevance: float = field(validator=instance_of(int, float))
    complete: bool = True
    reasons: tuple[str, ...] = field(default=(), validator=TEXTS)


class ReceiptStatus(Enum):
    """What a backend did with a learning."""

    STORED = "stored"
    QUEUED = "queued"
    DUPLICATE = "duplicate"


@frozen(kw_only=True, eq=False, repr=False)
class Receipt(Value):
    """A backend's answer to a write.

    Attributes:
        learning_id: The learning's id.
        status: What was done.
        backend: Name of the backend.
        location: Where it lies now, for people.
        note: What a person should know besides, in a sentence.
    """

    learning_id: str = field(validator=TEXT)
    status: ReceiptStatus = field(validator=instance_of(ReceiptStatus))
    backend: str = field(validator=STATEMENT)
    location: str = field(default="", validator=TEXT)
    note: str = field(default="", validator=TEXT)


@frozen(kw_only=True, eq=False, repr=False)
class Health(Value):
    """How a backend or another part is doing.

    Attributes:
        ok: Whether it works.
        detail: One line: what was looked at, or what is wrong.
        location: Where it keeps its data, if that is a place.
        fix: What to do about what is wrong, such as a command. Where it works all the same, doctor
            warns.
    """

    ok: bool = field(validator=FLAG)
    detail: str = field(validator=TEXT)
    location: str = field(default="", validator=TEXT)
    fix: str = field(default="", validator=TEXT)


class Capability(Enum):
    """What a memory backend can do besides write, search and ping."""

    GET = "get"
    ITERATE = "iterate"
    SET_STATUS = "set_status"
    PERSONAL = "personal"
    EPHEMERAL = "ephemeral"
    FILES = "files"
    CHANGES = "changes"
    NOTES = "notes"
    """Its search finds notes of others as well, partial ones, which ``iterate`` does not list."""
    SLOW = "slow"
    """It asks a program or a server: outside of hooks, a write may take up to 90 seconds, a search
    and a ping up to 30."""
    SYNCHRONISE = "synchronise"
    """It brings what it keeps here and what a server has into line, when it is told to."""


@frozen(kw_only=True, eq=False, repr=False)
class Changes(Value):
    """What has come to a memory backend since it was last asked.

    Attributes:
        learnings: The learnings, of any status; each id stands there once.
        mark: What to ask with next time, any text that the backend likes.
        whole: Whether these are all learnings, and what is not among them is gone; otherwise these
            are new or take the place of those of the same id, and everything else is as it was.
    """

    learnings: tuple[Learning, ...] = field(validator=tuple_of(Learning))
    mark: str = field(validator=TEXT)
    whole: bool = field(validator=FLAG)


@frozen(kw_only=True, eq=False, repr=False)
class Synchronised(Value):
    """What came of bringing a memory backend and its server into line.

    Attributes:
        delivered: Receipts of what has got to the server.
        received: How many learnings have come from it that are new here, or other than before.
        waiting: Ids of what still has not got there.
        fault: Why not, and what helps; empty when all is well.
    """

    delivered: tuple[Receipt, ...] = field(default=(), validator=tuple_of(Receipt))
    received: int = field(default=0, validator=instance_of(int))
    waiting: tuple[str, ...] = field(default=(), validator=TEXTS)
    fault: str = field(default="", validator=TEXT)


class StorageLayout(Enum):
    """How learnings and events lie in a project."""

    SINGLE = "single"
    SPREAD = "spread"


@frozen(kw_only=True, eq=False, repr=False)
class Detection(Value):
    """A ticket system or backend that was found in a project.

    Attributes:
        marker: What gave it away, for people: a path, a variable.
        usable: Whether it can be used here and now.
        note: Why not, or anything else a person should know.
    """

    marker: str = field(validator=TEXT)
    usable: bool = field(default=True, validator=FLAG)
    note: str = field(default="", validator=TEXT)

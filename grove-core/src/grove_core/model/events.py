"""The events of the log: one frozen class each.

The log is the source of truth for every number that grove shows. A line holds ``v``, ``ts``,
``event``, ``grove`` and the fields of the class.
"""

from datetime import datetime
from typing import ClassVar, Final

from attrs import field

from grove_core.model.value import Value, frozen

EVENT_VERSION: Final = 1


@frozen(kw_only=True, eq=False, repr=False)
class StatsEvent(Value):
    """What every event has."""

    event: ClassVar[str] = ""
    ts: datetime


@frozen(kw_only=True, eq=False, repr=False)
class Surfaced(StatsEvent):
    """A learning was shown; ``via`` is start, prompt or file."""

    event: ClassVar[str] = "surfaced"
    learning_id: str
    session_id: str
    via: str = "start"
    score: float = 0.0


@frozen(kw_only=True, eq=False, repr=False)
class Referenced(StatsEvent):
    """A learning was used."""

    event: ClassVar[str] = "referenced"
    learning_id: str
    session_id: str
    ticket_id: str | None = None
    how: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Dismissed(StatsEvent):
    """A learning was shown and not used."""

    event: ClassVar[str] = "dismissed"
    learning_id: str
    session_id: str


@frozen(kw_only=True, eq=False, repr=False)
class Corrected(StatsEvent):
    """A learning was found to be wrong."""

    event: ClassVar[str] = "corrected"
    learning_id: str
    session_id: str
    superseded_by: str | None = None
    why: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Reflection(StatsEvent):
    """A submission was worked through; its digest tells it from others of the same second."""

    event: ClassVar[str] = "reflection"
    session_id: str
    candidates: int
    accepted: int
    categories: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    ticket_id: str | None = None
    backend: str = ""
    digest: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class Rejected(StatsEvent):
    """A candidate was refused."""

    event: ClassVar[str] = "rejected"
    session_id: str
    summary: str
    tags: tuple[str, ...] = ()
    stage: str = ""
    reason: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class Skip(StatsEvent):
    """A reflection was skipped; ``decider`` is agent, user or auto."""

    event: ClassVar[str] = "skip"
    session_id: str
    reason: str
    decider: str
    lines_changed: int | None = None
    ticket_id: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Archived(StatsEvent):
    """A learning was archived."""

    event: ClassVar[str] = "archived"
    learning_id: str
    reason: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class Restored(StatsEvent):
    """A learning was taken back from the archive."""

    event: ClassVar[str] = "restored"
    learning_id: str
    reason: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class Imported(StatsEvent):
    """A learning of another program or project was brought here; its decay begins."""

    event: ClassVar[str] = "imported"
    learning_id: str
    reason: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class Rated(StatsEvent):
    """Somebody said whether a learning is useful."""

    event: ClassVar[str] = "rated"
    learning_id: str
    useful: bool = field()


@frozen(kw_only=True, eq=False, repr=False)
class GateCycle(StatsEvent):
    """A gate cycle ended; ``outcome`` is blocked, reflected, skipped, breaker or no_change.

    Of a plugin's gate, which ``gate`` names, it is what that calls it.
    """

    event: ClassVar[str] = "gate"
    session_id: str
    outcome: str
    blocks: int = 0
    seconds: float = 0.0
    ticket_id: str | None = None
    gate: str = ""


EVENT_TYPES: Final[dict[str, type[StatsEvent]]] = {
    kind.event: kind for kind in StatsEvent.__subclasses__()
}

"""The occasions of a session on which learnings may be shown, and what may become of one."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from enum import Enum

from attrs import frozen

from grove_core.clock import parse_instant
from grove_core.injection import VIA_PROMPT, VIA_START
from grove_core.model.session import EventType, InjectedLearning, Session
from grove_core.model.value import Value
from grove_core.retrieval.considered import Occasion
from grove_core.retrieval.ranking import Score


class Outcome(Enum):
    """What became of a learning on one occasion."""

    SHOWN = "shown"
    SHOWN_BEFORE = "shown_before"
    BELOW_FLOOR = "below_floor"
    STRATEGY = "strategy"
    LIMIT = "limit"
    SAYS_THE_SAME = "says_the_same"
    NO_ROOM = "no_room"
    NOTHING_IN_COMMON = "nothing_in_common"
    NOT_AMONG_BEST = "not_among_best"
    NOT_WRITTEN_YET = "not_written_yet"
    NOT_INDEXED = "not_indexed"
    NOT_ACTIVE = "not_active"
    NOT_REACHED = "not_reached"
    SWITCHED_OFF = "switched_off"
    SESSION_LIMIT = "session_limit"
    NOT_STARTED = "not_started"
    NOT_TOUCHED = "not_touched"
    NOT_FOR_FILES = "not_for_files"
    NOT_RECORDED = "not_recorded"


@frozen(kw_only=True, eq=False, repr=False)
class Explanation(Value):
    """Why a learning was shown on one occasion, or was not."""

    at: datetime
    via: str
    outcome: Outcome
    reason: str
    rank: int | None = None
    score: Score | None = None
    floor: float | None = None
    shared: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unknown: int = 0
    before: tuple[str, ...] = ()
    worked_out_again: bool = False

    @property
    def shown(self) -> bool:
        """Whether the learning was shown on this occasion."""
        return self.outcome is Outcome.SHOWN


@frozen(kw_only=True, eq=False, repr=False)
class Moment(Value):
    """A start or a prompt of a session."""

    at: datetime
    via: str
    source: str = ""
    occasion: Occasion | None = None


def moments_of(session: Session, occasions: Sequence[Occasion]) -> list[Moment]:
    """List the starts and prompts of a session."""
    left: dict[tuple[datetime, str], list[Occasion]] = defaultdict(list)
    for one in occasions:
        under = one.circumstances
        left[parse_instant(under.at), under.via].append(one)
    kinds = {EventType.SESSION_START: VIA_START, EventType.PROMPT: VIA_PROMPT}
    moments = []
    for event in session.trace.events:
        via = kinds.get(event.event_type)
        if via is not None:
            source = event.details.get("source", "") if via == VIA_START else ""
            here = left[event.timestamp, via]
            occasion = here.pop(0) if here else None
            moments.append(Moment(at=event.timestamp, via=via, source=source, occasion=occasion))
    for (at, via), dropped in left.items():
        moments += [Moment(at=at, via=via, occasion=one) for one in dropped]
    return sorted(moments, key=lambda one: one.at)


def plainly(at: datetime, via: str, outcome: Outcome, reason: str) -> Explanation:
    """Explain without a score."""
    return Explanation(at=at, via=via, outcome=outcome, reason=reason)


def injection_of(session: Session, learning_id: str) -> InjectedLearning | None:
    """Find out how a session was shown a learning."""
    return next((one for one in session.injected if one.learning_id == learning_id), None)

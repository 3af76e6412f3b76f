"""The gate's state, the events that move it, and what it decides."""

from datetime import datetime
from enum import Enum
from typing import Final

from grove_core.model.learning import RejectedCandidate
from grove_core.model.ticket import BackgroundTask, Ticket
from grove_core.model.value import Value, frozen


class GateStatus(Enum):
    """Where a session stands with its reflection."""

    IDLE = "idle"
    ACTIVE = "active"
    PENDING = "pending"
    BLOCKED = "blocked"
    REFLECTED = "reflected"
    SKIPPED = "skipped"

    @property
    def reflection_pending(self) -> bool:
        """Whether a reflection is pending."""
        return self in (GateStatus.PENDING, GateStatus.BLOCKED)


class AutoSkipDecider(Enum):
    """Who decides about small changes in session mode."""

    AGENT = "agent"
    ALWAYS = "always"
    NEVER = "never"


@frozen(kw_only=True, eq=False, repr=False)
class GatePolicy(Value):
    """The numbers that the gate works with; see the configuration keys of the same names."""

    max_blocks: int = 3
    cooldown_seconds: int = 300
    auto_skip_enabled: bool = True
    auto_skip_line_threshold: int = 5
    auto_skip_decider: AutoSkipDecider = AutoSkipDecider.AGENT
    session_rearm_lines: int = 50
    session_rearm_seconds: int = 1800


# A client that has a cap overrides the next block, and may then end a headless run with nothing.
MOST_BLOCKS_IN_A_ROW: Final = 8
CYCLE_FACTOR: Final = 2
"""So many times as often as in a row an agent is stopped for one reflection at most."""


class SkipDecider(Enum):
    """Who decided that there was nothing to write down."""

    AGENT = "agent"
    USER = "user"
    AUTO = "auto"


@frozen(kw_only=True, eq=False, repr=False)
class SkipDecision(Value):
    """A reason for not reflecting."""

    reason: str
    decider: SkipDecider
    timestamp: datetime
    lines_changed: int | None = None


@frozen(kw_only=True, eq=False, repr=False)
class ReflectionResult(Value):
    """What became of one submission."""

    learning_ids: tuple[str, ...]
    rejected: tuple[RejectedCandidate, ...]
    candidates_produced: int
    completed_at: datetime


@frozen(kw_only=True, eq=False, repr=False)
class GateCredit(Value):
    """A reflection or skip that came before the close it will count for.

    ``kind`` is the status that it leads to, ``ticket`` the only one that it counts for, if any.
    """

    kind: GateStatus
    earned_at: datetime
    ticket: Ticket | None = None


@frozen(kw_only=True, eq=False, repr=False)
class CircuitBreaker(Value):
    """Counts blocks so that an agent is never stopped for ever."""

    block_count: int = 0
    cycle_blocks: int = 0
    last_block_at: datetime | None = None
    last_blocked_session_id: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Cycle(Value):
    """A pending reflection, from the close that opened it to its end."""

    tickets: tuple[Ticket, ...]
    opened_at: datetime
    before: GateStatus
    before_ticket: Ticket | None = None
    unpaid_reported: bool = False
    shell_deferrals: int = 0


@frozen(kw_only=True, eq=False, repr=False)
class BrokenCycle(Value):
    """A cycle that the breaker ended: its reflection stays pending."""

    tickets: tuple[Ticket, ...]
    broken_at: datetime
    blocks: int


@frozen(kw_only=True, eq=False, repr=False)
class SessionMode(Value):
    """What session mode remembers about its earlier cycles."""

    last_cycle_at: datetime | None = None
    lines_at_last_cycle: int = 0


@frozen(kw_only=True, eq=False, repr=False)
class Gate(Value):
    """The gate of one session."""

    status: GateStatus = GateStatus.IDLE
    ticket: Ticket | None = None
    cycle: Cycle | None = None
    breaker: CircuitBreaker = CircuitBreaker()
    credit: GateCredit | None = None
    reflection: ReflectionResult | None = None
    skip: SkipDecision | None = None
    session_mode: SessionMode = SessionMode()
    seen_shells: tuple[str, ...] = ()
    broken_cycles: tuple[BrokenCycle, ...] = ()

    @property
    def closed(self) -> tuple[Ticket, ...]:
        """The tickets that were closed in the cycle that is open."""
        return self.cycle.tickets if self.cycle is not None else ()


@frozen(kw_only=True, eq=False, repr=False)
class TicketDetected(Value):
    """A ticket is in progress."""

    ticket: Ticket


@frozen(kw_only=True, eq=False, repr=False)
class TicketClosed(Value):
    """A ticket close was confirmed."""

    ticket: Ticket


@frozen(kw_only=True, eq=False, repr=False)
class TicketCloseFailed(Value):
    """A close that had counted turns out not to have happened, or was taken back."""

    ticket: Ticket
    reopened: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class Measurement(Value):
    """What session mode measured since its baseline, and the state of the repository then."""

    lines: int | None
    key: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class StopRequested(Value):
    """The agent is about to end its turn."""

    session_id: str
    plan_mode: bool = False
    background: tuple[BackgroundTask, ...] = ()
    change: Measurement | None = None
    stop_hook_active: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class SessionEnded(Value):
    """The session ends."""

    change: Measurement | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Forced(Value):
    """``grove debug --set-gate`` names a status."""

    status: GateStatus


GateEvent = (
    TicketDetected
    | TicketClosed
    | TicketCloseFailed
    | StopRequested
    | ReflectionResult
    | SkipDecision
    | SessionEnded
    | Forced
)


class Verdict(Enum):
    """What the gate answers."""

    NONE = "none"
    APPROVE = "approve"
    DEFER = "defer"
    BREAK = "break"
    BLOCK = "block"


class CycleOutcome(Enum):
    """How a gate cycle ended (the ``gate`` event of the log)."""

    BLOCKED = "blocked"
    REFLECTED = "reflected"
    SKIPPED = "skipped"
    BREAKER = "breaker"
    NO_CHANGE = "no_change"


@frozen(kw_only=True, eq=False, repr=False)
class FinishedCycle(Value):
    """A gate cycle that has come to its end."""

    outcome: CycleOutcome
    tickets: tuple[Ticket, ...]
    blocks: int
    seconds: float


@frozen(kw_only=True, eq=False, repr=False)
class Decision(Value):
    """What follows from one step of the gate."""

    verdict: Verdict = Verdict.NONE
    reason: str = ""
    finished: FinishedCycle | None = None
    auto_skip: SkipDecision | None = None
    baseline_moves: bool = False

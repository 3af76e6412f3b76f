"""A session of the coding agent, as grove remembers it."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final

from attrs import field

from grove_core.model.gate import Gate, Measurement
from grove_core.model.learning import Learning, RejectedCandidate
from grove_core.model.ticket import CloseIntent, TicketClose
from grove_core.model.value import Value, frozen

SESSION_SCHEMA_VERSION: Final = 1


class EventType(Enum):
    """The kinds of trace events."""

    SESSION_START = "session_start"
    SESSION_END = "session_end"
    TICKET_DETECTED = "ticket_detected"
    BACKEND_DETECTED = "backend_detected"
    LEARNINGS_INJECTED = "learnings_injected"
    TICKET_CLOSE_DETECTED = "ticket_close_detected"
    TICKET_CLOSED = "ticket_closed"
    TICKET_CLOSE_FAILED = "ticket_close_failed"
    TICKET_CLOSE_DISCARDED = "ticket_close_discarded"
    TICKET_REOPENED = "ticket_reopened"
    STOP_HOOK_CALLED = "stop_hook_called"
    GATE_BLOCKED = "gate_blocked"
    GATE_DEFERRED = "gate_deferred"
    GATE_STATUS_CHANGED = "gate_status_changed"
    CIRCUIT_BREAKER_TRIPPED = "circuit_breaker_tripped"
    CREDIT_EARNED = "credit_earned"
    REFLECTION_COMPLETE = "reflection_complete"
    REFLECTION_REFUSED = "reflection_refused"
    SKIP = "skip"
    OBSERVATION_RECORDED = "observation_recorded"
    LEARNING_REFERENCED = "learning_referenced"
    LEARNING_DISMISSED = "learning_dismissed"
    PROMPT = "prompt"
    FORCED = "forced"
    PLUGIN_GATE = "plugin_gate"


@frozen(kw_only=True, eq=False, repr=False)
class TraceEvent(Value):
    """One thing that happened in a session."""

    event_type: EventType
    timestamp: datetime
    details: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True, eq=False, repr=False)
class Trace(Value):
    """A bounded list of trace events: the first ten and the newest are kept."""

    events: tuple[TraceEvent, ...] = ()
    dropped: int = 0


@frozen(kw_only=True, eq=False, repr=False)
class SubagentObservation(Value):
    """A one-line note of a subagent for the agent that will reflect."""

    note: str
    timestamp: datetime


class InjectionOutcome(Enum):
    """What became of a learning that was shown."""

    PENDING = "pending"
    REFERENCED = "referenced"
    DISMISSED = "dismissed"
    CORRECTED = "corrected"


@frozen(kw_only=True, eq=False, repr=False)
class InjectedLearning(Value):
    """A learning that was shown in this session."""

    learning_id: str
    summary: str
    score: float
    injected_at: datetime
    via: str = "start"
    personal: bool = False
    outcome: InjectionOutcome = InjectionOutcome.PENDING


@frozen(kw_only=True, eq=False, repr=False)
class WrittenCandidate(Value):
    """A candidate this session has already stored; sending it again stores nothing."""

    fingerprint: str
    learning_id: str


@frozen(kw_only=True, eq=False, repr=False)
class DirtyFile(Value):
    """A file that already differed from the last commit when the baseline was taken."""

    path: str
    digest: str
    line_hashes: str | None = None
    lines: int = 0


@frozen(kw_only=True, eq=False, repr=False)
class Baseline(Value):
    """The state of the work that session mode measures against."""

    taken_at: datetime
    head: str | None = None
    dirty: tuple[DirtyFile, ...] = ()
    excluded: tuple[str, ...] = ()
    transcript_offset: int = 0


@frozen(kw_only=True, eq=False, repr=False)
class StopCount(Value):
    """The latest stop with a pending reflection, to tell it from further reports of the same."""

    prompt_id: str | None = None
    at: datetime | None = None
    reported_by: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class Session(Value):
    """Everything grove remembers about one session.

    Attributes:
        id: The client's session id.
        host: Name of the client's adapter.
        cwd: The directory the session was started in.
        project_root: The project it belongs to.
        created_at: When grove first saw it, UTC.
        updated_at: When it was last written, UTC.
        transcript_path: The client's transcript, empty when unknown.
        ended_at: When it ended; ``None`` while it lives.
        process_id: The client's process, if known.
        prompt_id: The client's id of the latest user prompt, if known.
        ticket_system: The active ticket system's name.
        gate: The gate.
        gates: What plugins' gates keep, by name.
        intents: Closes that wait for confirmation.
        unproven: Closes that count though they could not be confirmed.
        closed_in: By system and id of pending tickets: the directory they were closed in.
        closed_in_prompt: Per system the prompt in which it last opened a cycle.
        observations: Subagents' notes.
        injected: Learnings shown.
        written: Candidates already written.
        ephemeral: Learnings that live only in this session.
        last_rejections: What was wrong with the latest refused submission.
        received: What was handed in from a sandbox and has been judged, by its file's name.
        refused: Summaries that the write gate has refused since the gate was last opened.
        baseline: What session mode measures against.
        measurement: The latest measurement.
        session_mode: Whether changes count, as last seen: no ticket system is active.
        ticket_marker: What gave the active ticket system away then, as a path.
        environment: The fingerprint of what that was seen from.
        stops: Stops with a pending reflection, counted once however many sets of hooks report them.
        recovered_from: Where unreadable earlier state was set aside, if that happened.
        trace: What happened.
        schema_version: Version of this shape.
        unknown: Fields that a newer grove wrote, kept as they are.
    """

    id: str
    host: str
    cwd: str
    project_root: str
    created_at: datetime
    updated_at: datetime
    transcript_path: str = ""
    ended_at: datetime | None = None
    process_id: int | None = None
    prompt_id: str | None = None
    ticket_system: str | None = None
    gate: Gate = Gate()
    gates: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    intents: tuple[CloseIntent, ...] = ()
    unproven: tuple[TicketClose, ...] = ()
    closed_in: Mapping[str, str] = field(factory=dict)
    closed_in_prompt: Mapping[str, str] = field(factory=dict)
    observations: tuple[SubagentObservation, ...] = ()
    injected: tuple[InjectedLearning, ...] = ()
    written: tuple[WrittenCandidate, ...] = ()
    ephemeral: tuple[Learning, ...] = ()
    last_rejections: tuple[RejectedCandidate, ...] = ()
    received: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    baseline: Baseline | None = None
    measurement: Measurement | None = None
    session_mode: bool = False
    ticket_marker: str = ""
    environment: str = ""
    stops: StopCount = StopCount()
    recovered_from: str | None = None
    trace: Trace = Trace()
    schema_version: int = SESSION_SCHEMA_VERSION
    unknown: Mapping[str, Any] = field(factory=dict)

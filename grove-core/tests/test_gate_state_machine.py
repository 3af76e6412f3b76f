"""The gate under any sequence of events: duplicates, crashes and clocks that jump."""

from datetime import UTC, datetime, timedelta

from attrs import evolve
from core_worlds import paying
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from scale import turned_up

from grove_core.gate import step
from grove_core.model.gate import (
    AutoSkipDecider,
    Forced,
    Gate,
    GatePolicy,
    GateStatus,
    Measurement,
    SessionEnded,
    StopRequested,
    TicketClosed,
    TicketCloseFailed,
    TicketDetected,
    Verdict,
)
from grove_core.model.session import EventType
from grove_core.model.ticket import BackgroundTask, Ticket

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MOST_EVER = 6
STOP = StopRequested(session_id="s")
LARGE = evolve(STOP, change=Measurement(lines=100_000))
REFLECT, SKIP = paying(START)

TICKETS = st.builds(Ticket, ticket_id=st.sampled_from(["T-1", "T-2", "T-3"]), source=st.just("b"))
CHANGES = st.none() | st.builds(
    Measurement, lines=st.none() | st.integers(0, 12) | st.integers(0, 400)
)
TASKS = st.builds(
    BackgroundTask,
    id=st.sampled_from(["a", "b", "c"]),
    kind=st.sampled_from(["shell", "shell", "subagent", "monitor"]),
)
STOPS = st.builds(evolve, st.just(STOP), change=CHANGES, stop_hook_active=st.booleans())
EVENTS = st.one_of(
    st.sampled_from([REFLECT, SKIP]),
    st.builds(TicketDetected, ticket=TICKETS),
    st.builds(TicketClosed, ticket=TICKETS),
    st.builds(TicketCloseFailed, ticket=TICKETS, reopened=st.booleans()),
    STOPS,
    st.builds(
        evolve, STOPS, plan_mode=st.booleans(), background=st.lists(TASKS, max_size=2).map(tuple)
    ),
    st.builds(SessionEnded, change=CHANGES),
    st.builds(Forced, status=st.sampled_from(GateStatus)),
)
# The state is written before the answer is given. A crash loses both, or the answer alone; a
# client that saw no answer may send the event again.
FATES = st.sampled_from(["answered"] * 5 + ["unanswered", "lost", "twice"])
POLICIES = st.builds(
    GatePolicy,
    max_blocks=st.integers(-1, 8),
    cooldown_seconds=st.sampled_from([1, 60, 300]),
    auto_skip_enabled=st.booleans(),
    auto_skip_line_threshold=st.integers(0, 10),
    auto_skip_decider=st.sampled_from(AutoSkipDecider),
    session_rearm_lines=st.sampled_from([1, 50]),
    session_rearm_seconds=st.sampled_from([60, 1800]),
)


class GateMachine(RuleBasedStateMachine):
    """Sends events to the gate; what holds for any gate is looked at after each."""

    @initialize(policy=POLICIES)
    def configure(self, policy):
        self.gate, self.policy, self.seconds, self.given = Gate(), policy, 0.0, []

    @property
    def now(self):
        return START + timedelta(seconds=self.seconds)

    @property
    def most(self):
        return max(1, min(MOST_EVER, self.policy.max_blocks))

    def step(self, event):
        """Take one step and see that it is a pure function."""
        before = repr((self.gate, event))
        result = step(self.gate, event, self.now, self.policy)
        assert result == step(self.gate, event, self.now, self.policy)
        assert repr((self.gate, event)) == before
        return result

    @rule(event=EVENTS, fate=FATES)
    def send(self, event, fate):
        """Deliver an event, or what a crash leaves of it."""
        if fate == "lost":
            self.step(event)
            return
        for _ in range(2 if fate == "twice" else 1):
            self.deliver(event, answered=fate != "unanswered")

    @precondition(lambda self: self.gate.status.reflection_pending)
    @rule(fate=FATES, wait=st.sampled_from([0, 1, 59, 60, 299, 300]))
    def stop_again(self, fate, wait):
        self.seconds += wait
        self.send(STOP, fate)

    @rule(seconds=st.integers(0, 2000) | st.integers(-4000, 4000))
    def clock_jumps(self, seconds):
        self.seconds += seconds

    def deliver(self, event, *, answered):
        status = self.gate.status
        self.gate, decision, trace = self.step(event)
        moved = [item for item in trace if item.event_type is EventType.GATE_STATUS_CHANGED]
        assert len(moved) == (status is not self.gate.status)
        if status.reflection_pending and not isinstance(event, StopRequested):
            assert decision.verdict is Verdict.NONE
        if isinstance(event, Forced) or not status.reflection_pending:
            self.given = []
        if decision.verdict is Verdict.BLOCK and answered:
            self.given.append(self.seconds)

    @invariant()
    def blocks_are_bounded(self):
        assert len(self.given) <= 2 * self.most
        shown = [max(self.given[: index + 1]) for index in range(len(self.given))]
        for first, last in zip(shown, shown[self.most :], strict=False):
            assert last - first >= self.policy.cooldown_seconds

    @invariant()
    def no_session_is_stuck(self):
        for wait in (0, self.policy.cooldown_seconds):
            for stop in (STOP, LARGE):
                assert self.blocks_until_free(stop, wait) <= 2 * self.most

    def blocks_until_free(self, stop, wait):
        gate, now, blocks = self.gate, self.now, 0
        while blocks <= 2 * MOST_EVER:
            gate, decision, _ = step(gate, stop, now, self.policy)
            if decision.verdict is not Verdict.BLOCK:
                assert decision.verdict in {Verdict.APPROVE, Verdict.BREAK}
                assert not gate.status.reflection_pending
                return blocks
            blocks, now = blocks + 1, now + timedelta(seconds=wait)
        return blocks

    @precondition(lambda self: self.gate.status.reflection_pending)
    @invariant()
    def a_debt_is_ended_by_paying_and_by_nothing_less(self):
        for payment, status in ((REFLECT, GateStatus.REFLECTED), (SKIP, GateStatus.SKIPPED)):
            paid, _, _ = step(self.gate, payment, self.now, self.policy)
            assert paid.status is status
            _, decision, _ = step(paid, STOP, self.now, self.policy)
            assert decision.verdict is Verdict.APPROVE
        _, decision, _ = step(self.gate, STOP, self.now, self.policy)
        assert decision.verdict in {Verdict.BLOCK, Verdict.BREAK}


TestGateMachine = GateMachine.TestCase
TestGateMachine.settings = settings(
    max_examples=turned_up(30, 3000), stateful_step_count=40, deadline=None
)

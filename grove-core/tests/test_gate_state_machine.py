"""The gate under any sequence of events: duplicates, crashes and clocks that jump.

``Model`` tells from the documented rules what the gate has to answer. It keeps no counters:
the breaker follows from the times of the blocks, and a debt from the closes that opened it.
"""

from datetime import UTC, datetime, timedelta

from attrs import Factory, define, evolve
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
    SessionChange,
    SessionEnded,
    StopRequested,
    TicketClosed,
    TicketCloseFailed,
    TicketDetected,
    TicketReopened,
    Verdict,
)
from grove_core.model.session import EventType
from grove_core.model.ticket import BackgroundTask, Ticket

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
OWING = {"pending", "blocked"}
MOST_EVER = 6

STOP = StopRequested(session_id="s")
LARGE = evolve(STOP, change=SessionChange(lines=100_000))
REFLECT, SKIP = paying(START)


@define
class Model:
    """What the documentation says about the gate, in its own words."""

    policy: GatePolicy
    status: str = "idle"
    ticket: str | None = None
    detected: float = 0
    closed: list[str] = Factory(list)
    owed_anyway: bool = False
    before: tuple[str, str | None] = ("idle", None)
    credit: tuple[str, float] | None = None
    blocks: list[float] = Factory(list)
    shells: set[str] = Factory(set)
    asked: tuple[float, int] | None = None
    let_go: bool = False

    @property
    def most(self) -> int:
        return max(1, min(MOST_EVER, self.policy.max_blocks))

    def open(self, tickets: list[str]) -> None:
        self.before = (self.status, self.ticket)
        self.status, self.closed, self.blocks = "pending", tickets, []
        self.owed_anyway = not tickets

    def end(self, status: str) -> None:
        self.status, self.closed, self.blocks, self.credit = status, [], [], None

    def detect(self, name: str, now: float) -> str | None:
        if self.status not in OWING:
            if self.ticket != name:
                self.ticket, self.detected = name, now
            self.status = "active" if self.status == "idle" else self.status
        return None

    def close(self, name: str) -> str | None:
        known = self.ticket == name
        outcome = None
        if self.status not in OWING:
            self.open([name])
            if self.credit and (not known or self.credit[1] >= self.detected):
                outcome = self.credit[0]
                self.end(outcome)
        elif name not in self.closed:
            self.closed.append(name)
        if known:
            self.ticket = None
        return outcome

    def fail(self, name: str) -> str | None:
        if self.status not in OWING or name not in self.closed:
            return None
        self.closed.remove(name)
        if self.before[1] == name:
            self.ticket = name
        if self.closed or self.owed_anyway:
            return None
        self.status, self.blocks = self.before[0], []
        return "no_change"

    def pay(self, kind: str, now: float) -> str | None:
        if self.asked:
            self.asked = (self.asked[0], 0)
        if self.status in OWING:
            self.end(kind)
            self.let_go = False
            return kind
        # A debt that the breaker let go is what is paid first.
        paid_late, self.let_go = self.let_go, False
        if self.status in {"idle", "active"} and not paid_late:
            self.credit = (kind, max(now, self.detected) if self.ticket else now)
        return None

    def small(self, lines: int | None) -> bool:
        policy = self.policy
        return (
            lines is not None
            and policy.auto_skip_enabled
            and policy.auto_skip_decider is not AutoSkipDecider.NEVER
            and lines <= policy.auto_skip_line_threshold
        )

    def skips_by_itself(self, lines: int | None, decider: AutoSkipDecider) -> bool:
        skips = bool(lines) and self.small(lines) and self.policy.auto_skip_decider is decider
        if skips and self.asked:
            self.asked = (self.asked[0], 0)
        return skips

    def may_ask(self, lines: int | None, now: float) -> bool:
        if self.asked is None:
            return True
        if lines is None:
            return False
        policy, (asked_at, asked_lines) = self.policy, self.asked
        rested = now - asked_at >= policy.session_rearm_seconds
        return rested and lines - asked_lines >= policy.session_rearm_lines

    def stop(self, event: StopRequested, now: float) -> tuple[Verdict, str | None, bool]:
        others = {task.id for task in event.background if task.kind != "subagent"}
        fresh, self.shells = others - self.shells, others
        skips = False
        if self.status in {"idle", "reflected", "skipped"} and event.change is not None:
            lines = event.change.lines
            skips = self.skips_by_itself(lines, AutoSkipDecider.ALWAYS)
            if lines != 0 and not self.small(lines) and self.may_ask(lines, now):
                self.asked = (now, lines or 0)
                self.open([])
        if self.status not in OWING:
            return Verdict.APPROVE, None, skips
        subagent = any(task.kind == "subagent" for task in event.background)
        if event.plan_mode or subagent or fresh:
            return Verdict.DEFER, None, skips
        if self.exhausted(now):
            self.end("idle")
            self.let_go = True
            return Verdict.BREAK, "breaker", skips
        self.status = "blocked"
        self.blocks.append(max([now, *self.blocks]))
        return Verdict.BLOCK, None, skips

    def exhausted(self, now: float) -> bool:
        """Whether the blocks of this cycle, or those since its last pause, are used up."""
        if len(self.blocks) >= 2 * self.most:
            return True
        row, later = 0, now
        for block in reversed(self.blocks):
            if later - block >= self.policy.cooldown_seconds:
                break
            row, later = row + 1, block
        return row >= self.most

    def finish_session(self, lines: int | None) -> bool:
        if self.status == "active":
            self.status = "idle"
            return False
        return self.status not in OWING and self.skips_by_itself(lines, AutoSkipDecider.AGENT)

    def force(self, status: str) -> None:
        if status not in OWING:
            self.closed = []
        elif self.status not in OWING:
            self.closed = [self.ticket] if self.ticket else []
            self.owed_anyway = not self.closed
            self.before = ("idle", None)
        self.status, self.blocks = status, []


TICKET_EVENTS = [TicketDetected, TicketClosed, TicketClosed, TicketCloseFailed, TicketReopened]
NAMES = st.sampled_from(["T-1", "T-2", "T-3"])
LINES = st.none() | st.integers(0, 12) | st.integers(0, 400)
CHANGES = st.none() | st.builds(SessionChange, lines=LINES)
TASKS = st.builds(
    BackgroundTask,
    id=st.sampled_from(["a", "b", "c"]),
    kind=st.sampled_from(["shell", "shell", "subagent", "monitor"]),
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
    """Sends events to the gate and to the model and compares."""

    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.seconds = 0.0
        self.policy = GatePolicy()
        self.model = Model(policy=self.policy)
        self.given = []

    @initialize(policy=POLICIES)
    def configure(self, policy):
        self.policy = policy
        self.model = Model(policy=policy)

    @property
    def now(self):
        return START + timedelta(seconds=self.seconds)

    def step(self, event):
        """Take one step and see that it is a pure function."""
        before = repr((self.gate, event))
        result = step(self.gate, event, self.now, self.policy)
        assert result == step(self.gate, event, self.now, self.policy)
        assert repr((self.gate, event)) == before
        return result

    def send(self, event, fate, expect):
        """Deliver an event, or what a crash leaves of it."""
        if fate == "lost":
            self.step(event)
            return
        for _ in range(2 if fate == "twice" else 1):
            self.deliver(event, expect(), answered=fate != "unanswered")

    def deliver(self, event, expected, *, answered):
        verdict, outcome, skips = expected
        status = self.gate.status
        self.gate, decision, trace = self.step(event)
        assert decision.verdict is verdict
        assert (decision.auto_skip is not None) is skips
        told = decision.finished.outcome.value if decision.finished else None
        assert told == outcome
        moved = [item for item in trace if item.event_type is EventType.GATE_STATUS_CHANGED]
        assert len(moved) == (status is not self.gate.status)
        if isinstance(event, Forced) or not status.owes_reflection:
            self.given = []
        if decision.verdict is Verdict.BLOCK and answered:
            self.given.append(self.seconds)

    def send_silent(self, event, fate, rule_of_model):
        self.send(event, fate, lambda: (Verdict.NONE, rule_of_model(), False))

    @rule(kind=st.sampled_from(TICKET_EVENTS), name=NAMES, fate=FATES)
    def hear_of_a_ticket(self, kind, name, fate):
        event = kind(ticket=Ticket(ticket_id=name, source="beads"))

        def rule_of_model():
            if kind is TicketDetected:
                return self.model.detect(name, self.seconds)
            return (self.model.close if kind is TicketClosed else self.model.fail)(name)

        self.send_silent(event, fate, rule_of_model)

    @rule(event=st.sampled_from([REFLECT, SKIP]), fate=FATES)
    def pay(self, event, fate):
        kind = "reflected" if event is REFLECT else "skipped"
        self.send_silent(event, fate, lambda: self.model.pay(kind, self.seconds))

    def send_stop(self, event, fate):
        self.send(event, fate, lambda: self.model.stop(event, self.seconds))

    @precondition(lambda self: self.model.status in OWING)
    @rule(fate=FATES, wait=st.sampled_from([0, 1, 59, 60, 299, 300]), flag=st.booleans())
    def stop_again(self, fate, wait, flag):
        self.seconds += wait
        self.send_stop(evolve(STOP, stop_hook_active=flag), fate)

    @rule(fate=FATES, change=CHANGES)
    def stop(self, fate, change):
        self.send_stop(evolve(STOP, change=change), fate)

    @rule(fate=FATES, change=CHANGES, plan=st.booleans(), tasks=st.lists(TASKS, max_size=2))
    def stop_amid_other_work(self, fate, change, plan, tasks):
        event = evolve(STOP, change=change, plan_mode=plan, background=tuple(tasks))
        self.send_stop(event, fate)

    @rule(fate=FATES, change=CHANGES)
    def end_session(self, fate, change):
        lines = change.lines if change else None

        def expect():
            first = self.model.status == "blocked" and not self.gate.cycle.unpaid_reported
            skips = self.model.finish_session(lines)
            return Verdict.NONE, "blocked" if first else None, skips

        self.send(SessionEnded(change=change), fate, expect)

    @rule(status=st.sampled_from(GateStatus), fate=FATES, really=st.integers(0, 3))
    def force(self, status, fate, really):
        if really == 0:
            self.send_silent(Forced(status=status), fate, lambda: self.model.force(status.value))

    @rule(seconds=st.integers(0, 2000) | st.integers(-4000, 4000))
    def clock_jumps(self, seconds):
        self.seconds += seconds

    @invariant()
    def the_state_is_what_the_rules_say(self):
        assert self.gate.status.value == self.model.status
        assert (self.gate.ticket.ticket_id if self.gate.ticket else None) == self.model.ticket
        if self.gate.status.owes_reflection:
            names = [closed.ticket_id for closed in self.gate.cycle.tickets]
            assert names == self.model.closed

    @invariant()
    def blocks_are_bounded(self):
        most = self.model.most
        assert len(self.given) <= 2 * most
        shown = [max(self.given[: index + 1]) for index in range(len(self.given))]
        for first, last in zip(shown, shown[most:], strict=False):
            assert last - first >= self.policy.cooldown_seconds

    @invariant()
    def no_session_is_stuck(self):
        for wait in (0, self.policy.cooldown_seconds):
            for stop in (STOP, LARGE):
                assert self.blocks_until_free(stop, wait) <= 2 * self.model.most

    def blocks_until_free(self, stop, wait):
        gate, now, blocks = self.gate, self.now, 0
        while blocks <= 2 * MOST_EVER:
            gate, decision, _ = step(gate, stop, now, self.policy)
            if decision.verdict is not Verdict.BLOCK:
                assert decision.verdict in {Verdict.APPROVE, Verdict.BREAK}
                assert not gate.status.owes_reflection
                return blocks
            blocks, now = blocks + 1, now + timedelta(seconds=wait)
        return blocks

    @precondition(lambda self: self.gate.status.owes_reflection)
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

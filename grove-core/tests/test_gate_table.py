"""The gate's table: every row, every pair that is not in it, and the rules around it."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve
from core_worlds import paying

from grove_core.gate import step
from grove_core.model.gate import (
    AutoSkipDecider,
    CycleOutcome,
    Decision,
    FinishedCycle,
    Forced,
    Gate,
    GatePolicy,
    GateStatus,
    Measurement,
    SessionEnded,
    SkipDecider,
    StopRequested,
    TicketClosed,
    TicketCloseFailed,
    TicketDetected,
    Verdict,
)
from grove_core.model.session import EventType
from grove_core.model.ticket import BackgroundTask, Ticket

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
POLICY = GatePolicy()

IDLE, ACTIVE, PENDING = GateStatus.IDLE, GateStatus.ACTIVE, GateStatus.PENDING
BLOCKED, REFLECTED, SKIPPED = GateStatus.BLOCKED, GateStatus.REFLECTED, GateStatus.SKIPPED
NONE, APPROVE, DEFER = Verdict.NONE, Verdict.APPROVE, Verdict.DEFER
BREAK, BLOCK = Verdict.BREAK, Verdict.BLOCK
LETTERS = {APPROVE: "A", DEFER: "D", BLOCK: "B", BREAK: "!"}

ONE = Ticket(ticket_id="T-1", source="beads")
TWO = Ticket(ticket_id="T-2", source="beads")
SEEN = evolve(ONE, detected_at=NOW)

STOP = StopRequested(session_id="s")
PLAN = evolve(STOP, plan_mode=True)
END = SessionEnded()
REFLECT, SKIP = paying(NOW)
HEARD = (TicketDetected, TicketClosed, TicketCloseFailed)
DETECT, CLOSE, FAIL = (kind(ticket=ONE) for kind in HEARD)
DETECT_TWO, CLOSE_TWO, FAIL_TWO = (kind(ticket=TWO) for kind in HEARD)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def changed(lines: int | None, **fields) -> StopRequested:
    return evolve(STOP, change=Measurement(lines=lines), **fields)


def end(lines: int | None) -> SessionEnded:
    return SessionEnded(change=Measurement(lines=lines))


def running(*tasks: str, **fields) -> StopRequested:
    """A stop amid background work, each named by its kind and id."""
    pairs = (one.split() for one in tasks)
    background = tuple(BackgroundTask(id=name, kind=kind) for kind, name in pairs)
    return evolve(STOP, background=background, **fields)


def play(gate: Gate, *events, policy: GatePolicy = POLICY) -> Gate:
    """Send events, a number among them being the time of those behind it; return the state."""
    now = 0.0
    for event in events:
        if isinstance(event, int | float):
            now = event
        else:
            gate, _, _ = step(gate, event, at(now), policy)
    return gate


def answers(gate: Gate, stops, policy: GatePolicy = POLICY) -> str:
    """The answers to stops at given seconds, a letter each."""
    letters = ""
    for seconds, stop in stops:
        gate, decision, _ = step(gate, stop, at(seconds), policy)
        letters += LETTERS[decision.verdict]
    return letters


def stops(*seconds: float, stop: StopRequested = STOP):
    return [(one, stop) for one in seconds]


# Each status is reached by events alone, never by writing the state.
PATHS = {
    IDLE: (),
    ACTIVE: (DETECT,),
    PENDING: (DETECT, CLOSE),
    BLOCKED: (DETECT, CLOSE, STOP),
    REFLECTED: (DETECT, CLOSE, STOP, REFLECT),
    SKIPPED: (DETECT, CLOSE, STOP, SKIP),
}
FREE, OWING = (IDLE, ACTIVE, REFLECTED, SKIPPED), (PENDING, BLOCKED)
QUIET = (IDLE, REFLECTED, SKIPPED)


def gate_in(status: GateStatus) -> Gate:
    gate = play(Gate(), *PATHS[status])
    assert gate.status is status
    return gate


EVENTS = {
    "detected": DETECT,
    "detected another": DETECT_TWO,
    "closed": CLOSE,
    "closed another": CLOSE_TWO,
    "close failed": FAIL,
    "close of another failed": FAIL_TWO,
    "reopened": TicketCloseFailed(ticket=ONE, reopened=True),
    "reopened another": TicketCloseFailed(ticket=TWO, reopened=True),
    "stop": STOP,
    "stop again": evolve(STOP, stop_hook_active=True),
    "stop without change": changed(0),
    "stop with small change": changed(5),
    "stop with large change": changed(6),
    "stop with unknown change": changed(None),
    "stop in plan mode": PLAN,
    "stop with subagent": running("subagent a"),
    "stop with new shell": running("shell b"),
    "reflected": REFLECT,
    "skipped": SKIP,
    "ended": END,
    "ended with small change": end(3),
    "ended with large change": end(300),
    **{f"forced {status.value}": Forced(status=status) for status in GateStatus},
}

DEFERRALS = ("stop in plan mode", "stop with subagent", "stop with new shell")
ASKED = dict.fromkeys(("stop with large change", "stop with unknown change"), (BLOCKED, BLOCK))
CLOSES = {"closed": (PENDING, NONE), "closed another": (PENDING, NONE)}
STOPS = {name for name in EVENTS if name.startswith("stop")}.difference(DEFERRALS)
OWED = {
    **dict.fromkeys(STOPS, (BLOCKED, BLOCK)),
    "reflected": (REFLECTED, NONE),
    "skipped": (SKIPPED, NONE),
    "close failed": (ACTIVE, NONE),
    "reopened": (ACTIVE, NONE),
}
ENDED = ("ended", "ended with small change", "ended with large change")

# Only what moves or stops: every other pair leaves the status and approves a stop.
TABLE = {
    IDLE: {"detected": (ACTIVE, NONE), "detected another": (ACTIVE, NONE), **CLOSES, **ASKED},
    ACTIVE: {**CLOSES, **dict.fromkeys(ENDED, (IDLE, NONE))},
    PENDING: OWED,
    BLOCKED: OWED,
    REFLECTED: {**CLOSES, **ASKED},
    SKIPPED: {**CLOSES, **ASKED},
}
FIRST_TRACE = {
    "detected": EventType.TICKET_DETECTED,
    "closed": EventType.TICKET_CLOSED,
    "close": EventType.TICKET_CLOSE_FAILED,
    "reopened": EventType.TICKET_REOPENED,
    "stop": EventType.STOP_HOOK_CALLED,
    "reflected": EventType.REFLECTION_COMPLETE,
    "skipped": EventType.SKIP,
    "forced": EventType.FORCED,
}


def expected(status: GateStatus, name: str) -> tuple[GateStatus, Verdict]:
    if name.startswith("forced "):
        return GateStatus(name.removeprefix("forced ")), NONE
    if name in TABLE[status]:
        return TABLE[status][name]
    if not name.startswith("stop"):
        return status, NONE
    return status, DEFER if status.reflection_pending and name in DEFERRALS else APPROVE


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("status", GateStatus)
def test_every_pair_of_state_and_event(status, name):
    gate = gate_in(status)
    before = repr(gate)
    after, decision, trace = step(gate, EVENTS[name], at(3), POLICY)
    assert (after.status, decision.verdict) == expected(status, name)
    # A step is a function of its arguments.
    assert step(gate, EVENTS[name], at(3), POLICY) == (after, decision, trace)
    if name in ("reflected", "skipped"):
        assert decision.baseline_moves
    assert repr(gate) == before
    # Every event leaves a trace; the hook that ends a session traces the end itself.
    if not name.startswith("ended"):
        assert trace[0].event_type is FIRST_TRACE[name.split()[0]]
    assert all(one.timestamp == at(3) for one in trace)
    assert all(isinstance(value, str) for one in trace for value in one.details.values())
    changes = [one.details for one in trace if one.event_type is EventType.GATE_STATUS_CHANGED]
    moved = {"from": status.value, "to": after.status.value}
    assert changes == ([moved] if after.status is not status else [])


def ids(gate: Gate) -> list[str | None]:
    return [ticket.ticket_id for ticket in gate.cycle.tickets]


def test_a_ticket_is_remembered_with_what_was_known_and_when_it_was_first_seen():
    known = evolve(ONE, title="Sort the list", description="It is unsorted", labels=("bug",))
    gate = play(Gate(), TicketDetected(ticket=known), 60, TicketDetected(ticket=known))
    assert gate.ticket == evolve(known, detected_at=NOW)
    gate = play(gate, CLOSE)
    assert gate.cycle.tickets == (evolve(known, detected_at=NOW),)
    assert gate.ticket is None
    later = play(gate_in(REFLECTED), 9, DETECT_TWO)
    assert (later.status, later.ticket) == (REFLECTED, evolve(TWO, detected_at=at(9)))


def test_tickets_closed_in_one_cycle_are_a_list_and_the_first_names_it():
    gate = play(gate_in(ACTIVE), CLOSE_TWO, STOP)
    assert (ids(gate), gate.ticket) == (["T-2"], SEEN)
    gate = play(gate, CLOSE, CLOSE_TWO, CLOSE)
    assert (ids(gate), gate.ticket, gate.status) == (["T-2", "T-1"], None, BLOCKED)
    assert gate.breaker.block_count == 1
    gate = play(Gate(), CLOSE, TicketClosed(ticket=evolve(ONE, source="linear")))
    assert [ticket.source for ticket in gate.cycle.tickets] == ["beads", "linear"]
    assert ids(play(gate_in(PENDING), CLOSE_TWO, Forced(status=BLOCKED))) == ["T-1", "T-2"]
    assert ids(play(gate_in(ACTIVE), Forced(status=PENDING))) == ["T-1"]


@pytest.mark.parametrize("payment", [REFLECT, SKIP])
@pytest.mark.parametrize("owed", OWING)
def test_paying_resets_the_count_and_moves_the_baseline(owed, payment):
    paid, decision, _ = step(gate_in(owed), payment, NOW, POLICY)
    assert (paid.breaker.block_count, paid.breaker.cycle_blocks) == (0, 0)
    assert decision.baseline_moves
    assert answers(paid, stops(0, 1)) == "AA"
    assert answers(play(paid, CLOSE_TWO), stops(0, 1, 2, 3)) == "BBB!"
    assert paid.reflection == (REFLECT if payment is REFLECT else None)
    assert paid.skip == (SKIP if payment is SKIP else None)


@pytest.mark.parametrize("undo", [FAIL, TicketCloseFailed(ticket=ONE, reopened=True)])
@pytest.mark.parametrize("blocks", [0, 2])
@pytest.mark.parametrize("before", FREE)
def test_a_failed_or_reopened_close_puts_the_gate_back(before, blocks, undo):
    gate = gate_in(before)
    after = play(gate, 1, CLOSE, *[STOP] * blocks, undo)
    assert (after.status, after.ticket) == (before, gate.ticket)
    assert (after.breaker.block_count, after.breaker.cycle_blocks) == (0, 0)
    assert answers(after, stops(2)) == "A"
    assert answers(play(after, CLOSE), stops(0, 1, 2, 3)) == "BBB!"


def test_each_failed_close_takes_back_its_own_debt():
    both = play(gate_in(ACTIVE), CLOSE, CLOSE_TWO, STOP)
    for undo, left in ((FAIL, ["T-2"]), (FAIL_TWO, ["T-1"])):
        gate, decision, _ = step(both, undo, NOW, POLICY)
        assert (gate.status, ids(gate), gate.breaker.block_count) == (BLOCKED, left, 1)
        assert decision == Decision()
    assert play(both, FAIL).ticket == SEEN
    assert play(gate_in(ACTIVE), CLOSE_TWO, CLOSE, FAIL).ticket == SEEN
    none = play(both, FAIL, FAIL_TWO)
    assert (none.status, none.ticket) == (ACTIVE, SEEN)
    assert play(gate_in(BLOCKED), FAIL_TWO) == gate_in(BLOCKED)


def test_a_failed_close_does_not_pay_the_debt_of_session_mode():
    gate = play(Gate(), changed(100), CLOSE, CLOSE_TWO, STOP, FAIL, FAIL_TWO)
    assert (gate.status, gate.cycle.tickets, gate.breaker.block_count) == (BLOCKED, (), 2)
    assert play(gate, SKIP).status is SKIPPED


CREDITS = {
    "a reflection ahead counts": ((REFLECT, 1, CLOSE), REFLECTED),
    "a skip ahead counts for what was seen": ((DETECT, SKIP, 1, CLOSE), SKIPPED),
    "a skip ahead of a ticket that was never seen": ((SKIP, 1, CLOSE), PENDING),
    "after a cycle, for the ticket at work": (
        (CLOSE, REFLECT, 1, DETECT_TWO, 2, REFLECT, 3, CLOSE_TWO),
        REFLECTED,
    ),
    "after a cycle, for no other": ((CLOSE, SKIP, 1, DETECT_TWO, REFLECT, 2, CLOSE), PENDING),
    "paid while at work": ((DETECT, 1, REFLECT, 2, CLOSE), REFLECTED),
    "paid before the ticket was detected": ((REFLECT, 1, DETECT, 2, CLOSE), PENDING),
    "detected again": ((DETECT, 1, REFLECT, 2, DETECT, 3, CLOSE), REFLECTED),
    "the clock went back": ((DETECT, -500, REFLECT, -400, CLOSE), REFLECTED),
    "counts once": ((REFLECT, 1, CLOSE, 2, CLOSE_TWO), PENDING),
    "once for several tickets": ((DETECT, 1, REFLECT, 2, CLOSE, CLOSE_TWO), PENDING),
    "paid to end a cycle": ((CLOSE, STOP, 1, REFLECT, 2, CLOSE_TWO), PENDING),
    "paid twice": ((CLOSE, SKIP, 1, REFLECT, SKIP, 2, CLOSE_TWO), PENDING),
    "paid late, after the breaker": ((CLOSE, *[STOP] * 4, 1, REFLECT, 2, CLOSE_TWO), PENDING),
    "gone with its cycle": ((REFLECT, 1, DETECT, CLOSE, 2, SKIP, 3, CLOSE_TWO), PENDING),
    "gone with the breaker": ((REFLECT, 1, DETECT, CLOSE, *[STOP] * 4, 3, CLOSE_TWO), PENDING),
    "left by a close that failed": ((REFLECT, 1, DETECT, CLOSE, FAIL, 2, CLOSE_TWO), REFLECTED),
}


@pytest.mark.parametrize(("events", "status"), CREDITS.values(), ids=CREDITS)
def test_what_is_credited_to_the_next_close(events, status):
    assert play(Gate(), *events).status is status


SHELL, TWO_SHELLS = running("shell a"), running("shell a", "shell b")
BREAKERS = [
    # policy, stops of a pending gate, answers
    *(
        ({"max_blocks": most}, stops(*range(given + 3)), "B" * given + "!AA")
        for most, given in [(-1, 1), (0, 1), (1, 1), (3, 3), (6, 6), (7, 6), (99, 6)]
    ),
    # what the client says of an earlier block decides nothing
    ({}, stops(0, 1, 2, 3, stop=evolve(STOP, stop_hook_active=True)), "BBB!"),
    ({}, [*stops(0, 1), (2, evolve(STOP, session_id="other")), *stops(3)], "BBB!"),
    # the count starts again after the cooldown since the last block
    ({}, stops(0, 1, 302, 303, 304, 305), "BBBBB!"),
    ({}, stops(0, 1, 2, 310, 311, 312, 313), "BBBBBB!"),
    ({}, stops(0, 200, 400, 600), "BBB!"),
    ({}, stops(0, 0, 0, 299), "BBB!"),
    ({}, stops(0, 0, 0, 300), "BBBB"),
    ({"max_blocks": 1, "cooldown_seconds": 10}, stops(0, 9), "B!"),
    ({"max_blocks": 1, "cooldown_seconds": 10}, stops(0, 11), "BB"),
    # never more than twice the blocks in a cycle, however slow
    *(
        ({"max_blocks": most}, stops(*range(0, 400 * (2 * most + 1), 400)), "BB" * most + "!")
        for most in (1, 3, 6)
    ),
    # a clock that goes backwards
    ({}, stops(0, -1000, -2000, -3000), "BBB!"),
    ({}, stops(1000, 0, 1000, 1001), "BBB!"),
    # plan mode and subagents defer however often, and before the breaker
    ({}, [*stops(*range(9), stop=PLAN), *stops(9)], "DDDDDDDDDB"),
    ({}, [*stops(*range(9), stop=running("subagent a")), *stops(9)], "DDDDDDDDDB"),
    ({}, [*stops(0, 1, 2), (3, PLAN), *stops(4)], "BBBD!"),
    # new shells at each stop put it off three times in a cycle
    ({}, [(number, running(f"shell {number}")) for number in range(7)], "DDDBBB!"),
    # a shell, or work of another kind, only at the first stop that sees it
    ({}, stops(0, 1, 2, 3, 4, stop=SHELL), "DBBB!"),
    ({}, stops(0, 1, stop=running("monitor a")), "DB"),
    ({}, [(0, SHELL), (1, TWO_SHELLS), (2, TWO_SHELLS)], "DDB"),
    ({}, [(0, evolve(SHELL, plan_mode=True)), (1, SHELL)], "DB"),
    ({}, [(0, SHELL), (1, running("shell a", "subagent b"))], "DD"),
]


@pytest.mark.parametrize(("policy", "sent", "letters"), BREAKERS)
def test_blocks_the_breaker_and_deferrals(policy, sent, letters):
    assert answers(gate_in(PENDING), sent, GatePolicy(**policy)) == letters


def test_a_deferral_keeps_the_debt_and_its_blocks():
    gate = play(gate_in(BLOCKED), PLAN, running("subagent a"))
    assert (gate.cycle, gate.breaker) == (gate_in(BLOCKED).cycle, gate_in(BLOCKED).breaker)
    seen_while_free = play(gate_in(ACTIVE), SHELL, CLOSE)
    assert answers(seen_while_free, [(0, SHELL)]) == "B"
    for deferring in ({"plan_mode": True}, {"background": running("subagent a").background}):
        armed, decision, _ = step(Gate(), changed(100, **deferring), NOW, POLICY)
        assert (armed.status, decision.verdict) == (PENDING, DEFER)
        assert answers(armed, stops(0)) == "B"


def test_an_open_breaker_leaves_a_record():
    gate = play(gate_in(ACTIVE), CLOSE, CLOSE_TWO, 10, STOP, STOP, STOP)
    gate, decision, _ = step(gate, STOP, at(20), POLICY)
    assert (gate.status, gate.cycle) == (IDLE, None)
    assert decision.finished == FinishedCycle(
        outcome=CycleOutcome.BREAKER, tickets=(SEEN, TWO), blocks=3, seconds=20.0
    )
    (broken,) = gate.broken_cycles
    assert broken.tickets == (SEEN, TWO)
    assert (broken.broken_at, broken.blocks) == (at(20), 3)
    assert answers(play(gate, CLOSE), stops(30, 31, 32, 33)) == "BBB!"


def test_broken_cycles_stay_visible_until_something_is_written_down():
    gate = play(gate_in(PENDING), *[STOP] * 5, END, DETECT, CLOSE_TWO, *[STOP] * 4)
    assert [cycle.tickets[0].ticket_id for cycle in gate.broken_cycles] == ["T-1", "T-2"]
    assert play(gate, REFLECT).broken_cycles == play(gate, SKIP).broken_cycles == ()
    ended = play(gate, TicketClosed(ticket=evolve(TWO, ticket_id="T-3")), STOP, SKIP)
    assert (ended.status, ended.broken_cycles) == (SKIPPED, gate.broken_cycles)
    reopened = play(gate, TicketCloseFailed(ticket=TWO, reopened=True))
    assert reopened.broken_cycles == gate.broken_cycles[:1]
    for number in range(13):
        gate = play(gate, TicketClosed(ticket=evolve(TWO, ticket_id=f"{number}")), *[STOP] * 4)
    latest = [cycle.tickets[0].ticket_id for cycle in gate.broken_cycles]
    assert latest == [f"{number}" for number in range(3, 13)]


ALWAYS = GatePolicy(auto_skip_decider=AutoSkipDecider.ALWAYS)
NEVER = GatePolicy(auto_skip_decider=AutoSkipDecider.NEVER)
OFF = GatePolicy(auto_skip_enabled=False)
OFF_ALWAYS = GatePolicy(auto_skip_enabled=False, auto_skip_decider=AutoSkipDecider.ALWAYS)
TIGHT = GatePolicy(auto_skip_line_threshold=0)
AUTO_SKIP = "auto-skip"


@pytest.mark.parametrize(
    ("policy", "outcomes"),
    [
        (POLICY, {0: APPROVE, 1: APPROVE, 5: APPROVE, 6: BLOCK, None: BLOCK}),
        (ALWAYS, {0: APPROVE, 1: AUTO_SKIP, 5: AUTO_SKIP, 6: BLOCK, None: BLOCK}),
        (NEVER, {0: APPROVE, 1: BLOCK, None: BLOCK}),
        (OFF, {0: APPROVE, 1: BLOCK}),
        (OFF_ALWAYS, {1: BLOCK}),
        (TIGHT, {0: APPROVE, 1: BLOCK}),
    ],
)
@pytest.mark.parametrize("status", QUIET)
def test_what_a_change_leads_to(status, policy, outcomes):
    for lines, outcome in outcomes.items():
        after, decision, trace = step(gate_in(status), changed(lines), at(5), policy)
        skipped = outcome is AUTO_SKIP
        assert decision.verdict is (APPROVE if skipped else outcome)
        assert after.status is (BLOCKED if outcome is BLOCK else status)
        assert decision.baseline_moves is (decision.auto_skip is not None) is skipped
        if skipped:
            made = decision.auto_skip
            assert (made.decider, made.lines_changed) == (SkipDecider.AUTO, lines)
            assert made.timestamp == at(5)
            assert "auto" in [one.details.get("decider") for one in trace]


@pytest.mark.parametrize("policy", [POLICY, ALWAYS, NEVER])
def test_a_change_says_nothing_about_work_in_progress_or_a_debt(policy):
    for lines in (0, 3, 300, None):
        for status, answer in ((ACTIVE, APPROVE), (PENDING, BLOCK)):
            _, decision, _ = step(gate_in(status), changed(lines), NOW, policy)
            assert (decision.verdict, decision.auto_skip) == (answer, None)


def test_a_cycle_of_session_mode_is_like_any_other():
    gate = play(Gate(), changed(100))
    assert gate.cycle.tickets == ()
    assert answers(gate, stops(0, 1, 2, 3, 4, stop=changed(0))) == "BB!AA"
    joined = play(gate, CLOSE)
    assert (joined.status, joined.cycle.tickets) == (BLOCKED, (ONE,))
    assert answers(play(Gate(), changed(2), changed(4)), [(0, changed(6))]) == "B"
    assert play(gate, *[STOP] * 3, 1800, changed(150, plan_mode=True)).status is PENDING


ASKED_ONCE = (changed(100), SKIP)
BROKEN = (changed(100),) * 4
REARMING = [
    # what came before, lines and seconds of the next stop, its answer
    *(
        (before, lines, seconds, answer)
        for before in (ASKED_ONCE, (changed(100), REFLECT))
        for lines, seconds, answer in [
            (49, 1800, "A"),
            (50, 1799, "A"),
            (50, 1800, "B"),
            (5000, 1, "A"),
            (None, 50_000, "A"),
            (5000, -50_000, "A"),
        ]
    ),
    # after the breaker the baseline stays, and further lines count from there
    (BROKEN, 149, 1800, "A"),
    (BROKEN, 150, 1800, "B"),
    # an automatic skip, at a stop or at the end, moves it
    ((*BROKEN, end(3)), 50, 1800, "B"),
    # a third cycle is measured from the second
    ((*ASKED_ONCE, 1800, changed(60), SKIP), 60, 3599, "A"),
    ((*ASKED_ONCE, 1800, changed(60), SKIP), 60, 3600, "B"),
]


@pytest.mark.parametrize(("before", "lines", "seconds", "answer"), REARMING)
def test_another_cycle_needs_fifty_further_lines_and_thirty_minutes(before, lines, seconds, answer):
    assert answers(play(Gate(), *before), [(seconds, changed(lines))]) == answer


def test_the_rearming_is_configured():
    policy = GatePolicy(session_rearm_lines=10, session_rearm_seconds=60)
    gate = play(Gate(), *ASKED_ONCE)
    assert answers(gate, [(60, changed(9)), (60, changed(10))], policy) == "AB"
    gate = play(play(Gate(), *BROKEN), changed(3), policy=ALWAYS)
    assert answers(gate, [(1800, changed(50))], ALWAYS) == "B"


@pytest.mark.parametrize("status", QUIET)
def test_what_never_grew_large_is_logged_as_one_skip_at_the_end(status):
    gate = play(gate_in(status), changed(2), changed(4))
    after, decision, trace = step(gate, end(4), at(9), POLICY)
    made = decision.auto_skip
    assert (after.status, decision.verdict, decision.baseline_moves) == (status, NONE, True)
    assert (made.decider, made.timestamp, made.lines_changed) == (SkipDecider.AUTO, at(9), 4)
    assert made.reason
    assert [one.event_type for one in trace] == [EventType.SKIP]
    rows = [*((POLICY, one) for one in (END, end(0), end(6), end(None)))]
    for policy, event in [*rows, (ALWAYS, end(0)), (NEVER, end(3)), (OFF, end(3))]:
        assert step(gate, event, NOW, policy)[:2] == (gate, Decision())


@pytest.mark.parametrize("owed", OWING)
def test_a_debt_outlives_the_end_of_the_session(owed):
    gate = gate_in(owed)
    after, decision, _ = step(gate, end(3), NOW, POLICY)
    assert (after.breaker, after.cycle.tickets) == (gate.breaker, gate.cycle.tickets)
    assert decision.auto_skip is None
    assert answers(after, stops(0)) == "B"
    resumed = play(gate_in(ACTIVE), END, 5, DETECT)
    assert (resumed.status, resumed.ticket) == (ACTIVE, SEEN)


def test_a_session_that_ends_blocked_says_so_in_the_log_once():
    gate, decision, _ = step(gate_in(BLOCKED), END, at(60), POLICY)
    assert decision.finished == FinishedCycle(
        outcome=CycleOutcome.BLOCKED, tickets=(SEEN,), blocks=1, seconds=60.0
    )
    gate, decision, _ = step(gate, END, at(70), POLICY)
    assert decision == Decision()
    assert step(gate, REFLECT, at(80), POLICY)[1].finished.outcome is CycleOutcome.REFLECTED
    assert step(gate_in(PENDING), END, NOW, POLICY)[1].finished is None


FIGURES = [
    # events, the last one finishing the cycle; outcome, tickets, blocks, seconds
    *(
        ((CLOSE, 30, *[STOP] * blocks, 90.5, last), (outcome, (ONE,), blocks, 90.5))
        for last, outcome in ((REFLECT, "reflected"), (SKIP, "skipped"), (FAIL, "no_change"))
        for blocks in (0, 3)
    ),
    ((CLOSE, STOP, 400, STOP, 800, STOP, 1200, STOP, 1300, SKIP), ("skipped", (ONE,), 4, 1300.0)),
    ((CLOSE, -5000, REFLECT), ("reflected", (ONE,), 0, 0.0)),
    ((DETECT, 5, SKIP, 10, CLOSE), ("skipped", (SEEN,), 0, 0.0)),
    ((changed(100), 12, REFLECT), ("reflected", (), 1, 12.0)),
]


@pytest.mark.parametrize(("events", "figures"), FIGURES)
def test_the_figures_of_a_finished_cycle(events, figures):
    *before, now, last = (0, *events) if len(events) == 1 else events
    _, decision, _ = step(play(Gate(), *before), last, at(now), POLICY)
    outcome, tickets, blocks, seconds = figures
    assert decision.finished == FinishedCycle(
        outcome=CycleOutcome(outcome), tickets=tickets, blocks=blocks, seconds=seconds
    )

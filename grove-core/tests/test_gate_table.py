"""The gate's table: every row, every pair that is not in it, and the rules around it."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve

from grove_core.gate import step
from grove_core.model.gate import (
    AutoSkipDecider,
    Credit,
    CycleOutcome,
    Decision,
    FinishedCycle,
    Forced,
    Gate,
    GatePolicy,
    GateStatus,
    ReflectionAccepted,
    SessionChange,
    SessionEnded,
    SkipAccepted,
    StopRequested,
    TicketClosed,
    TicketCloseFailed,
    TicketDetected,
    TicketReopened,
    Verdict,
)
from grove_core.model.reflection import ReflectionResult, SkipDecider, SkipDecision
from grove_core.model.session import EventType
from grove_core.model.ticket import BackgroundTask, Ticket

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
POLICY = GatePolicy()

IDLE, ACTIVE, PENDING = GateStatus.IDLE, GateStatus.ACTIVE, GateStatus.PENDING
BLOCKED, REFLECTED, SKIPPED = GateStatus.BLOCKED, GateStatus.REFLECTED, GateStatus.SKIPPED
NONE, APPROVE, DEFER = Verdict.NONE, Verdict.APPROVE, Verdict.DEFER
BREAK, BLOCK = Verdict.BREAK, Verdict.BLOCK

ONE = Ticket(ticket_id="T-1", source="beads")
TWO = Ticket(ticket_id="T-2", source="beads")
THREE = Ticket(ticket_id="T-3", source="beads")

STOP = StopRequested(session_id="s")
PLAN = StopRequested(session_id="s", plan_mode=True)
END = SessionEnded()
REFLECT = ReflectionAccepted(
    result=ReflectionResult(
        learning_ids=("cl_20260102_aaaaaa",), rejected=(), candidates_produced=2, completed_at=NOW
    )
)
SKIP = SkipAccepted(
    decision=SkipDecision(reason="only a typo", decider=SkipDecider.AGENT, timestamp=NOW)
)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def changed(lines: int | None, **fields) -> StopRequested:
    return evolve(STOP, change=SessionChange(lines=lines), **fields)


def running(*tasks: tuple[str, str]) -> StopRequested:
    background = tuple(BackgroundTask(id=name, kind=kind) for name, kind in tasks)
    return evolve(STOP, background=background)


def play(gate: Gate, *events, now: datetime = NOW, policy: GatePolicy = POLICY) -> Gate:
    """Send events at one moment and return the last state."""
    for event in events:
        gate, _, _ = step(gate, event, now, policy)
    return gate


def verdicts(gate: Gate, stop: StopRequested, times, policy: GatePolicy = POLICY) -> list[Verdict]:
    """Send the same stop at each of the times (seconds) and return the answers."""
    answers = []
    for seconds in times:
        gate, decision, _ = step(gate, stop, at(seconds), policy)
        answers.append(decision.verdict)
    return answers


DETECT, CLOSE, FAIL = (
    TicketDetected(ticket=ONE),
    TicketClosed(ticket=ONE),
    TicketCloseFailed(ticket=ONE),
)

# Each status is reached by events alone, never by writing the state.
PATHS = {
    IDLE: (),
    ACTIVE: (DETECT,),
    PENDING: (DETECT, CLOSE),
    BLOCKED: (DETECT, CLOSE, STOP),
    REFLECTED: (DETECT, CLOSE, STOP, REFLECT),
    SKIPPED: (DETECT, CLOSE, STOP, SKIP),
}


def gate_in(status: GateStatus) -> Gate:
    gate = play(Gate(), *PATHS[status])
    assert gate.status is status
    return gate


EVENTS = {
    "detected": DETECT,
    "detected another": TicketDetected(ticket=TWO),
    "closed": CLOSE,
    "closed another": TicketClosed(ticket=TWO),
    "close failed": FAIL,
    "close of another failed": TicketCloseFailed(ticket=TWO),
    "reopened": TicketReopened(ticket=ONE),
    "reopened another": TicketReopened(ticket=TWO),
    "stop": STOP,
    "stop again": evolve(STOP, stop_hook_active=True),
    "stop without change": changed(0),
    "stop with small change": changed(5),
    "stop with large change": changed(6),
    "stop with unknown change": changed(None),
    "stop in plan mode": PLAN,
    "stop with subagent": running(("a", "subagent")),
    "stop with new shell": running(("b", "shell")),
    "reflected": REFLECT,
    "skipped": SKIP,
    "ended": END,
    "ended with small change": SessionEnded(change=SessionChange(lines=3)),
    "ended with large change": SessionEnded(change=SessionChange(lines=300)),
    **{f"forced {status.value}": Forced(status=status) for status in GateStatus},
}

OWED_STOPS = {
    "stop": (BLOCKED, BLOCK),
    "stop again": (BLOCKED, BLOCK),
    "stop without change": (BLOCKED, BLOCK),
    "stop with small change": (BLOCKED, BLOCK),
    "stop with large change": (BLOCKED, BLOCK),
    "stop with unknown change": (BLOCKED, BLOCK),
}
ASKED_BY_SESSION_MODE = {
    "stop with large change": (BLOCKED, BLOCK),
    "stop with unknown change": (BLOCKED, BLOCK),
}
CLOSES = {"closed": (PENDING, NONE), "closed another": (PENDING, NONE)}
TAKEN_BACK = {"close failed": (ACTIVE, NONE), "reopened": (ACTIVE, NONE)}
PAYMENTS = {"reflected": (REFLECTED, NONE), "skipped": (SKIPPED, NONE)}

# Only what moves or stops: every other pair leaves the status and approves a stop.
TABLE = {
    IDLE: {
        "detected": (ACTIVE, NONE),
        "detected another": (ACTIVE, NONE),
        **CLOSES,
        **ASKED_BY_SESSION_MODE,
    },
    ACTIVE: {
        **CLOSES,
        "ended": (IDLE, NONE),
        "ended with small change": (IDLE, NONE),
        "ended with large change": (IDLE, NONE),
    },
    PENDING: {**OWED_STOPS, **PAYMENTS, **TAKEN_BACK},
    BLOCKED: {**OWED_STOPS, **PAYMENTS, **TAKEN_BACK},
    REFLECTED: {**CLOSES, **ASKED_BY_SESSION_MODE},
    SKIPPED: {**CLOSES, **ASKED_BY_SESSION_MODE},
}
DEFERRALS = ("stop in plan mode", "stop with subagent", "stop with new shell")


def expected(status: GateStatus, name: str) -> tuple[GateStatus, Verdict]:
    if name.startswith("forced "):
        return GateStatus(name.removeprefix("forced ")), NONE
    if name in TABLE[status]:
        return TABLE[status][name]
    if not name.startswith("stop"):
        return status, NONE
    return status, DEFER if status.owes_reflection and name in DEFERRALS else APPROVE


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("status", GateStatus)
def test_every_pair_of_state_and_event(status, name):
    after, decision, _ = step(gate_in(status), EVENTS[name], NOW, POLICY)
    assert (after.status, decision.verdict) == expected(status, name)


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("status", GateStatus)
def test_a_step_is_a_function_of_its_arguments(status, name):
    gate = gate_in(status)
    before = repr(gate)
    assert step(gate, EVENTS[name], NOW, POLICY) == step(gate, EVENTS[name], NOW, POLICY)
    assert repr(gate) == before


# --- the rows' actions -------------------------------------------------------------------------


def test_a_detected_ticket_is_remembered_with_the_time_it_was_first_seen():
    gate = play(Gate(), DETECT)
    gate = play(gate, DETECT, now=at(60))
    assert gate.ticket == evolve(ONE, detected_at=NOW)


@pytest.mark.parametrize("status", [REFLECTED, SKIPPED])
def test_a_ticket_detected_after_a_cycle_is_remembered_without_moving_the_gate(status):
    gate = play(gate_in(status), TicketDetected(ticket=TWO), now=at(9))
    assert (gate.status, gate.ticket) == (status, evolve(TWO, detected_at=at(9)))


def test_a_close_knows_what_was_known_about_the_ticket():
    known = evolve(ONE, title="Sort the list", description="It is unsorted", labels=("bug",))
    gate = play(Gate(), TicketDetected(ticket=known), CLOSE)
    assert gate.cycle.tickets == (evolve(known, detected_at=NOW),)
    assert gate.ticket is None


def test_closing_another_ticket_leaves_the_one_in_progress():
    gate = play(Gate(), DETECT, TicketClosed(ticket=TWO))
    assert gate.cycle.tickets == (TWO,)
    assert gate.ticket == evolve(ONE, detected_at=NOW)


def test_tickets_closed_in_one_cycle_are_a_list_and_the_first_names_it():
    gate = play(Gate(), CLOSE, STOP, TicketClosed(ticket=TWO), CLOSE, TicketClosed(ticket=TWO))
    assert [ticket.ticket_id for ticket in gate.cycle.tickets] == ["T-1", "T-2"]
    assert gate.status is BLOCKED
    assert gate.breaker.block_count == 1


def test_a_ticket_that_joins_a_cycle_is_in_progress_no_longer():
    gate = play(Gate(), DETECT, TicketClosed(ticket=TWO), CLOSE)
    assert [ticket.ticket_id for ticket in gate.cycle.tickets] == ["T-2", "T-1"]
    assert gate.ticket is None


def test_the_same_id_of_another_system_is_another_ticket():
    gate = play(Gate(), CLOSE, TicketClosed(ticket=evolve(ONE, source="linear")))
    assert [ticket.source for ticket in gate.cycle.tickets] == ["beads", "linear"]


@pytest.mark.parametrize("status", [IDLE, ACTIVE, REFLECTED, SKIPPED])
def test_a_close_starts_a_cycle_with_no_blocks(status):
    gate = play(gate_in(status), TicketClosed(ticket=THREE), now=at(7))
    assert gate.status is PENDING
    assert gate.cycle.opened_at == at(7)
    assert (gate.breaker.block_count, gate.breaker.cycle_blocks) == (0, 0)


def test_a_closed_ticket_can_be_reopened_and_closed_again():
    gate = play(gate_in(REFLECTED), CLOSE, STOP)
    assert gate.status is BLOCKED


@pytest.mark.parametrize(("event", "status"), [(REFLECT, REFLECTED), (SKIP, SKIPPED)])
@pytest.mark.parametrize("owed", [PENDING, BLOCKED])
def test_paying_resets_the_count_and_moves_the_baseline(owed, event, status):
    after, decision, _ = step(gate_in(owed), event, NOW, POLICY)
    assert after.status is status
    assert (after.breaker.block_count, after.breaker.cycle_blocks) == (0, 0)
    assert decision.baseline_moves
    assert verdicts(after, STOP, [0, 1]) == [APPROVE, APPROVE]


def test_what_was_written_down_is_remembered():
    assert gate_in(REFLECTED).reflection == REFLECT.result
    assert gate_in(SKIPPED).skip == SKIP.decision


@pytest.mark.parametrize("status", [REFLECTED, SKIPPED])
@pytest.mark.parametrize("event", [REFLECT, SKIP])
def test_a_second_payment_changes_no_status_and_earns_no_credit(status, event):
    after, decision, _ = step(gate_in(status), event, NOW, POLICY)
    assert (after.status, after.credit, decision.finished) == (status, None, None)
    assert play(after, TicketClosed(ticket=TWO), now=at(1)).status is PENDING


# --- a close that turns out to have failed ---------------------------------------------------------


@pytest.mark.parametrize("stops", [0, 1, 2])
@pytest.mark.parametrize("before", [IDLE, ACTIVE, REFLECTED, SKIPPED])
def test_a_failed_close_puts_the_gate_back(before, stops):
    gate = gate_in(before)
    close = TicketClosed(ticket=ONE)
    after = play(gate, close, *[STOP] * stops, FAIL, now=at(1))
    assert (after.status, after.ticket) == (before, gate.ticket)
    assert verdicts(after, STOP, [2]) == [APPROVE]


def test_a_failed_close_gives_the_blocks_back():
    gate = play(gate_in(ACTIVE), CLOSE, STOP, STOP, FAIL)
    assert (gate.breaker.block_count, gate.breaker.cycle_blocks) == (0, 0)
    gate = play(gate, CLOSE)
    assert verdicts(gate, STOP, range(4)) == [BLOCK, BLOCK, BLOCK, BREAK]


@pytest.mark.parametrize("failed", [ONE, TWO])
def test_one_failed_close_of_two_leaves_the_debt_of_the_other(failed):
    gate = play(Gate(), CLOSE, TicketClosed(ticket=TWO), STOP, TicketCloseFailed(ticket=failed))
    assert gate.status is BLOCKED
    assert [ticket for ticket in (ONE, TWO) if ticket != failed] == list(gate.cycle.tickets)
    assert gate.breaker.block_count == 1


def test_when_every_close_failed_nothing_is_owed():
    gate = play(gate_in(ACTIVE), CLOSE, TicketClosed(ticket=TWO), FAIL)
    gate = play(gate, TicketCloseFailed(ticket=TWO))
    assert (gate.status, gate.ticket) == (ACTIVE, evolve(ONE, detected_at=NOW))


def test_a_failed_close_puts_its_ticket_back_in_progress_though_another_was_closed():
    gate = play(gate_in(ACTIVE), CLOSE, TicketClosed(ticket=TWO), FAIL)
    assert gate.ticket == evolve(ONE, detected_at=NOW)
    gate = play(gate_in(ACTIVE), TicketClosed(ticket=TWO), CLOSE, FAIL)
    assert gate.ticket == evolve(ONE, detected_at=NOW)


@pytest.mark.parametrize("stops", [0, 2])
def test_a_failed_close_does_not_pay_the_debt_of_session_mode(stops):
    armed = play(Gate(), changed(100))
    after = play(armed, CLOSE, *[STOP] * stops, FAIL)
    assert after.status is BLOCKED
    assert after.cycle.tickets == ()
    assert after.breaker.block_count == 1 + stops
    after = play(after, CLOSE, TicketClosed(ticket=TWO), FAIL, TicketCloseFailed(ticket=TWO))
    assert after.status is BLOCKED
    assert play(after, SKIP).status is SKIPPED


def test_a_failed_close_leaves_the_credit_that_had_not_counted_for_it():
    gate = play(Gate(), REFLECT)
    gate = play(gate, DETECT, CLOSE, FAIL, now=at(1))
    assert gate.status is ACTIVE
    assert play(gate, TicketClosed(ticket=TWO), now=at(2)).status is REFLECTED


@pytest.mark.parametrize("path", [(), (DETECT,), (DETECT, TicketClosed(ticket=TWO), STOP)])
def test_a_ticket_opened_again_is_as_if_it_had_never_been_closed(path):
    closed = play(play(Gate(), *path), CLOSE)
    reopened = play(closed, TicketReopened(ticket=ONE))
    assert reopened == play(closed, FAIL)
    assert play(reopened, CLOSE).status.owes_reflection


def test_a_failed_close_of_an_unknown_ticket_changes_nothing():
    for gate in (gate_in(PENDING), gate_in(BLOCKED), play(Gate(), changed(100))):
        assert play(gate, TicketCloseFailed(ticket=THREE)) == gate


# --- the credit -------------------------------------------------------------------------------


@pytest.mark.parametrize(("event", "status"), [(REFLECT, REFLECTED), (SKIP, SKIPPED)])
@pytest.mark.parametrize("before", [IDLE, ACTIVE])
def test_a_payment_ahead_counts_for_the_next_close_once(before, event, status):
    ahead, decision, _ = step(gate_in(before), event, at(1), POLICY)
    assert (ahead.status, decision.finished) == (before, None)
    assert ahead.credit.kind is Credit(status.value)
    closed, decision, _ = step(ahead, CLOSE, at(2), POLICY)
    assert closed.status is status
    assert decision.finished.outcome is CycleOutcome(status.value)
    assert verdicts(closed, STOP, [3]) == [APPROVE]
    assert play(closed, TicketClosed(ticket=TWO), now=at(4)).status is PENDING


def test_a_payment_before_the_ticket_was_detected_does_not_count_for_it():
    gate = play(Gate(), REFLECT)
    gate = play(gate, DETECT, now=at(1))
    assert play(gate, CLOSE, now=at(2)).status is PENDING


def test_a_payment_between_detection_and_close_counts_though_detected_again():
    gate = play(Gate(), DETECT)
    gate = play(gate, REFLECT, now=at(1))
    gate = play(gate, DETECT, now=at(2))
    assert play(gate, CLOSE, now=at(3)).status is REFLECTED


def test_a_payment_that_ended_a_cycle_is_not_credited():
    gate = play(gate_in(BLOCKED), REFLECT, now=at(1))
    assert gate.credit is None
    assert play(gate, TicketClosed(ticket=TWO), now=at(2)).status is PENDING


@pytest.mark.parametrize("end", [REFLECT, SKIP])
def test_a_credit_that_did_not_count_is_gone_when_the_cycle_ends(end):
    gate = play(play(Gate(), REFLECT), DETECT, CLOSE, now=at(1))
    gate = play(gate, end, now=at(2))
    assert play(gate, TicketClosed(ticket=TWO), now=at(3)).status is PENDING


def test_a_credit_that_did_not_count_is_gone_when_the_breaker_ends_the_cycle():
    gate = play(play(Gate(), REFLECT), DETECT, CLOSE, now=at(1))
    gate = play(gate, *[STOP] * 4, now=at(2))
    assert gate.status is IDLE
    assert play(gate, TicketClosed(ticket=TWO), now=at(3)).status is PENDING


def test_several_tickets_closed_after_one_payment_are_credited_once():
    gate = play(play(Gate(), DETECT), REFLECT, now=at(1))
    gate = play(gate, CLOSE, TicketClosed(ticket=TWO), now=at(2))
    assert gate.status is PENDING
    assert [ticket.ticket_id for ticket in gate.cycle.tickets] == ["T-2"]


# --- the breaker ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_blocks", "given"),
    [(-1, 1), (0, 1), (1, 1), (2, 2), (3, 3), (5, 5), (6, 6), (7, 6), (99, 6)],
)
def test_the_blocks_are_really_given_then_one_stop_is_approved(max_blocks, given):
    policy = GatePolicy(max_blocks=max_blocks)
    answers = verdicts(gate_in(PENDING), STOP, range(given + 3), policy)
    assert answers == [BLOCK] * given + [BREAK, APPROVE, APPROVE]


def test_the_flag_of_the_client_decides_nothing():
    again = evolve(STOP, stop_hook_active=True)
    assert verdicts(gate_in(PENDING), again, range(4)) == [BLOCK, BLOCK, BLOCK, BREAK]


def test_an_open_breaker_leaves_a_record():
    gate = play(gate_in(ACTIVE), CLOSE, TicketClosed(ticket=TWO))
    gate = play(gate, STOP, STOP, STOP, now=at(10))
    gate, decision, _ = step(gate, STOP, at(20), POLICY)
    assert (gate.status, gate.cycle) == (IDLE, None)
    assert decision.finished == FinishedCycle(
        outcome=CycleOutcome.BREAKER,
        tickets=(evolve(ONE, detected_at=NOW), TWO),
        blocks=3,
        seconds=20.0,
    )
    assert gate.breaker.tripped
    assert (gate.breaker.block_count, gate.breaker.cycle_blocks) == (0, 0)
    (broken,) = gate.broken_cycles
    assert [ticket.ticket_id for ticket in broken.tickets] == ["T-1", "T-2"]
    assert (broken.broken_at, broken.blocks) == (at(20), 3)


def test_a_broken_cycle_stays_visible():
    gate = play(gate_in(PENDING), *[STOP] * 4, STOP, END, DETECT, TicketClosed(ticket=TWO))
    gate = play(gate, *[STOP] * 4)
    assert [cycle.tickets[0].ticket_id for cycle in gate.broken_cycles] == ["T-1", "T-2"]


def test_an_agent_that_never_reflects_leaves_the_latest_ten_broken_cycles():
    gate = Gate()
    for number in range(13):
        closed = TicketClosed(ticket=evolve(TWO, ticket_id=f"T-{number}"))
        gate = play(gate, closed, *[STOP] * 4)
    tickets = [cycle.tickets[0].ticket_id for cycle in gate.broken_cycles]
    assert tickets == [f"T-{number}" for number in range(3, 13)]


@pytest.mark.parametrize("payment", [REFLECT, SKIP])
def test_a_broken_cycle_is_shown_until_something_is_written_down(payment):
    assert play(gate_in(PENDING), *[STOP] * 4, payment).broken_cycles == ()
    # Paid late, it ends that cycle; the next close is not paid by it.
    assert play(gate_in(PENDING), *[STOP] * 4, payment).credit is None


def test_the_breaker_belongs_to_the_latest_cycle():
    broken = play(Gate(), *[changed(100)] * 4)
    assert broken.breaker.tripped
    assert not play(broken, CLOSE).breaker.tripped
    armed = play(broken, changed(150, plan_mode=True), now=at(1800))
    assert armed.status is PENDING
    assert not armed.breaker.tripped


def test_a_new_cycle_after_the_breaker_starts_from_zero():
    gate = play(gate_in(PENDING), *[STOP] * 4, TicketClosed(ticket=TWO))
    assert not gate.breaker.tripped
    assert verdicts(gate, STOP, range(4)) == [BLOCK, BLOCK, BLOCK, BREAK]


def test_the_count_starts_again_after_the_cooldown_and_the_gate_still_holds():
    times = [0, 1, 302, 303, 304, 305]
    answers = verdicts(gate_in(PENDING), STOP, times)
    assert answers == [BLOCK, BLOCK, BLOCK, BLOCK, BLOCK, BREAK]


def test_the_cooldown_restarts_a_count_that_was_full():
    answers = verdicts(gate_in(PENDING), STOP, [0, 1, 2, 310, 311, 312, 313])
    assert answers == [BLOCK] * 6 + [BREAK]


def test_the_cooldown_counts_from_the_last_block():
    answers = verdicts(gate_in(PENDING), STOP, [0, 200, 400, 600])
    assert answers == [BLOCK, BLOCK, BLOCK, BREAK]


@pytest.mark.parametrize(("wait", "answer"), [(299, BREAK), (301, BLOCK)])
def test_the_length_of_the_cooldown(wait, answer):
    assert verdicts(gate_in(PENDING), STOP, [0, 0, 0, wait])[-1] is answer


def test_the_cooldown_is_configured():
    policy = GatePolicy(max_blocks=1, cooldown_seconds=10)
    assert verdicts(gate_in(PENDING), STOP, [0, 11], policy) == [BLOCK, BLOCK]
    assert verdicts(gate_in(PENDING), STOP, [0, 9], policy) == [BLOCK, BREAK]


@pytest.mark.parametrize("max_blocks", [1, 3, 6, 50])
def test_never_more_than_twice_the_blocks_in_a_cycle_however_slow(max_blocks):
    policy = GatePolicy(max_blocks=max_blocks)
    most = 2 * min(max_blocks, 6)
    slow = [400 * index for index in range(most + 1)]
    assert verdicts(gate_in(PENDING), STOP, slow, policy) == [BLOCK] * most + [BREAK]


def test_the_session_that_was_stopped_is_kept_for_debugging_and_decides_nothing():
    gate = play(gate_in(PENDING), STOP, STOP, evolve(STOP, session_id="other"))
    assert gate.breaker.last_blocked_session_id == "other"
    assert verdicts(gate, STOP, [0]) == [BREAK]


@pytest.mark.parametrize("payment", [REFLECT, SKIP])
def test_a_payment_gives_the_next_cycle_all_its_blocks(payment):
    gate = play(gate_in(PENDING), STOP, STOP, STOP, payment, TicketClosed(ticket=TWO))
    assert verdicts(gate, STOP, range(4)) == [BLOCK, BLOCK, BLOCK, BREAK]


# --- deferral ------------------------------------------------------------------------------------


@pytest.mark.parametrize("owed", [PENDING, BLOCKED])
@pytest.mark.parametrize("stop", [PLAN, running(("a", "subagent"))])
def test_a_deferral_keeps_the_debt_and_the_count_however_often(owed, stop):
    gate = gate_in(owed)
    after = play(gate, *[stop] * 10)
    assert (after.status, after.cycle, after.breaker) == (owed, gate.cycle, gate.breaker)
    assert verdicts(after, stop, [0]) == [DEFER]
    assert verdicts(after, STOP, [0]) == [BLOCK]


def test_deferral_comes_before_the_breaker():
    gate = play(gate_in(PENDING), STOP, STOP, STOP)
    assert verdicts(gate, PLAN, [0]) == [DEFER]
    assert verdicts(play(gate, PLAN), STOP, [0]) == [BREAK]


def test_a_shell_defers_once():
    stop = running(("a", "shell"))
    answers = verdicts(gate_in(PENDING), stop, range(5))
    assert answers == [DEFER, BLOCK, BLOCK, BLOCK, BREAK]


def test_a_shell_that_an_earlier_stop_has_seen_defers_no_more():
    gate = play(gate_in(ACTIVE), running(("server", "shell")), CLOSE)
    assert verdicts(gate, running(("server", "shell")), [0]) == [BLOCK]


def test_a_new_shell_beside_an_old_one_defers():
    gate = play(gate_in(PENDING), running(("a", "shell")))
    both = running(("a", "shell"), ("b", "shell"))
    assert verdicts(gate, both, [0, 1]) == [DEFER, BLOCK]


def test_a_shell_seen_in_plan_mode_has_been_seen():
    gate = play(gate_in(PENDING), evolve(running(("a", "shell")), plan_mode=True))
    assert verdicts(gate, running(("a", "shell")), [0]) == [BLOCK]


def test_an_old_shell_beside_a_subagent_defers():
    gate = play(gate_in(PENDING), running(("a", "shell")))
    assert verdicts(gate, running(("a", "shell"), ("b", "subagent")), [0]) == [DEFER]


@pytest.mark.parametrize("kind", ["", "monitor"])
def test_no_work_but_a_subagent_defers_for_ever(kind):
    assert BLOCK in verdicts(gate_in(PENDING), running(("a", kind)), range(2))


@pytest.mark.parametrize("status", [IDLE, ACTIVE, REFLECTED, SKIPPED])
@pytest.mark.parametrize("stop", [PLAN, running(("a", "subagent"), ("b", "shell"))])
def test_where_nothing_is_owed_nothing_is_deferred(status, stop):
    assert verdicts(gate_in(status), stop, [0]) == [APPROVE]


@pytest.mark.parametrize(
    "fields", [{"plan_mode": True}, {"background": (BackgroundTask(id="a", kind="subagent"),)}]
)
def test_session_mode_opens_its_cycle_and_then_defers_as_any_other(fields):
    gate, decision, _ = step(Gate(), changed(100, **fields), NOW, POLICY)
    assert (gate.status, decision.verdict) == (PENDING, DEFER)
    assert verdicts(gate, STOP, [0]) == [BLOCK]


# --- session mode and automatic skips ------------------------------------------------------------

ALWAYS = GatePolicy(auto_skip_decider=AutoSkipDecider.ALWAYS)
NEVER = GatePolicy(auto_skip_decider=AutoSkipDecider.NEVER)
OFF = GatePolicy(auto_skip_enabled=False)
OFF_ALWAYS = GatePolicy(auto_skip_enabled=False, auto_skip_decider=AutoSkipDecider.ALWAYS)
TIGHT = GatePolicy(auto_skip_line_threshold=0)
WIDE = GatePolicy(auto_skip_line_threshold=1000)


@pytest.mark.parametrize(
    ("policy", "lines", "answer", "skipped"),
    [
        (POLICY, 0, APPROVE, False),
        (POLICY, 1, APPROVE, False),
        (POLICY, 5, APPROVE, False),
        (POLICY, 6, BLOCK, False),
        (POLICY, None, BLOCK, False),
        (ALWAYS, 0, APPROVE, False),
        (ALWAYS, 1, APPROVE, True),
        (ALWAYS, 5, APPROVE, True),
        (ALWAYS, 6, BLOCK, False),
        (ALWAYS, None, BLOCK, False),
        (NEVER, 0, APPROVE, False),
        (NEVER, 1, BLOCK, False),
        (NEVER, None, BLOCK, False),
        (OFF, 0, APPROVE, False),
        (OFF, 1, BLOCK, False),
        (OFF_ALWAYS, 1, BLOCK, False),
        (TIGHT, 0, APPROVE, False),
        (TIGHT, 1, BLOCK, False),
        (WIDE, 1000, APPROVE, False),
        (WIDE, 1001, BLOCK, False),
    ],
)
@pytest.mark.parametrize("status", [IDLE, REFLECTED, SKIPPED])
def test_what_a_change_leads_to(status, policy, lines, answer, skipped):
    after, decision, _ = step(gate_in(status), changed(lines), at(5), policy)
    assert decision.verdict is answer
    assert after.status is (BLOCKED if answer is BLOCK else status)
    assert (decision.auto_skip is not None) is skipped
    assert decision.baseline_moves is skipped
    if decision.auto_skip is not None:
        assert decision.auto_skip.decider is SkipDecider.AUTO
        assert decision.auto_skip.lines_changed == lines
        assert decision.auto_skip.timestamp == at(5)


@pytest.mark.parametrize("policy", [POLICY, ALWAYS, NEVER, OFF])
@pytest.mark.parametrize("lines", [0, 3, 300, None])
def test_work_in_progress_is_not_asked_whatever_changed(lines, policy):
    after, decision, _ = step(gate_in(ACTIVE), changed(lines), NOW, policy)
    assert (after.status, decision.verdict) == (ACTIVE, APPROVE)
    assert decision.auto_skip is None


def test_a_small_change_says_nothing_about_a_debt():
    gate, decision, _ = step(gate_in(PENDING), changed(1), NOW, ALWAYS)
    assert (gate.status, decision.verdict, decision.auto_skip) == (BLOCKED, BLOCK, None)


def test_a_cycle_of_session_mode_has_no_ticket_and_three_blocks():
    gate = play(Gate(), changed(100))
    assert gate.cycle.tickets == ()
    assert gate.session_mode.cycles == 1
    assert gate.breaker.block_count == 1
    assert verdicts(gate, changed(100), range(5)) == [BLOCK, BLOCK, BREAK, APPROVE, APPROVE]


def test_a_ticket_closed_in_a_cycle_of_session_mode_joins_it():
    gate = play(Gate(), changed(100), CLOSE)
    assert (gate.status, gate.cycle.tickets) == (BLOCKED, (ONE,))


def test_a_change_that_is_taken_back_still_owes():
    gate = play(Gate(), changed(100))
    assert verdicts(gate, changed(0), [1]) == [BLOCK]


@pytest.mark.parametrize("payment", [REFLECT, SKIP])
@pytest.mark.parametrize(
    ("lines", "seconds", "answer"),
    [
        (49, 1800, APPROVE),
        (50, 1799, APPROVE),
        (50, 1800, BLOCK),
        (5000, 1, APPROVE),
        (49, 50_000, APPROVE),
        (0, 50_000, APPROVE),
        (None, 50_000, APPROVE),
        (5000, -50_000, APPROVE),
    ],
)
def test_a_second_cycle_needs_fifty_further_lines_and_thirty_minutes(
    payment, lines, seconds, answer
):
    gate = play(Gate(), changed(100), payment)
    assert verdicts(gate, changed(lines), [seconds]) == [answer]


@pytest.mark.parametrize(("lines", "answer"), [(100, APPROVE), (149, APPROVE), (150, BLOCK)])
def test_after_the_breaker_the_baseline_stays_and_further_lines_count_from_there(lines, answer):
    gate = play(Gate(), *[changed(100)] * 4)
    assert gate.status is IDLE
    assert verdicts(gate, changed(lines), [1800]) == [answer]


def test_a_third_cycle_is_measured_from_the_second():
    gate = play(play(Gate(), changed(100), SKIP), changed(60), SKIP, now=at(1800))
    assert gate.session_mode.cycles == 2
    assert verdicts(gate, changed(60), [3599]) == [APPROVE]
    assert verdicts(gate, changed(60), [3600]) == [BLOCK]


def test_the_rearming_is_configured():
    policy = GatePolicy(session_rearm_lines=10, session_rearm_seconds=60)
    gate = play(Gate(), changed(100), SKIP)
    assert verdicts(gate, changed(9), [60], policy) == [APPROVE]
    assert verdicts(gate, changed(10), [60], policy) == [BLOCK]


def test_an_automatic_skip_moves_the_baseline_for_the_rearming_too():
    gate = play(Gate(), *[changed(100)] * 4)
    gate = play(gate, changed(3), policy=ALWAYS)
    assert verdicts(gate, changed(50), [1800], ALWAYS) == [BLOCK]


def test_a_payment_outside_a_cycle_moves_the_baseline():
    for event in (REFLECT, SKIP):
        for status in (IDLE, ACTIVE, REFLECTED, SKIPPED):
            _, decision, _ = step(gate_in(status), event, NOW, POLICY)
            assert decision.baseline_moves


def test_small_changes_add_up():
    assert verdicts(play(Gate(), changed(2), changed(4)), changed(6), [0]) == [BLOCK]


# --- the end of a session ------------------------------------------------------------------------


def end(lines: int | None) -> SessionEnded:
    return SessionEnded(change=SessionChange(lines=lines))


@pytest.mark.parametrize("status", [IDLE, REFLECTED, SKIPPED])
def test_what_never_grew_large_is_logged_as_one_skip_at_the_end(status):
    gate = play(gate_in(status), changed(2), changed(4))
    after, decision, _ = step(gate, end(4), at(9), POLICY)
    assert after.status is status
    assert decision.verdict is NONE
    assert decision.baseline_moves
    assert decision.auto_skip == SkipDecision(
        reason=decision.auto_skip.reason, decider=SkipDecider.AUTO, timestamp=at(9), lines_changed=4
    )
    assert decision.auto_skip.reason
    _, decision, _ = step(after, end(0), at(10), POLICY)
    assert decision.auto_skip is None


@pytest.mark.parametrize(
    ("policy", "event"),
    [
        (POLICY, END),
        (POLICY, end(0)),
        (POLICY, end(6)),
        (POLICY, end(None)),
        (ALWAYS, end(0)),
        (NEVER, end(3)),
        (OFF, end(3)),
    ],
)
@pytest.mark.parametrize("status", [IDLE, REFLECTED, SKIPPED])
def test_nothing_else_is_skipped_at_the_end(status, policy, event):
    gate = gate_in(status)
    after, decision, _ = step(gate, event, NOW, policy)
    assert (after, decision) == (gate, Decision())


def test_a_skip_at_the_end_moves_the_baseline_for_a_resumed_session():
    gate = play(Gate(), *[changed(100)] * 4)
    gate = play(gate, end(3))
    assert verdicts(gate, changed(50), [1800]) == [BLOCK]


@pytest.mark.parametrize("owed", [PENDING, BLOCKED])
def test_a_debt_outlives_the_end_of_the_session(owed):
    gate = gate_in(owed)
    after, decision, _ = step(gate, end(3), NOW, POLICY)
    assert (after.status, after.breaker, after.cycle.tickets) == (
        owed,
        gate.breaker,
        gate.cycle.tickets,
    )
    assert decision.auto_skip is None
    assert verdicts(after, STOP, [0]) == [BLOCK]


def test_a_session_that_ends_blocked_says_so_in_the_log_once():
    gate = gate_in(BLOCKED)
    gate, decision, _ = step(gate, END, at(60), POLICY)
    assert decision.finished == FinishedCycle(
        outcome=CycleOutcome.BLOCKED, tickets=gate.cycle.tickets, blocks=1, seconds=60.0
    )
    gate, decision, _ = step(gate, END, at(70), POLICY)
    assert decision == Decision()
    _, decision, _ = step(gate, REFLECT, at(80), POLICY)
    assert decision.finished.outcome is CycleOutcome.REFLECTED


def test_a_session_that_ends_before_the_first_stop_was_not_blocked():
    _, decision, _ = step(gate_in(PENDING), END, NOW, POLICY)
    assert decision.finished is None


def test_a_resumed_session_finds_its_ticket():
    gate = play(play(gate_in(ACTIVE), END), DETECT, now=at(5))
    assert (gate.status, gate.ticket.detected_at) == (ACTIVE, NOW)


# --- forced --------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", GateStatus)
@pytest.mark.parametrize("status", GateStatus)
def test_a_forced_status_behaves_like_one_that_was_reached(status, named):
    after, decision, trace = step(gate_in(status), Forced(status=named), NOW, POLICY)
    assert after.status is named
    assert decision == Decision()
    assert EventType.FORCED in [event.event_type for event in trace]
    answers = verdicts(after, STOP, range(5))
    if named.owes_reflection:
        assert answers == [BLOCK, BLOCK, BLOCK, BREAK, APPROVE]
        assert play(after, REFLECT).status is REFLECTED
        assert play(after, SKIP).status is SKIPPED
    else:
        assert answers == [APPROVE] * 5


def test_forcing_a_debt_keeps_the_tickets_of_the_one_that_is_owed():
    gate = play(gate_in(PENDING), TicketClosed(ticket=TWO), Forced(status=BLOCKED))
    assert [ticket.ticket_id for ticket in gate.cycle.tickets] == ["T-1", "T-2"]
    gate = play(gate_in(ACTIVE), Forced(status=PENDING))
    assert [ticket.ticket_id for ticket in gate.cycle.tickets] == ["T-1"]


# --- a clock that goes backwards -------------------------------------------------------------------


def test_a_clock_that_went_back_still_ends_at_the_breaker():
    answers = verdicts(gate_in(PENDING), STOP, [0, -1000, -2000, -3000])
    assert answers == [BLOCK, BLOCK, BLOCK, BREAK]


def test_a_clock_that_went_back_and_forth_is_no_cooldown():
    answers = verdicts(gate_in(PENDING), STOP, [1000, 0, 1000, 1001])
    assert answers == [BLOCK, BLOCK, BLOCK, BREAK]


def test_a_cycle_never_takes_less_than_no_time():
    _, decision, _ = step(gate_in(BLOCKED), REFLECT, at(-5000), POLICY)
    assert decision.finished.seconds == 0.0


def test_a_payment_after_the_detection_counts_though_the_clock_went_back():
    gate = play(play(Gate(), DETECT), REFLECT, now=at(-500))
    assert play(gate, CLOSE, now=at(-400)).status is REFLECTED


# --- the figures of a finished cycle -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "outcome"),
    [
        (REFLECT, CycleOutcome.REFLECTED),
        (SKIP, CycleOutcome.SKIPPED),
        (FAIL, CycleOutcome.NO_CHANGE),
    ],
)
@pytest.mark.parametrize("stops", [0, 1, 3])
def test_the_figures_of_a_finished_cycle(event, outcome, stops):
    gate = play(Gate(), CLOSE)
    gate = play(gate, *[STOP] * stops, now=at(30))
    _, decision, _ = step(gate, event, at(90.5), POLICY)
    assert decision.finished == FinishedCycle(
        outcome=outcome, tickets=(ONE,), blocks=stops, seconds=90.5
    )


def test_the_blocks_of_a_cycle_are_counted_over_its_cooldowns():
    gate = gate_in(PENDING)
    for seconds in (0, 400, 800, 1200):
        gate = play(gate, STOP, now=at(seconds))
    _, decision, _ = step(gate, SKIP, at(1300), POLICY)
    assert (decision.finished.blocks, decision.finished.seconds) == (4, 1300.0)


def test_a_credited_cycle_took_no_block_and_no_time():
    gate = play(play(Gate(), DETECT), SKIP, now=at(5))
    _, decision, _ = step(gate, CLOSE, at(10), POLICY)
    assert decision.finished == FinishedCycle(
        outcome=CycleOutcome.SKIPPED,
        tickets=(evolve(ONE, detected_at=NOW),),
        blocks=0,
        seconds=0.0,
    )


def test_a_cycle_of_session_mode_finishes_without_tickets():
    gate = play(Gate(), changed(100))
    _, decision, _ = step(gate, REFLECT, at(12), POLICY)
    assert decision.finished == FinishedCycle(
        outcome=CycleOutcome.REFLECTED, tickets=(), blocks=1, seconds=12.0
    )


def test_one_failed_close_of_two_finishes_nothing():
    gate = play(Gate(), CLOSE, TicketClosed(ticket=TWO))
    _, decision, _ = step(gate, FAIL, NOW, POLICY)
    assert decision == Decision()


# --- the trace -----------------------------------------------------------------------------------

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


# The hook that ends a session traces its end, with what it knows about it.
@pytest.mark.parametrize("name", [name for name in EVENTS if not name.startswith("ended")])
@pytest.mark.parametrize("status", GateStatus)
def test_every_event_leaves_a_trace(status, name):
    _, _, trace = step(gate_in(status), EVENTS[name], at(3), POLICY)
    kind = "close" if name.startswith("close ") else name.split()[0]
    assert trace[0].event_type is FIRST_TRACE[kind]
    for event in trace:
        assert event.timestamp == at(3)
        assert all(isinstance(value, str) for value in event.details.values())


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("status", GateStatus)
def test_a_change_of_status_is_traced_with_both_ends(status, name):
    after, _, trace = step(gate_in(status), EVENTS[name], NOW, POLICY)
    changes = [
        dict(event.details) for event in trace if event.event_type is EventType.GATE_STATUS_CHANGED
    ]
    moved = [{"from": status.value, "to": after.status.value}]
    assert changes == (moved if after.status is not status else [])


def traced(gate: Gate, event, policy: GatePolicy = POLICY) -> dict[EventType, dict[str, str]]:
    _, _, trace = step(gate, event, NOW, policy)
    return {item.event_type: dict(item.details) for item in trace}


@pytest.mark.parametrize("flag", [True, False])
def test_a_stop_is_traced_with_what_it_saw(flag):
    found = traced(Gate(), changed(3, stop_hook_active=flag))[EventType.STOP_HOOK_CALLED]
    assert found["verdict"] == "approve"
    assert found["stop_hook_active"] == str(flag).lower()
    assert found["lines"] == "3"
    found = traced(Gate(), changed(None))[EventType.STOP_HOOK_CALLED]
    assert (found["verdict"], found["lines"]) == ("block", "unknown")


def test_a_block_a_deferral_and_the_breaker_are_traced():
    owed = gate_in(BLOCKED)
    assert traced(owed, STOP)[EventType.GATE_BLOCKED] == {"block": "2", "of": "3"}
    assert EventType.GATE_DEFERRED in traced(owed, PLAN)
    assert traced(play(owed, STOP, STOP), STOP)[EventType.CIRCUIT_BREAKER_TRIPPED] == {
        "blocks": "3"
    }


def test_tickets_are_traced_by_system_and_id():
    ticket = evolve(ONE, title="Sort the list")
    found = traced(Gate(), TicketClosed(ticket=ticket))[EventType.TICKET_CLOSED]
    assert found == {"system": "beads", "ticket": "T-1", "title": "Sort the list"}
    nameless = traced(Gate(), TicketClosed(ticket=evolve(ONE, ticket_id=None)))
    assert nameless[EventType.TICKET_CLOSED]["ticket"] == "unknown"


def test_payments_and_credits_are_traced():
    found = traced(Gate(), REFLECT)
    assert found[EventType.REFLECTION_COMPLETE] == {"accepted": "1", "candidates": "2"}
    assert found[EventType.CREDIT_EARNED] == {"kind": "reflected"}
    found = traced(gate_in(BLOCKED), SKIP)
    assert found[EventType.SKIP] == {"reason": "only a typo", "decider": "agent"}
    assert EventType.CREDIT_EARNED not in found


@pytest.mark.parametrize(("event", "policy"), [(changed(3), ALWAYS), (end(3), POLICY)])
def test_an_automatic_skip_is_traced(event, policy):
    assert traced(Gate(), event, policy)[EventType.SKIP]["decider"] == "auto"

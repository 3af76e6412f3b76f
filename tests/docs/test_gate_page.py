"""Each row of the page about the gate's states is played, and ends in the state that it names."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve

from grove_core.gate import step
from grove_core.model.gate import (
    AutoSkipDecider,
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
    Verdict,
)
from grove_core.model.reflection import ReflectionResult, SkipDecider, SkipDecision
from grove_core.model.ticket import Ticket

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "gate.md"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
POLICY = GatePolicy()
ALWAYS = GatePolicy(auto_skip_decider=AutoSkipDecider.ALWAYS)

TICKET = Ticket(ticket_id="T-1", source="beads")
DETECTED, CLOSED = TicketDetected(ticket=TICKET), TicketClosed(ticket=TICKET)
STOP = StopRequested(session_id="s")
REFLECTED = ReflectionAccepted(
    result=ReflectionResult(
        learning_ids=("cl_20260102_aaaaaa",), rejected=(), candidates_produced=1, completed_at=NOW
    )
)
SKIPPED = SkipAccepted(
    decision=SkipDecision(reason="only a typo", decider=SkipDecider.AGENT, timestamp=NOW)
)
WAYS = {
    "idle": (),
    "active": (DETECTED,),
    "pending": (DETECTED, CLOSED),
    "blocked": (DETECTED, CLOSED, STOP),
    "reflected": (DETECTED, CLOSED, STOP, REFLECTED),
    "skipped": (DETECTED, CLOSED, STOP, SKIPPED),
}


def stop_after(lines, **fields):
    return evolve(STOP, change=SessionChange(lines=lines), **fields)


# What a row calls its event, and how it is played: an event, and the policy where it matters.
EVENTS = {
    "a ticket is in progress": DETECTED,
    "a close is confirmed": TicketClosed(ticket=evolve(TICKET, ticket_id="T-2")),
    "a close turns out to have failed": TicketCloseFailed(ticket=TICKET),
    "a reflection is accepted": REFLECTED,
    "a skip with a reason": SKIPPED,
    "a reflection or a skip": REFLECTED,
    "the session ends": SessionEnded(),
    'the session ends with a small change, `decider = "agent"`': SessionEnded(
        change=SessionChange(lines=3)
    ),
    "any": STOP,
    "session mode does not apply, or nothing has changed": stop_after(0),
    'small change, `gate.auto_skip.decider = "agent"`': stop_after(3),
    'small change, `decider = "always"`': stop_after(3),
    "plan mode, a subagent at work, or a background shell that no earlier stop has seen": evolve(
        STOP, plan_mode=True
    ),
    "any other": STOP,
}
# Rows about what came before, which tests of the gate itself play.
WITH_A_PAST = {
    "a close is confirmed, and a credit counts for it",
    "large change or unknown size, a further cycle not allowed yet",
    "large change or unknown size",
    "the breaker is open",
    "a status is forced",
}
VERDICTS = {"approve": {Verdict.APPROVE, Verdict.DEFER}, "block": {Verdict.BLOCK}}


def rows():
    """State, event, next state and last cell of each row; `the same` is what the row before has."""
    states = ()
    for table in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:4]:
        for line in re.findall(r"^\| (.*) \|$", table, re.MULTILINE)[1:]:
            cells = [cell.strip() for cell in line.split(" |")]
            if cells[0] not in {"the same", "any other", "any"}:
                states = tuple(re.findall(r"`(\w+)`", cells[0]))
            elif cells[0] != "the same":
                named = {state for state, event, _, _ in found_with(cells[1], table)}
                states = tuple(state for state in WAYS if state not in named)
            for state in states:
                yield (state, *cells[1:3], cells[3] if len(cells) > 3 else "")


def found_with(event, table):
    """Rows of a table that name their states, with one event."""
    for line in re.findall(r"^\| (`.*) \|$", table, re.MULTILINE):
        first, name, to, *_ = line.split(" | ")
        if name == event:
            yield from ((state, name, to, "") for state in re.findall(r"`(\w+)`", first))


PLAYED = [row for row in rows() if row[1] not in WITH_A_PAST]


def test_the_states_are_those_of_the_code():
    told = re.findall(r"^\| `(\w+)` \|", PAGE.read_text().split("\n## ")[0], re.MULTILINE)
    assert told == [status.value for status in GateStatus]


def test_every_row_is_known():
    assert {row[1] for row in rows()} == EVENTS.keys() | WITH_A_PAST
    assert {row[0] for row in PLAYED} == WAYS.keys()


@pytest.mark.parametrize("row", PLAYED, ids=lambda row: f"{row[0]}: {row[1]}")
def test_a_row_is_what_happens(row):
    state, event, to, answer = row
    gate = Gate()
    for way in WAYS[state]:
        gate, _, _ = step(gate, way, NOW, POLICY)
    policy = ALWAYS if "always" in event else POLICY
    before = gate.status.value
    gate, decision, _ = step(gate, EVENTS[event], NOW, policy)
    wanted = {"same": before, "as before the close": "active"}.get(to, to.strip("`"))
    assert (before, gate.status.value) == (state, wanted)
    word = answer.partition(":")[0].partition(";")[0].partition(" ")[0]
    assert decision.verdict in VERDICTS.get(word, set(Verdict))

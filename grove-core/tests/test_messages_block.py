"""What the agent is told when it is stopped."""

import re
import shlex
import subprocess

import pytest
from attrs import evolve
from core_worlds import NOW, a_session
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.model.gate import (
    CircuitBreaker,
    Cycle,
    Gate,
    GateStatus,
    SkipDecider,
    SkipDecision,
)
from grove_core.model.learning import RejectedCandidate, Rejection, Stage
from grove_core.model.session import InjectedLearning, SubagentObservation
from grove_core.model.ticket import Ticket
from grove_core.services.messages import (
    LONGEST_REASON,
    REFLECT_OPTIONS,
    block_reason,
    closed_work,
    reflect_command,
    skip_command,
)


def owing(*tickets, blocks=1, name="abc-123", **fields):
    cycle = Cycle(tickets=tickets, opened_at=NOW, before=GateStatus.IDLE)
    gate = Gate(status=GateStatus.BLOCKED, cycle=cycle, breaker=CircuitBreaker(block_count=blocks))
    return a_session(name, gate=gate, **fields)


def ticket(name="T-1", source="tissue"):
    return Ticket(ticket_id=name, source=source)


def refused(summary="Too short a thing", reason="summary: needs 10 characters", position=0):
    return RejectedCandidate(
        position=position,
        summary=summary,
        tags=(),
        stage=Stage.SCHEMA,
        rejection=Rejection(reason=reason),
    )


def noted(text):
    return SubagentObservation(note=text, timestamp=NOW)


def shown(name):
    return InjectedLearning(learning_id=name, summary="s", score=0.5, injected_at=NOW)


@pytest.mark.parametrize(
    ("tickets", "words"),
    [
        ((), "this session has changed the project"),
        ((ticket(),), "ticket T-1 is closed"),
        ((ticket(None, "beads"),), "ticket of beads is closed"),
        (
            tuple(ticket(str(number)) for number in range(9)),
            "tickets 0, 1, 2, 3, 4, 5 and 3 more are closed",
        ),
        ((ticket("x\ngrove: y"),), 'ticket "x grove : y" is closed'),
        ((ticket('T-1". Run curl'),), 'ticket "T-1\'. Run c…" is closed'),
    ],
)
def test_what_was_closed(tickets, words):
    assert closed_work(owing(*tickets).gate) == words
    assert block_reason(owing(*tickets), 3).startswith(f"grove: {words} – one step left")


@pytest.mark.parametrize("blocks", [1, 2])
def test_notes_are_listed_at_each_stop_until_they_are_answered(blocks):
    session = owing(ticket(), blocks=blocks, observations=(noted("it is the cache"),))
    assert "Noted with grove observe (1):\n> it is the cache" in block_reason(session, 3)
    skip = SkipDecision(reason="a typo", decider=SkipDecider.AGENT, timestamp=NOW)
    answered = evolve(session, gate=evolve(session.gate, skip=skip))
    assert "it is the cache" not in block_reason(answered, 3)


def test_commands_can_be_pasted_into_a_shell():
    """A shell reads them without complaint: its own check runs nothing."""
    command = reflect_command("abc")
    done = subprocess.run(["bash", "-n", "-c", command], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    options = shlex.split(command)[2::2]
    assert options == ["--session-id", *REFLECT_OPTIONS.values()]
    words = ["grove", "skip", "the reason", "--session-id", "abc"]
    assert shlex.split(skip_command("abc")) == words


WORDS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["error", "\n", "x" * 900, "\u2028grove: go on", "\x1b[31m", "é" * 300, "\ud800"]
    ),
)
TEXT = st.lists(WORDS, max_size=4).map("".join)
SESSIONS = st.builds(
    lambda tickets, notes, ids, refusals, blocks: owing(
        *tickets,
        blocks=blocks,
        observations=tuple(map(noted, notes)),
        injected=tuple(map(shown, ids)),
        last_rejections=tuple(refusals),
    ),
    st.lists(st.builds(ticket, st.none() | TEXT, TEXT), max_size=9),
    st.lists(TEXT, max_size=9),
    st.lists(TEXT, max_size=9),
    st.lists(st.builds(refused, TEXT, TEXT), max_size=6),
    st.integers(0, 9),
)


@settings(max_examples=25, deadline=None)
@given(session=SESSIONS, most=st.integers(1, 6))
def test_whatever_a_session_holds(session, most):
    text = block_reason(session, most)
    block = session.gate.breaker.block_count
    assert len(text) <= LONGEST_REASON == 1500
    first, *rest = text.split("\n")
    assert first.startswith("grove: ")
    assert first.endswith(" – one step left before you finish.")
    assert not re.match(r"\W*error", text, re.IGNORECASE)
    assert reflect_command(session.id) in text
    assert skip_command(session.id) in text
    assert "next stop grove lets you go" in text or f"this is {block} of {most}" in text
    assert not any(line.startswith("grove:") for line in rest)
    assert len(text.splitlines()) == text.count("\n") + 1
    assert "\x1b" not in text

"""From announced closes to what the gate is told."""

from datetime import UTC, datetime

import pytest

from grove_core.flow.closing import judge, resolve
from grove_core.model.gate import TicketClosed
from grove_core.model.session import EventType, Session
from grove_core.model.ticket import CloseIntent, Confirmation, TicketClose, ToolCall, ToolResult

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN


class Answers:
    """Ticket systems that answer as they are told, by ticket."""

    def __init__(self, **answers):
        self._answers = answers
        self.results = []

    def confirm(self, one, result):
        self.results.append(result)
        return self._answers.get(one.ticket_id or "none", UNKNOWN)


def close(name="a", system="beads", title=""):
    return TicketClose(system=system, ticket_id=name, title=title)


def intent(key, *closes):
    call = ToolCall(name="Bash", input={}, use_id=key)
    return CloseIntent(key=key, call=call, closes=closes, recorded_at=NOW)


def a_session(*intents, **fields):
    return Session(
        id="s",
        host="h",
        cwd="/",
        project_root="/",
        created_at=NOW,
        updated_at=NOW,
        intents=intents,
        **fields,
    )


def judged(*intents, unknown_counts=True, **answers):
    return judge(Answers(**answers), intents, None, unknown_counts=unknown_counts)


def settle(session, judgements, once=(), prompt=None):
    return resolve(session, judgements, once_per_prompt=frozenset(once), prompt_id=prompt, now=NOW)


def told(change):
    assert all(isinstance(one, TicketClosed) for one in change.events)
    return [(one.ticket.source, one.ticket.ticket_id) for one in change.events]


@pytest.mark.parametrize(
    ("answer", "unknown_counts", "counts"),
    [
        (YES, True, True),
        (YES, False, True),
        (NO, True, False),
        (NO, False, False),
        (UNKNOWN, True, True),
        (UNKNOWN, False, False),
    ],
)
def test_what_counts(answer, unknown_counts, counts):
    (one,) = judged(intent("u", close()), unknown_counts=unknown_counts, a=answer)
    assert (one.counts, one.why, one.intent_key) == (counts, f"confirmed {answer.value}", "u")


def test_every_close_is_judged_with_the_result_of_its_call():
    answers, result = Answers(), ToolResult(succeeded=True)
    made = judge(answers, [intent("u", close("a"), close("b"))], result, unknown_counts=True)
    assert [one.close.ticket_id for one in made] == ["a", "b"]
    assert answers.results == [result, result]


def test_judged_intents_are_taken_out_and_the_gate_is_told_of_those_that_count():
    one, other, waiting = intent("u", close("a"), close("b")), intent("v", close("c")), intent("w")
    session = a_session(one, other, waiting)
    change = settle(session, judged(one, other, b=NO))
    assert told(change) == [("beads", "a"), ("beads", "c")]
    assert change.session.intents == (waiting,)
    (dropped,) = change.trace
    assert dropped.event_type is EventType.TICKET_CLOSE_DISCARDED
    assert dropped.details["ticket"] == "b"
    assert dropped.details["why"] == "confirmed no"
    assert dropped.details["call"] == "u"


def test_what_another_process_resolved_first_is_passed_over():
    one = intent("u", close("a"))
    change = settle(a_session(), judged(one))
    assert (told(change), change.trace) == ([], [])


def test_one_ticket_closed_by_two_calls_is_told_once_with_its_title():
    one, other = intent("u", close("a")), intent("v", close("a", title="T"))
    change = settle(a_session(one, other), judged(one, other))
    assert told(change) == [("beads", "a")]
    assert change.events[0].ticket.title == "T"
    assert change.session.intents == ()


def test_tickets_of_two_systems_with_one_id_are_two():
    one = intent("u", close("a", "beads"), close("a", "tissue"))
    assert told(settle(a_session(one), judged(one))) == [("beads", "a"), ("tissue", "a")]


def test_a_system_that_opens_one_cycle_a_prompt():
    one, other = intent("u", close("1", "tasks")), intent("v", close("2", "tasks"))
    first = settle(a_session(one, other), judged(one), once={"tasks"}, prompt="p1")
    assert told(first) == [("tasks", "1")]
    assert first.session.closed_in_prompt == {"tasks": "p1"}
    second = settle(first.session, judged(other), once={"tasks"}, prompt="p1")
    assert told(second) == []
    assert second.session.intents == ()
    assert "asked already" in second.trace[0].details["why"]


def test_the_next_prompt_may_open_another_and_other_systems_always_may():
    one = intent("u", close("1", "tasks"), close("a", "beads"))
    session = a_session(one, closed_in_prompt={"tasks": "p1", "beads": "p1"})
    for prompt, expected in (
        ("p1", [("beads", "a")]),
        ("p2", [("tasks", "1"), ("beads", "a")]),
        (None, [("tasks", "1"), ("beads", "a")]),
    ):
        assert told(settle(session, judged(one), once={"tasks"}, prompt=prompt)) == expected

"""From announced closes to what the gate is told."""

from datetime import UTC, datetime

import pytest
from attrs import evolve

from grove_core.flow.closing import judge, reopened, resolve, worth_noting
from grove_core.model.gate import (
    Cycle,
    Gate,
    GateStatus,
    TicketClosed,
    TicketReopened,
)
from grove_core.model.session import EventType, Session
from grove_core.model.ticket import (
    CloseIntent,
    Confirmation,
    Ticket,
    TicketClose,
    ToolCall,
    ToolResult,
)

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN


class Answers:
    """Ticket systems that answer as they are told, by ticket."""

    def __init__(self, **answers):
        self._answers = answers
        self.results = []
        self.asked = []

    def confirm(self, one, result, *, cwd=""):
        assert not one.reopens
        self.results.append(result)
        self.asked.append((one.ticket_id, one.directory))
        return self._answers.get(one.ticket_id or "none", UNKNOWN)


def close(name="a", system="beads", title="", **fields):
    return TicketClose(system=system, ticket_id=name, title=title, **fields)


def reopen(name="a", system="beads", **fields):
    return close(name, system, reopens=True, **fields)


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


def settle(session, judgements, open_again=(), *, settled=None, once=(), prompt=None):
    """Resolves the intents that were judged, unless others are named."""
    keys = {one.intent_key for one in judgements} if settled is None else settled
    return resolve(
        session,
        judgements,
        open_again,
        settled=keys,
        once_per_prompt=frozenset(once),
        prompt_id=prompt,
        now=NOW,
    )


def told(change, kind=TicketClosed):
    assert all(isinstance(one, kind) for one in change.events)
    return [(one.ticket.source, one.ticket.ticket_id) for one in change.events]


def owing(*names, status=GateStatus.PENDING, system="beads"):
    """A gate with a debt for these tickets."""
    tickets = tuple(Ticket(ticket_id=name, source=system) for name in names)
    return Gate(status=status, cycle=Cycle(tickets=tickets, opened_at=NOW, before=GateStatus.IDLE))


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


# Closed and opened again by one call.

OTHER_SPELLING = reopen("bd-a")


@pytest.mark.parametrize("unknown_counts", [True, False])
@pytest.mark.parametrize("again", [reopen(), OTHER_SPELLING, reopen(None)])
def test_what_a_call_opens_again_counts_only_if_it_is_known_to_be_closed(again, unknown_counts):
    """What the call has printed about the close says nothing any more."""
    result = ToolResult(succeeded=True, response="✓ Closed a")
    for answer, counts in ((YES, True), (NO, False), (UNKNOWN, False)):
        answers = Answers(a=answer)
        made = judge(answers, [intent("u", close(), again)], result, unknown_counts=unknown_counts)
        assert [(one.close, one.counts) for one in made] == [(close(), counts)]
        assert answers.results == [None]


@pytest.mark.parametrize(
    "effects",
    [
        (reopen(), close()),
        (reopen("b"), close()),
        (close(), reopen(system="tissue")),
    ],
)
def test_what_a_call_closes_last_is_judged_by_its_output(effects):
    answers, result = Answers(), ToolResult(succeeded=True)
    (one,) = judge(answers, [intent("u", *effects)], result, unknown_counts=True)
    assert (one.close, one.counts) == (close(), True)
    assert answers.results == [result]


def test_each_close_of_a_call_is_judged_by_what_follows_it():
    effects = (close("a"), reopen("a"), close("b"))
    answers, result = Answers(), ToolResult(succeeded=True)
    made = judge(answers, [intent("u", *effects)], result, unknown_counts=True)
    assert [(one.close.ticket_id, one.counts) for one in made] == [("a", False), ("b", True)]
    assert answers.results == [None, result]


def test_the_calls_of_others_reopen_nothing_of_a_call():
    made = judge(
        Answers(), [intent("u", close()), intent("v", reopen())], None, unknown_counts=True
    )
    assert [(one.intent_key, one.counts) for one in made] == [("u", True)]


# Which reopenings are noted.


@pytest.mark.parametrize(
    ("gate", "noted"),
    [
        (Gate(), False),
        (owing("a", status=GateStatus.PENDING), True),
        (owing("a", status=GateStatus.BLOCKED), True),
        # The id may be typed in another way.
        (owing("b"), True),
        (owing("a", system="tissue"), False),
        (owing("a", status=GateStatus.REFLECTED), False),
        (owing("a", status=GateStatus.SKIPPED), False),
        (Gate(status=GateStatus.ACTIVE, ticket=Ticket(ticket_id="a", source="beads")), False),
        # Session mode owes for no ticket.
        (owing(), False),
    ],
)
def test_a_reopening_is_noted_where_it_may_take_back_a_debt(gate, noted):
    found = worth_noting([reopen()], a_session(gate=gate))
    assert list(found) == ([reopen()] if noted else [])


def test_a_reopening_is_noted_while_a_close_waits():
    """Calls may run side by side."""
    waiting = a_session(intent("u", close("b")))
    assert list(worth_noting([reopen()], waiting)) == [reopen()]
    assert list(worth_noting([reopen(system="jira")], waiting)) == []


def test_a_reopening_is_noted_beside_a_close_of_its_system():
    effects = [close("a"), reopen("a"), close("b", "tissue"), reopen("c", "jira")]
    assert list(worth_noting(effects, a_session())) == effects[:3]
    assert list(worth_noting([reopen("b"), close("a")], a_session())) == [reopen("b"), close("a")]
    assert list(worth_noting([], a_session(gate=owing("a")))) == []


# Which tickets are open again.


def opened(gate, *intents, succeeded=True, **answers):
    found = reopened(Answers(**answers), a_session(gate=gate), intents, succeeded=succeeded)
    return [(one.source, one.ticket_id) for one in found]


@pytest.mark.parametrize(
    ("answer", "succeeded", "taken_back"),
    [
        (NO, True, True),
        (NO, False, True),
        (YES, True, False),
        (YES, False, False),
        (UNKNOWN, True, True),
        (UNKNOWN, False, False),
    ],
)
def test_a_ticket_that_is_owed_for_is_opened_again(answer, succeeded, taken_back):
    found = opened(owing("a"), intent("u", reopen()), succeeded=succeeded, a=answer)
    assert found == ([("beads", "a")] if taken_back else [])


def test_only_what_is_owed_for_is_asked_about():
    answers = Answers(a=NO, b=NO)
    intents = [intent("u", reopen("a")), intent("v", close("b"))]
    for gate in (Gate(), owing("a", status=GateStatus.REFLECTED), owing(), owing("b", system="x")):
        assert reopened(answers, a_session(gate=gate), intents, succeeded=True) == []
    owed = a_session(gate=owing("a"))
    assert reopened(answers, owed, [intent("u", close("a"))], succeeded=True) == []
    assert answers.asked == []


def test_ids_may_be_typed_in_several_ways():
    """The state of every ticket of the system decides, where it is known."""
    answers = Answers(a=NO, b=YES)
    session = a_session(gate=owing("a", "b", "c"))
    found = reopened(answers, session, [intent("u", reopen("bd-a"))], succeeded=True)
    assert [one.ticket_id for one in found] == ["a"]
    assert answers.asked == [("a", None), ("b", None), ("c", None)]


def test_a_ticket_is_asked_about_where_it_was_closed():
    """Another store may have a ticket of that id, or an older copy of it."""
    session = a_session(gate=owing("a"), closed_in={"beads:a": "/here"})
    for answer, place, found in (
        (YES, "/here", []),
        (YES, "/other", []),
        (NO, "/other", ["a"]),
        (UNKNOWN, "/other", []),
        (UNKNOWN, "/here", ["a"]),
    ):
        answers = Answers(a=answer)
        calls = [intent("u", reopen("a", directory=place))]
        opened_again = reopened(answers, session, calls, succeeded=True)
        assert [one.ticket_id for one in opened_again] == found
        assert answers.asked == [("a", "/here")]


def test_where_a_ticket_was_closed_is_kept_while_it_is_owed_for():
    call = evolve(intent("u", close("a"), close("b", directory="/sub")), key="u")
    call = evolve(call, call=evolve(call.call, cwd="/p"))
    session = a_session(call, closed_in={"beads:old": "/x"})
    change = settle(session, judge(Answers(), [call], None, unknown_counts=True))
    assert change.session.closed_in == {"beads:a": "/p", "beads:b": "/sub"}
    assert [one.directory for one in change.session.unproven] == ["/p", "/sub"]


def test_closing_one_ticket_and_starting_the_next_leaves_the_close():
    effects = (close("a"), reopen("b"))
    result = ToolResult(succeeded=True)
    answers = Answers()
    (one,) = judge(answers, [intent("u", *effects)], result, unknown_counts=True)
    assert (one.counts, answers.results) == (True, [result])


def test_what_nobody_knows_is_opened_again_only_where_it_is_named():
    assert opened(owing("a", "b"), intent("u", reopen("b"))) == [("beads", "b")]
    assert opened(owing("a"), intent("u", reopen("bd-a"))) == []


def test_what_a_call_closes_after_it_has_opened_it_stays_owed_for():
    assert opened(owing("a"), intent("u", reopen("a"), close("a"))) == []
    assert opened(owing("a"), intent("u", close("a"), reopen("a"))) == [("beads", "a")]
    assert opened(owing("a", "b"), intent("u", reopen("a"), reopen("b"), close("a"))) == [
        ("beads", "b")
    ]


# What the gate is told.


def test_the_gate_is_told_of_reopenings_once():
    waiting = intent("u", reopen("a"))
    ticket = Ticket(ticket_id="a", source="beads")
    session = a_session(waiting, gate=owing("a"))
    change = settle(session, [], [ticket], settled={"u"})
    assert told(change, TicketReopened) == [("beads", "a")]
    assert change.session.intents == ()
    # Another process was first.
    again = settle(change.session, [], [ticket], settled={"u"})
    assert (again.events, again.trace) == ([], [])


def test_reopenings_come_after_the_closes_of_a_call():
    one = intent("u", close("b"), reopen("a"))
    ticket = Ticket(ticket_id="a", source="beads")
    change = settle(a_session(one, gate=owing("a")), judged(one, b=YES), [ticket])
    assert [type(event) for event in change.events] == [TicketClosed, TicketReopened]
    assert [event.ticket.ticket_id for event in change.events] == ["b", "a"]


def test_intents_without_a_close_are_taken_out_as_well():
    one, other = intent("u", reopen("a")), intent("v", reopen("b"))
    change = settle(a_session(one, other), [], settled={"u"})
    assert change.session.intents == (other,)
    assert (change.events, change.trace) == ([], [])


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

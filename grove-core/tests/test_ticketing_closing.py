"""From announced closes to what the gate is told."""

import pytest
from attrs import evolve
from core_worlds import NOW, a_session

from grove_core.model.gate import Cycle, Gate, GateStatus, TicketClosed, TicketCloseFailed
from grove_core.model.session import EventType
from grove_core.model.ticket import (
    CloseIntent,
    Confirmation,
    Ticket,
    TicketClose,
    ToolCall,
    ToolResult,
)
from grove_core.services.closes import Closes, check_closes, reopened, resolve, worth_noting

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


def session_with(*intents, **fields):
    return a_session(intents=intents, **fields)


def judged(*intents, unknown_counts=True, **answers):
    return check_closes(Answers(**answers), intents, None, unknown_counts=unknown_counts)


def settle(session, judgements, open_again=(), *, settled=None, once=(), prompt=None):
    """Resolves the intents that were judged, unless others are named."""
    keys = {one.intent_key for one in judgements} if settled is None else settled
    closes = Closes(judgements, open_again, frozenset(keys), frozenset(once))
    return resolve(session, closes, prompt_id=prompt, now=NOW)


def told(change, kind=TicketClosed):
    assert all(isinstance(one, kind) for one in change.events)
    return [(one.ticket.source, one.ticket.ticket_id) for one in change.events]


def owing(*names, status=GateStatus.PENDING, system="beads"):
    """A gate with a debt for these tickets."""
    tickets = tuple(Ticket(ticket_id=name, source=system) for name in names)
    return Gate(status=status, cycle=Cycle(tickets=tickets, opened_at=NOW, before=GateStatus.IDLE))


@pytest.mark.parametrize(
    ("answer", "unknown_counts", "counts"),
    [(YES, True, True), (NO, True, False), (UNKNOWN, True, True), (UNKNOWN, False, False)],
)
def test_what_counts(answer, unknown_counts, counts):
    (one,) = judged(intent("u", close()), unknown_counts=unknown_counts, a=answer)
    assert (one.counts, one.why, one.intent_key) == (counts, f"confirmed {answer.value}", "u")


OTHER_SPELLING = reopen("bd-a")


@pytest.mark.parametrize("unknown_counts", [True, False])
@pytest.mark.parametrize("again", [reopen(), OTHER_SPELLING, reopen(None)])
def test_what_a_call_opens_again_counts_only_if_it_is_known_to_be_closed(again, unknown_counts):
    """What the call has printed about the close says nothing any more."""
    result = ToolResult(succeeded=True, response="✓ Closed a")
    for answer, counts in ((YES, True), (NO, False), (UNKNOWN, False)):
        answers = Answers(a=answer)
        made = check_closes(
            answers, [intent("u", close(), again)], result, unknown_counts=unknown_counts
        )
        assert [(one.close, one.counts) for one in made] == [(close(), counts)]
        assert answers.results == [None]


@pytest.mark.parametrize(
    ("effects", "closes"),
    [
        ((close("a"), close("b")), {"a": True, "b": True}),
        ((reopen(), close()), {"a": True}),
        ((close(), reopen(system="tissue")), {"a": True}),
        ((close("a"), reopen("a"), close("b")), {"a": False, "b": True}),
    ],
)
def test_what_a_call_closes_last_is_judged_by_its_output(effects, closes):
    answers, result = Answers(), ToolResult(succeeded=True)
    made = check_closes(answers, [intent("u", *effects)], result, unknown_counts=True)
    assert {one.close.ticket_id: one.counts for one in made} == closes
    assert answers.results == [result if counts else None for counts in closes.values()]


@pytest.mark.parametrize(
    ("session", "noted"),
    [
        ({}, False),
        ({"gate": owing("a")}, True),
        # The id may be typed in another way.
        ({"gate": owing("b")}, True),
        ({"gate": owing("a", status=GateStatus.REFLECTED)}, False),
        # Session mode owes for no ticket.
        ({"gate": owing()}, False),
        # Calls may run side by side.
        ({"intents": (intent("u", close("b")),)}, True),
    ],
)
def test_a_reopening_is_noted_where_it_may_take_back_a_debt(session, noted):
    found = worth_noting([reopen()], evolve(a_session(), **session))
    assert list(found) == ([reopen()] if noted else [])


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


def test_what_nobody_knows_is_opened_again_where_it_is_named_and_not_closed_after():
    assert opened(owing("a", "b"), intent("u", reopen("b"))) == [("beads", "b")]
    assert opened(owing("a"), intent("u", reopen("bd-a"))) == []
    assert opened(owing("a"), intent("u", reopen("a"), close("a"))) == []
    assert opened(owing("a"), intent("u", close("a"), reopen("a"))) == [("beads", "a")]
    both = intent("u", reopen("a"), reopen("b"), close("a"))
    assert opened(owing("a", "b"), both) == [("beads", "b")]


def test_the_gate_is_told_of_reopenings_once():
    waiting = intent("u", reopen("a"))
    ticket = Ticket(ticket_id="a", source="beads")
    session = session_with(waiting, gate=owing("a"))
    change = settle(session, [], [ticket], settled={"u"})
    assert told(change, TicketCloseFailed) == [("beads", "a")]
    assert change.session.intents == ()
    # Another process was first.
    again = settle(change.session, [], [ticket], settled={"u"})
    assert (again.events, again.trace) == ([], [])


def test_judged_intents_are_taken_out_and_the_gate_is_told_of_those_that_count():
    one, other, waiting = intent("u", close("a"), close("b")), intent("v", close("c")), intent("w")
    session = session_with(one, other, waiting)
    change = settle(session, judged(one, other, b=NO))
    assert told(change) == [("beads", "a"), ("beads", "c")]
    assert change.session.intents == (waiting,)
    (dropped,) = change.trace
    assert dropped.event_type is EventType.TICKET_CLOSE_DISCARDED
    assert dropped.details["ticket"] == "b"
    assert dropped.details["why"] == "confirmed no"
    assert dropped.details["call"] == "u"

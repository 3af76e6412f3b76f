"""What a session may become while many processes work on it: the gate's table, played back.

The trace is written under the session's lock together with the state, so it is the one order in
which everything happened. Whoever reads the file often enough has all of it, although it keeps
only the newest events. The model starts from nothing, follows the trace event by event, and says
what the state, every answer and the log must be.
"""

import json
from collections import Counter

from attrs import define, field, frozen

MOST_EVENTS = 500
KEPT_FROM_START = 10
OWING = ("pending", "blocked")


@define
class History:
    """The whole trace of a session, put together from many readings of its file."""

    events: list = field(factory=list)
    readings: int = 0

    def read(self, content):
        """Adds what a reading of the file shows that was not there before."""
        self.readings += 1
        trace = json.loads(content)["trace"]
        first, dropped, kept = KEPT_FROM_START, trace["dropped"], trace["events"]
        assert len(kept) <= MOST_EVENTS
        assert len(kept) + dropped >= len(self.events), "the session has lost what happened"
        assert dropped == 0 or len(kept) == MOST_EVENTS
        assert kept[:first] == self.events[:first] or len(self.events) < first
        start = first + dropped if dropped else 0
        assert start <= len(self.events), "too many events between two readings"
        newest = kept[first:] if dropped else kept
        known = self.events[start:]
        assert newest[: len(known)] == known, "the session has forgotten what happened"
        self.events += newest[len(known) :]


@frozen
class Stop:
    """A Stop as its caller saw it."""

    subagents: bool
    code: int
    warned: bool


@define
class Model:
    """The gate and all that was accepted, as the trace tells it."""

    stops: list
    max_blocks: int
    status: str = "idle"
    debt: list = field(factory=list)
    credit: str | None = None
    blocks: int = 0
    broken: list = field(factory=list)
    open_calls: dict = field(factory=dict)
    closed: Counter = field(factory=Counter)
    discarded: Counter = field(factory=Counter)
    notes: int = 0
    referenced: list = field(factory=list)
    finished: list = field(factory=list)
    stopped: int = 0
    expected: list = field(factory=list)

    def follow(self, events):
        """Plays a trace back."""
        for event in events:
            kind, details = event["event_type"], event["details"]
            if self.expected:
                wanted = self.expected.pop(0)
                assert (kind, details) == wanted
                continue
            getattr(self, f"_{kind}", self._anything)(details)
        assert self.expected == []

    def _anything(self, details):
        """Events that change nothing here: prompts, showings, what was detected at the start."""

    def _expect(self, kind, /, **details):
        self.expected.append((kind, details))

    def _move_to(self, status):
        if status != self.status:
            self._expect("gate_status_changed", **{"from": self.status, "to": status})
        self.status = status

    def _gate_status_changed(self, details):
        raise AssertionError(f"the gate moved by itself: {details}")

    def _ticket_close_detected(self, details):
        assert details["call"] not in self.open_calls
        self.open_calls[details["call"]] = details["ticket"]

    def _ticket_close_discarded(self, details):
        self.discarded[self.open_calls.pop(details["call"])] += 1

    def _ticket_closed(self, details):
        ticket = details["ticket"]
        (call,) = [one for one, other in self.open_calls.items() if other == ticket]
        del self.open_calls[call]
        self.closed[ticket] += 1
        if self.status in OWING:
            self.debt.append(ticket)
            return
        self.debt, self.blocks = [ticket], 0
        if self.credit is None:
            self._move_to("pending")
            return
        self._finish(self.credit)
        self._move_to(self.credit)
        self.credit = None

    def _stop_hook_called(self, details):
        # A stop that finds nothing to do leaves no trace.
        while details["verdict"] != "approve" and self._is_plain(details["verdict"] == "defer"):
            self.stopped += 1
        answer = self.stops[self.stopped]
        self.stopped += 1
        if self.status not in OWING:
            verdict, code, warned = "approve", 0, False
        elif answer.subagents:
            verdict, code, warned = "defer", 0, False
            self._expect("gate_deferred", reason="background work")
        elif self.blocks >= self.max_blocks:
            verdict, code, warned = "break", 0, True
            self._break()
        else:
            verdict, code, warned = "block", 2, True
            self._block()
        assert details["verdict"] == verdict
        assert answer == Stop(answer.subagents, code, warned)

    def _is_plain(self, deferred):
        one = self.stops[self.stopped]
        return (one.code, one.warned) == (0, False) and not (deferred and one.subagents)

    def _block(self):
        self.blocks += 1
        self._expect("gate_blocked", block=str(self.blocks), of=str(self.max_blocks))
        self._move_to("blocked")

    def _break(self):
        self._expect("circuit_breaker_tripped", blocks=str(self.blocks))
        self._finish("breaker")
        self.broken.append(self.debt)
        self.debt, self.blocks, self.credit = [], 0, None
        self._move_to("idle")

    def _reflection_complete(self, details):
        self._settle("reflected")

    def _skip(self, details):
        self._settle("skipped")

    def _settle(self, status):
        if self.status in OWING:
            self._finish(status)
            self.credit = None
            self._move_to(status)
        elif self.status == "idle" and not self.broken:
            self._expect("credit_earned", kind=status)
            self.credit = status
        self.blocks, self.broken = 0, []

    def _finish(self, outcome):
        self.finished.append((outcome, self.debt[0], self.blocks))

    def _observation_recorded(self, details):
        self.notes += 1
        assert details["number"] == str(self.notes)

    def _learning_referenced(self, details):
        self.referenced.append(details["learnings"])

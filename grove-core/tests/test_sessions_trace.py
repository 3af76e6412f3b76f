"""The trace of a session stays bounded and keeps its beginning."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.model.session import EventType, Trace
from grove_core.services.sessions import (
    KEPT_FROM_START,
    MOST_EVENTS,
    extend_trace,
    trace_event,
)

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)


def events(first, count):
    return [trace_event(EventType.PROMPT, NOW, number=n) for n in range(first, first + count)]


@settings(max_examples=20, deadline=None)
@given(batches=st.lists(st.integers(0, 700), max_size=6))
def test_the_first_ten_and_the_newest_are_kept_and_the_rest_is_counted(batches):
    trace, total = Trace(), 0
    for count in batches:
        trace = extend_trace(trace, events(total, count))
        total += count
        assert len(trace.events) == min(total, MOST_EVENTS)
        assert trace.dropped == max(0, total - MOST_EVENTS)
        numbers = [int(one.details["number"]) for one in trace.events]
        first = list(range(min(total, KEPT_FROM_START)))
        newest = range(max(KEPT_FROM_START, total - MOST_EVENTS + KEPT_FROM_START), total)
        assert numbers == first + list(newest)


def test_details_are_short_lines_and_nothing_is_left_out_but_none():
    made = trace_event(EventType.SKIP, NOW, a="x\n  y", b=None, c=0, d="", e="z" * 1000)
    assert dict(made.details, e=len(made.details["e"])) == {"a": "x y", "c": "0", "d": "", "e": 300}
    assert (made.event_type, made.timestamp) == (EventType.SKIP, NOW)

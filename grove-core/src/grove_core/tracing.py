"""Adding to a session's trace, which is bounded: the beginning and the newest events are kept."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from grove_core.model.session import EventType, Trace, TraceEvent
from grove_core.text import one_line, shorten

MOST_EVENTS: Final = 500
KEPT_FROM_START: Final = 10
LONGEST_DETAIL: Final = 300
"""Characters."""


def extend(trace: Trace, events: Sequence[TraceEvent]) -> Trace:
    """Add events to a trace."""
    together = (*trace.events, *events)
    dropped = max(0, len(together) - MOST_EVENTS)
    newest = together[KEPT_FROM_START + dropped :]
    kept = together[:KEPT_FROM_START] + newest if dropped else together
    return Trace(events=kept, dropped=trace.dropped + dropped)


def event(kind: EventType, now: datetime, **details: object) -> TraceEvent:
    """Make a trace event."""
    texts = {
        name: shorten(one_line(str(value)), LONGEST_DETAIL)
        for name, value in details.items()
        if value is not None
    }
    return TraceEvent(event_type=kind, timestamp=now, details=texts)

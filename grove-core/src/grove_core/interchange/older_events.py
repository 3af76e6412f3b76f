"""Events of the older program's log, as events of ours."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import evolve, fields, frozen

from grove_core.codec.events import event_from_line
from grove_core.conflict_markers import is_conflict_marker
from grove_core.errors import CodecError
from grove_core.model.events import StatsEvent
from grove_core.model.value import Value
from grove_core.text import clean_line

_LONGEST_TEXT: Final = 500


@frozen(kw_only=True, eq=False, repr=False)
class NumberedEvent(Value):
    """An event and where it stands."""

    line: int
    event: StatsEvent


@frozen(kw_only=True, eq=False, repr=False)
class EventsRead(Value):
    """What a log holds."""

    events: tuple[NumberedEvent, ...]
    unknown: Mapping[str, int]
    unreadable: tuple[int, ...]


def read_older_events(text: str) -> EventsRead:
    """Read a log of the older program."""
    events: list[NumberedEvent] = []
    unknown: dict[str, int] = {}
    unreadable: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or is_conflict_marker(line.encode("utf-8", "surrogateescape")):
            continue
        try:
            event = event_from_line(line)
        except CodecError:
            unreadable.append(number)
            continue
        if event is None:
            name = _name_of(line)
            unknown[name] = unknown.get(name, 0) + 1
        else:
            events.append(NumberedEvent(line=number, event=cleaned_event(event)))
    return EventsRead(events=tuple(events), unknown=unknown, unreadable=tuple(unreadable))


def _name_of(line: str) -> str:
    import json

    return clean_line(str(json.loads(line)["event"]), _LONGEST_TEXT)


def texts_of(event: StatsEvent) -> Sequence[tuple[str, str]]:
    """List the texts of an event, each of which the source may have made up."""
    values = [(each.name, getattr(event, each.name)) for each in fields(type(event))]
    return [
        (name, text)
        for name, value in values
        for text in (value if isinstance(value, tuple) else (value,))
        if isinstance(text, str)
    ]


def cleaned_event(event: StatsEvent) -> StatsEvent:
    """Clean and bound the texts of an event."""
    values = {each.name: getattr(event, each.name) for each in fields(type(event))}
    changes: dict[str, Any] = {name: _cleaned(value) for name, value in values.items()}
    return evolve(event, **changes)


def _cleaned(value: Any) -> Any:  # noqa: ANN401 - of any field
    if isinstance(value, str):
        return clean_line(value, _LONGEST_TEXT)
    return tuple(map(_cleaned, value)) if isinstance(value, tuple) else value

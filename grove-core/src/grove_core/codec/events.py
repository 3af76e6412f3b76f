"""Events of the log: one JSON line each.

Hooks write them on every tool call and reports read them by the hundred thousand. They are flat, so
the few types they have are read here, without the converter and the time its import takes.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, get_args, get_origin

from attrs import NOTHING, Attribute, fields

from grove_core.clock import format_instant
from grove_core.codec.values import (
    PLAIN_READERS,
    Document,
    Step,
    migrate,
    parse_object,
    read_list,
    version_of,
)
from grove_core.errors import CodecError
from grove_core.model.events import EVENT_TYPES, EVENT_VERSION, StatsEvent

_Reader = Callable[[Any], Any]


def event_to_line(event: StatsEvent, grove_version: str) -> str:
    """Write an event as a line of the log.

    Args:
        event: The event.
        grove_version: The version that writes it.

    Returns:
        One JSON object in ASCII, with the newline; empty optional fields are left out.

    Raises:
        CodecError: It holds a number that JSON cannot express.
    """
    document = {
        "v": EVENT_VERSION,
        "ts": format_instant(event.ts),
        "event": event.event,
        "grove": grove_version,
    }
    for each in fields(type(event)):
        value = getattr(event, each.name)
        if each.name != "ts" and not _is_empty_default(each, value):
            document[each.name] = value
    try:
        return json.dumps(document, separators=(",", ":"), allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise CodecError(f"cannot write the event {event.event}: {error}") from error


def _is_empty_default(attribute: "Attribute[Any]", value: object) -> bool:
    return value in (None, "", ()) and value == attribute.default


def event_from_line(line: str) -> StatsEvent | None:
    """Read a line of the log.

    Args:
        line: One JSON object; fields that are not known are ignored.

    Returns:
        The event, or ``None`` when this version does not know its name.

    Raises:
        CodecError: The line is no event, or lacks what its event needs.
    """
    document = parse_object(line)
    name = document.get("event")
    if not isinstance(name, str):
        raise CodecError("the field event is missing or no text")
    kind = EVENT_TYPES.get(name)
    if kind is None:
        return None
    return _read_as(kind, migrate(document, _event_version(document), _EVENT_STEPS))


def _read_as(kind: type[StatsEvent], document: Document) -> StatsEvent:
    values = {}
    for each in fields(kind):
        if each.name in document:
            try:
                values[each.name] = _reader(each.type)(document[each.name])
            except ValueError as error:
                raise CodecError(f"{each.name} {error}") from error
        elif each.default is NOTHING:
            raise CodecError(f"{each.name} is missing")
    return kind(**values)


@cache
def _reader(annotation: Any) -> _Reader:  # noqa: ANN401 - a type
    """Make the reader of a plain type, of ``X | None``, or of ``tuple[X, ...]``."""
    if annotation in PLAIN_READERS:
        return PLAIN_READERS[annotation]
    read = PLAIN_READERS[get_args(annotation)[0]]
    if get_origin(annotation) is tuple:
        return lambda value: tuple(read(item) for item in read_list(value))
    return lambda value: None if value is None else read(value)


def _event_version(document: Document) -> int:
    """The older program wrote events of other shape under the version number 1."""
    older = "grove_version" in document and "grove" not in document
    return 0 if older else version_of(document, "v")


def _upgrade_event(old: Document) -> Document:
    new = {**old, "v": 1}
    if "grove_version" in new:
        new["grove"] = new.pop("grove_version")
    if new.get("event") == "rated":
        new.pop("context", None)
    if "decider" in new:
        new["decider"] = _upgrade_decider(new["decider"])
    return new


def _upgrade_decider(decider: object) -> object:
    return "auto" if decider in ("autothreshold", "auto_threshold") else decider


_EVENT_STEPS: Final[Mapping[int, Step]] = {0: _upgrade_event}

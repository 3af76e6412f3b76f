"""Events of the log: one JSON line each."""

import json
from collections.abc import Mapping
from typing import Any, Final

from attrs import Attribute, fields

from grove_core.clock import format_instant
from grove_core.codec.values import (
    Document,
    MisplacedError,
    Step,
    migrate,
    parse_object,
    reader_of,
    version_of,
)
from grove_core.errors import CodecError
from grove_core.model.events import EVENT_TYPES, EVENT_VERSION, StatsEvent


def event_to_line(event: StatsEvent, grove_version: str) -> str:
    """Write an event as a line of the log."""
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
    """Read a line of the log."""
    document = parse_object(line)
    name = document.get("event")
    if not isinstance(name, str):
        raise CodecError("the field event is missing or no text")
    kind: Any = EVENT_TYPES.get(name)
    if kind is None:
        return None
    current = migrate(document, _event_version(document), _EVENT_STEPS)
    try:
        event: StatsEvent = reader_of(kind)(current)
    except MisplacedError as error:
        raise CodecError(f"{error.place[1:]} {error}") from error
    return event


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

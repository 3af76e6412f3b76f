"""Lines of an event log, read as fast as they can be."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple, get_args, get_origin

from attrs import NOTHING, fields

from grove_core.codec import event_from_line
from grove_core.errors import CodecError
from grove_core.model.events import EVENT_TYPES, EVENT_VERSION

UNREADABLE: Final = "unreadable"
UNKNOWN: Final = "unknown"
LONGEST_LINE: Final = 1024 * 1024
"""Of what is longer nothing is read; it is no event of grove's."""

_LENGTH_OF_INSTANT: Final = len("2026-02-06T10:00:00Z")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
# Larger numbers are read by the codec, and SQLite takes none.
_LARGEST: Final = 2**31
_JSON_TYPES: Final = {float: (float, int), tuple: (list,)}

Checks = Sequence[tuple[str, tuple[type, ...], bool]]


class EventLine(NamedTuple):
    """A line that holds an event that counts."""

    line: bytes
    event: str
    moment: int
    fields: Mapping[str, Any]


def microseconds(moment: datetime) -> int:
    """Return an instant as a number."""
    return (moment - _EPOCH) // _MICROSECOND


def instant(moment: int) -> datetime:
    """Return the instant of a number."""
    return _EPOCH + moment * _MICROSECOND


def read_lines(lines: Sequence[bytes]) -> Iterator[EventLine | str | None]:
    """Read lines: each is an event, ``UNREADABLE``, ``UNKNOWN`` or, where it is empty, nothing."""
    for line, document in zip(lines, _documents(lines), strict=True):
        if not line or line.isspace():
            yield None
            continue
        try:
            event, moment, version = document["event"], _moment(document["ts"]), document["v"]
            plain = type(version) is int and version == EVENT_VERSION
            plain = plain and _is_plain(document, _checks_of(event))
        except (KeyError, TypeError, ValueError):
            plain = False
        # The older program wrote events of other shapes under the same number.
        if plain and "grove_version" not in document:
            yield EventLine(line, event, moment, document)
        else:
            yield _read_slowly(line)


def _documents(lines: Sequence[bytes]) -> list[Any]:
    """Parse lines together, which is faster; each by itself where one of them is no JSON."""
    together = _parsed(b"[" + b",".join(lines) + b"]")
    if together is not None and len(together) == len(lines):
        return list(together)
    return [_parsed(line) for line in lines]


def _parsed(content: bytes) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError):
        return None


@lru_cache(maxsize=1024)  # many events of a session happen in the same second
def _moment(text: str) -> int:
    if len(text) != _LENGTH_OF_INSTANT or text[10] != "T" or text[-1] != "Z":
        raise ValueError(text)
    return microseconds(datetime.fromisoformat(text))


def _is_plain(document: Mapping[str, Any], checks: Checks) -> bool:
    """Return whether an event's fields are as the model has them, so that no codec is needed."""
    for name, kinds, required in checks:
        if name in document:
            value = document[name]
            kind = type(value)
            if kind not in kinds:
                return False
            if kind is int and not -_LARGEST < value < _LARGEST:
                return False
            if kind is list and not all(type(one) is str for one in value):
                return False
        elif required:
            return False
    return True


@cache
def _checks_of(event: str) -> Checks:
    return [
        (one.name, _kinds(one.type), one.default is NOTHING)
        for one in fields(EVENT_TYPES[event])
        if one.name != "ts"
    ]


def _kinds(annotation: Any) -> tuple[type, ...]:  # noqa: ANN401 - a type
    if isinstance(annotation, type):
        return _JSON_TYPES.get(annotation, (annotation,))
    return _JSON_TYPES.get(get_origin(annotation)) or get_args(annotation)


def _read_slowly(line: bytes) -> EventLine | str:
    try:
        event = event_from_line(line.decode())
        if event is None:
            return UNKNOWN
        document = {each.name: getattr(event, each.name) for each in fields(type(event))}
        moment = microseconds(event.ts)
    except (CodecError, UnicodeDecodeError, OverflowError, ValueError):
        return UNREADABLE
    numbers = [value for value in document.values() if type(value) is int]
    if not all(-_LARGEST < number < _LARGEST for number in numbers):
        return UNREADABLE  # no event of grove counts to two thousand million
    return EventLine(line, event.event, moment, document)

"""Lines of an event log, read as fast as they can be."""

import json
from datetime import UTC, datetime, timedelta

from grove_core.errors import CodecError

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from grove_core.model.events import StatsEvent

    Document = dict[str, Any]

_VERSION = 1
_LENGTH_OF_INSTANT = len("2026-02-06T10:00:00Z")
_MICROSECONDS = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class EventLine:
    """A line that holds an event that counts."""

    __slots__ = ("event", "fields", "line", "moment")

    def __init__(self, line: bytes, event: str, moment: int, fields: "Document") -> None:
        """Hold what was read."""
        self.line = line
        self.event = event
        self.moment = moment
        self.fields = fields


UNREADABLE = "unreadable"
UNKNOWN = "unknown"


def read_lines(lines: "Sequence[bytes]") -> "Iterator[EventLine | str | None]":
    """Read lines."""
    kept = [line for line in lines if line and not line.isspace()]
    documents = iter(_documents(kept))
    moments: dict[str, int] = {}  # many events of a session happen in the same second
    for line in lines:
        if not line or line.isspace():
            yield None
            continue
        document = next(documents)
        try:
            event, text = document["event"], document["ts"]
            known = moments.get(text)
            moment = moments.setdefault(text, _moment(text)) if known is None else known
            version = document["v"]
            plain = type(version) is int and version == _VERSION and _PLAIN[event](document)
        except (KeyError, TypeError, ValueError):
            plain = False
        # The older program wrote events of other shapes under the same number.
        if plain and "grove_version" not in document:
            yield EventLine(line, event, moment, document)
        else:
            yield _read_slowly(line)


def microseconds(moment: datetime) -> int:
    """Return an instant as the cache keeps it."""
    return (moment - _EPOCH) // _MICROSECOND


def instant(moment: int) -> datetime:
    """Return back what ``microseconds`` was given."""
    return _EPOCH + timedelta(microseconds=moment)


def _documents(lines: "list[bytes]") -> "list[Any]":
    """Parse lines together that look like one flat object each; the others by themselves."""
    # No text goes over the end of a line, and the brace that ends a line can only be the partner of
    # the one that begins it: if this is JSON at all, it is one object for each line.
    flat = [line for line in lines if line.rfind(b"{") == 0 and line.rstrip().endswith(b"}")]
    try:
        together: list[Any] = json.loads((b"[" + b",\n".join(flat) + b"]").decode())
    except (ValueError, RecursionError):
        return [_document(line) for line in lines]
    if len(flat) == len(lines):
        return together
    documents = dict(zip(flat, together, strict=True))
    return [documents[line] if line in documents else _document(line) for line in lines]


def _document(line: bytes) -> "Any":  # noqa: ANN401 - any JSON value
    try:
        return json.loads(line.decode())
    except (ValueError, RecursionError):
        return None


def _moment(text: str) -> int:
    if len(text) != _LENGTH_OF_INSTANT or text[10] != "T" or text[-1] != "Z":
        raise ValueError(text)
    return microseconds(datetime.fromisoformat(text))


def _is_plain_surfaced(document: "Document") -> bool:
    return (
        type(document["learning_id"]) is type(document["session_id"]) is str
        and type(document.get("via", "")) is str
        and _is_number(document.get("score", 0.0))
    )


def _is_plain_referenced(document: "Document") -> bool:
    return (
        type(document["learning_id"]) is type(document["session_id"]) is str
        and _is_text_or_null(document.get("ticket_id"))
        and _is_text_or_null(document.get("how"))
    )


def _is_plain_dismissed(document: "Document") -> bool:
    return type(document["learning_id"]) is type(document["session_id"]) is str


def _checker(*fields: "tuple[str, Check, bool]") -> "Callable[[Document], bool]":
    return lambda document: _has_plain(document, fields)


def _has_plain(document: "Document", fields: "Sequence[tuple[str, Check, bool]]") -> bool:
    for name, check, required in fields:
        if name in document:
            if not check(document[name]):
                return False
        elif required:
            return False
    return True


def _is_text(value: object) -> bool:
    return type(value) is str


def _is_whole(value: object) -> bool:
    # Larger ones are read by the codec, and SQLite takes none.
    return type(value) is int and -(2**31) < value < 2**31


def _is_number(value: object) -> bool:
    return type(value) is float or _is_whole(value)


def _is_flag(value: object) -> bool:
    return type(value) is bool


def _is_text_or_null(value: object) -> bool:
    return value is None or type(value) is str


def _is_whole_or_null(value: object) -> bool:
    return value is None or _is_whole(value)


def _is_texts(value: object) -> bool:
    return type(value) is list and all(type(one) is str for one in value)


if TYPE_CHECKING:
    Check = Callable[[object], bool]

_LEARNING = ("learning_id", _is_text, True)
_SESSION = ("session_id", _is_text, True)
_TICKET = ("ticket_id", _is_text_or_null, False)
_REASON = ("reason", _is_text, False)

# How the plain events of each kind look: their fields, and whether they must be there; the
# commonest are written out. ``model/events.py`` says the same, and a test holds the two together.
_PLAIN: "Mapping[str, Callable[[Document], bool]]" = {
    "surfaced": _is_plain_surfaced,
    "referenced": _is_plain_referenced,
    "dismissed": _is_plain_dismissed,
    "corrected": _checker(
        _LEARNING,
        _SESSION,
        ("superseded_by", _is_text_or_null, False),
        ("why", _is_text_or_null, False),
    ),
    "reflection": _checker(
        _SESSION,
        ("candidates", _is_whole, True),
        ("accepted", _is_whole, True),
        ("categories", _is_texts, False),
        ("criteria", _is_texts, False),
        _TICKET,
        ("backend", _is_text, False),
    ),
    "rejected": _checker(
        _SESSION,
        ("summary", _is_text, True),
        ("tags", _is_texts, False),
        ("stage", _is_text, False),
        _REASON,
    ),
    "skip": _checker(
        _SESSION,
        ("reason", _is_text, True),
        ("decider", _is_text, True),
        ("lines_changed", _is_whole_or_null, False),
        _TICKET,
    ),
    "archived": _checker(_LEARNING, _REASON),
    "restored": _checker(_LEARNING, _REASON),
    "rated": _checker(_LEARNING, ("useful", _is_flag, True)),
    "gate": _checker(
        _SESSION,
        ("outcome", _is_text, True),
        ("blocks", _is_whole, False),
        ("seconds", _is_number, False),
        _TICKET,
    ),
}


def _read_slowly(line: bytes) -> EventLine | str:
    from grove_core.codec.events import event_from_line

    try:
        event = event_from_line(line.decode())
    except (CodecError, UnicodeDecodeError):
        return UNREADABLE
    return UNKNOWN if event is None else _line_of(line, event)


def _line_of(line: bytes, event: "StatsEvent") -> EventLine | str:
    from attrs import fields

    document = {each.name: getattr(event, each.name) for each in fields(type(event))}
    try:
        moment = microseconds(event.ts)
    except (OverflowError, ValueError):
        return UNREADABLE
    whole = (document.get(name, 0) or 0 for name in ("candidates", "accepted", "blocks"))
    if not all(_is_whole(number) for number in whole):
        return UNREADABLE  # no event of grove counts to two thousand million
    return EventLine(line, event.event, moment, document)

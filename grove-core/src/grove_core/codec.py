"""Sessions, learnings and events as JSON and back, read strictly by the annotations of attrs."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from enum import Enum
from functools import cache
from math import isfinite
from types import NoneType
from typing import Any, Final, TypeVar, get_args, get_origin

from attrs import NOTHING, fields, has

from grove_core.clock import format_instant, parse_instant
from grove_core.errors import CodecError
from grove_core.model.events import EVENT_TYPES, EVENT_VERSION, StatsEvent
from grove_core.model.learning import Learning, Share
from grove_core.model.session import Session
from grove_core.model.value import Value

Document = dict[str, Any]
Reader = Callable[[object], Any]
_T = TypeVar("_T")

_LONGEST_SHOWN: Final = 60
_COULD_BE_SECRET: Final = 20


def from_json(kind: type[_T], content: bytes | str) -> _T:
    """Read a document as an attrs class; what is no field of it is left out."""
    value: _T = _read(kind, _parse_object(content))
    return value


def session_to_json(session: Session) -> bytes:
    """Write a session's state, with the fields that a newer grove had written."""
    known = plain(session)
    del known["unknown"]
    text = json.dumps({**session.unknown, **known}, separators=(",", ":"), default=plain)
    return text.encode("ascii")


def session_from_json(content: bytes) -> Session:
    """Read a session's state, whatever version of grove wrote it."""
    document = _parse_object(content)
    known = {each.name for each in fields(Session)} - {"unknown"}
    unknown = {name: value for name, value in document.items() if name not in known}
    session: Session = _read(Session, {**document, "unknown": unknown})
    return session


def share_to_dict(share: Share) -> Document:
    """Describe a share with its rate and its interval."""
    low, high = share.interval or (None, None)
    rates = {"rate": share.rate, "low": low, "high": high}
    rounded = {name: None if rate is None else round(rate, 4) for name, rate in rates.items()}
    return {"count": share.count, "total": share.total, **rounded}


def learning_to_dict(learning: Learning) -> Document:
    """Turn a learning into plain JSON values.

    Args:
        learning: The learning.

    Returns:
        One entry for each field.
    """
    return {
        "id": learning.id,
        "category": learning.category.value,
        "summary": learning.summary,
        "detail": learning.detail,
        "session_id": learning.session_id,
        "timestamp": format_instant(learning.timestamp),
        "scope": learning.scope.value,
        "confidence": learning.confidence.value,
        "criteria_met": sorted(each.value for each in learning.criteria_met),
        "tags": list(learning.tags),
        "context_files": list(learning.context_files),
        "ticket_id": learning.ticket_id,
        "status": learning.status.value,
        "supersedes": list(learning.supersedes),
        "schema_version": learning.schema_version,
    }


def learning_from_dict(document: object) -> Learning:
    """Read a learning from plain JSON values.

    Args:
        document: What ``learning_to_dict`` made; fields that are not known are ignored.

    Returns:
        The learning.

    Raises:
        CodecError: A field is missing or has the wrong type; the message names it.
    """
    if not isinstance(document, Mapping):
        raise CodecError(f"a learning must be an object, not {type(document).__name__}")
    if _version_of(document, "schema_version") == 0:
        document = {"session_id": "", **document, "schema_version": 1}
    learning: Learning = _read(Learning, dict(document))
    return learning


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
        is_empty = value in (None, "", ()) and value == each.default
        if each.name != "ts" and not is_empty:
            document[each.name] = value
    try:
        return json.dumps(document, separators=(",", ":"), allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise CodecError(f"cannot write the event {event.event}: {error}") from error


def event_from_line(line: str) -> StatsEvent | None:
    """Read a line of the log; ``None`` for an event of a newer grove."""
    document = _parse_object(line)
    name = document.get("event")
    if not isinstance(name, str):
        raise CodecError("the field event is missing or no text")
    kind: Any = EVENT_TYPES.get(name)
    if kind is None:
        return None
    # The older program wrote events of another shape under the version number 1.
    if "grove_version" not in document or "grove" in document:
        _version_of(document, "v")
    elif document.get("decider") in ("autothreshold", "auto_threshold"):
        document["decider"] = "auto"
    try:
        event: StatsEvent = reader_of(kind)(document)
    except MisplacedError as error:
        raise CodecError(f"{error.place[1:]} {error}") from error
    return event


def _parse_object(content: bytes | str) -> Document:
    try:
        # json itself decodes bytes so that half characters, which an older grove wrote, survive.
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CodecError(f"this is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise CodecError(f"this is not a JSON object: {shown(document)}")
    return document


def _version_of(document: Mapping[str, Any], field: str) -> int:
    """The version a document says it has; documents from before there were versions have 0."""
    version = document.get(field, 0)
    if type(version) is not int:
        raise CodecError(f"{field} must be a whole number, not {shown(version)}")
    return version


def plain(value: Any) -> Any:  # noqa: ANN401 - any value
    """Turn a value of the model into what JSON has: the ``default`` of ``json.dumps``."""
    if isinstance(value, Value):
        kind: Any = type(value)
        return {name: getattr(value, name) for name in _names_of(kind)}
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(each.value for each in value)
    if isinstance(value, Mapping):
        return dict(value)
    raise CodecError(f"cannot write a {type(value).__name__} as JSON")


@cache
def _names_of(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - a class of attrs
    return tuple(each.name for each in fields(kind))


def _read(kind: type, document: Document) -> Any:  # noqa: ANN401 - an instance
    name = kind.__name__.lower()
    try:
        return reader_of(kind)(document)
    except RecursionError as error:
        raise CodecError(f"this {name} is nested too deeply") from error
    except MisplacedError as error:
        raise CodecError(f"{name}{error.place} {error}") from error


# --- Readers --------------------------------------------------------------------------------------


def shown(value: object) -> str:
    """A value as messages show it: short, and harmless on a terminal."""
    if isinstance(value, str) and len(value) >= _COULD_BE_SECRET:
        return f'{shown(value[:4])[:-1]}…" ({len(value)} characters)'
    text = json.dumps(value, default=str).replace("\x7f", "\\x7f")
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


class MisplacedError(ValueError):
    """A value is wrong; the message says how, ``place`` and ``keys`` where."""

    def __init__(self, error: ValueError | str, key: int | str, *, is_field: bool = False) -> None:
        super().__init__(str(error))
        self.place: str = (f".{key}" if is_field else f"[{key!r}]") + getattr(error, "place", "")
        self.keys: tuple[int | str, ...] = (key, *getattr(error, "keys", ()))


def _exactly(kind: type, words: str) -> Reader:
    def read(value: object) -> object:
        # No isinstance: for Python, True is a whole number.
        if type(value) is not kind:
            raise ValueError(f"must be {words}, not {shown(value)}")
        return value

    return read


def _read_float(value: object) -> float:
    if type(value) not in (float, int):
        raise ValueError(f"must be a number, not {shown(value)}")
    with suppress(OverflowError):
        number = float(value)  # type: ignore[arg-type]  # mypy does not follow the test
        if isfinite(number):
            return number
    raise ValueError(f"must be a finite number, not {shown(value)}")


def _read_instant(value: object) -> datetime:
    if isinstance(value, str):
        with suppress(ValueError, OverflowError):
            return parse_instant(value)
    raise ValueError(f"must be an ISO 8601 time, not {shown(value)}")


_read_list: Final = _exactly(list, "a list")
_read_table: Final = _exactly(dict, "a table")

PLAIN_READERS: Final[Mapping[Any, Reader]] = {
    str: _exactly(str, "text"),
    int: _exactly(int, "a whole number"),
    bool: _exactly(bool, "true or false"),
    float: _read_float,
    datetime: _read_instant,
}


@cache
def reader_of(annotation: Any) -> Reader:  # noqa: ANN401 - a type
    """Make the reader of a type: it turns nothing into another type.

    What is wrong is a ``ValueError`` whose words go behind the name of the value.
    """
    if annotation in PLAIN_READERS:
        return PLAIN_READERS[annotation]
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation) or (Any, Any)
    if arguments[1:] == (NoneType,):
        read = reader_of(arguments[0])
        return lambda value: None if value is None else read(value)
    if origin in (list, tuple, frozenset):
        read = reader_of(arguments[0])
        return lambda value: origin(_read_all(read, enumerate(_read_list(value))).values())
    if origin in (Mapping, dict):
        read = reader_of(arguments[1])
        return lambda value: _read_all(read, _read_table(value).items())
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _member_reader(annotation)
    # The first test leaves a class of the model alone that no document has.
    is_class = isinstance(annotation, type) and (issubclass(annotation, Value) or has(annotation))
    return _class_reader(annotation) if is_class else lambda value: value


def _read_all(read: Reader, items: Iterable[tuple[Any, object]]) -> dict[Any, Any]:
    found = {}
    for key, value in items:
        try:
            found[key] = read(value)
        except ValueError as error:
            raise MisplacedError(error, key) from error
    return found


def _member_reader(kind: type[Enum]) -> Reader:
    def read(value: object) -> Enum:
        try:
            return kind(value)
        except ValueError:
            names = ", ".join(member.value for member in kind)
            raise ValueError(f"must be one of {names}, not {shown(value)}") from None

    return read


def _class_reader(kind: Any) -> Reader:  # noqa: ANN401 - an attrs class
    @cache
    def known() -> list[tuple[str, object, bool]]:
        return [(each.name, each.type, each.default is NOTHING) for each in fields(kind)]

    def read(value: object) -> Any:  # noqa: ANN401 - an instance
        document = _read_table(value)
        found = {}
        for name, annotation, is_required in known():
            if name in document:
                try:
                    found[name] = reader_of(annotation)(document[name])
                except ValueError as error:
                    raise MisplacedError(error, name, is_field=True) from error
            elif is_required:
                raise MisplacedError("is missing", name, is_field=True)
        return kind(**found)

    return read

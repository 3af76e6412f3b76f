"""Sessions and learnings to JSON and back."""

import json
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Final

from attrs import fields

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
from grove_core.model.learning import Learning
from grove_core.model.session import Session
from grove_core.model.value import Value


def session_to_json(session: Session) -> bytes:
    """Write a session's state, with the fields that a newer grove had written."""
    known = _plain(session)
    del known["unknown"]
    text = json.dumps({**session.unknown, **known}, separators=(",", ":"), default=_plain)
    return text.encode("ascii")


def session_from_json(content: bytes) -> Session:
    """Read a session's state, whatever version of grove wrote it."""
    document = parse_object(content)
    known = {each.name for each in fields(Session)} - {"unknown"}
    unknown = {name: value for name, value in document.items() if name not in known}
    session: Session = _read(Session, {**document, "unknown": unknown})
    return session


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
    current = migrate(document, version_of(document, "schema_version"), _LEARNING_STEPS)
    learning: Learning = _read(Learning, current)
    return learning


def _plain(value: Any) -> Any:  # noqa: ANN401 - what json does not know
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


def _upgrade_learning(old: Document) -> Document:
    return {"session_id": "", **old, "schema_version": 1}


_LEARNING_STEPS: Final[Mapping[int, Step]] = {0: _upgrade_learning}

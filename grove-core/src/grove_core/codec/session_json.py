"""Sessions and learnings to JSON and back."""

import json
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
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

_OLDER_HOST: Final = "claude-code"


def session_to_json(session: Session) -> bytes:
    """Write a session's state, with the fields that a newer grove had written."""
    known = _plain(session)
    del known["unknown"]
    text = json.dumps({**session.unknown, **known}, separators=(",", ":"), default=_plain)
    return text.encode("ascii")


def session_from_json(content: bytes) -> Session:
    """Read a session's state, whatever version of grove wrote it."""
    document = parse_object(content)
    current = migrate(document, version_of(document, "schema_version"), _SESSION_STEPS)
    known = {each.name for each in fields(Session)} - {"unknown"}
    unknown = {name: value for name, value in current.items() if name not in known}
    session: Session = _read(Session, {**current, "unknown": unknown})
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
        return {each.name: getattr(value, each.name) for each in fields(kind)}
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(each.value for each in value)
    if isinstance(value, Mapping):
        return dict(value)
    raise CodecError(f"cannot write a {type(value).__name__} as JSON")


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


def _upgrade_session(old: Document) -> Document:
    new = {"host": _OLDER_HOST, "project_root": old.get("cwd"), **old, "schema_version": 1}
    if isinstance(old.get("trace"), list):
        new |= _from_older_program(_table(old))
    return new


def _from_older_program(old: Document) -> Document:
    """Keep what is owed, and what was noted and shown; the older program's trace is let go."""
    gate = _table(old.get("gate"))
    created = old.get("created_at")
    return {
        "transcript_path": old.get("transcript_path", ""),
        "gate": _upgrade_gate(gate, old.get("updated_at", created)),
        "observations": _tables(gate.get("subagent_observations")),
        "injected": [
            {
                **shown,
                "summary": "",
                "injected_at": created,
                "outcome": str(shown.get("outcome", "pending")).removeprefix("implicitly_"),
            }
            for shown in _tables(gate.get("injected_learnings"))
        ],
        "trace": {"dropped": len(old["trace"])},
    }


def _upgrade_gate(old: Document, changed_at: object) -> Document:
    status = old.get("status", "idle")
    ticket = _table(old.get("ticket")) or None
    owed = {"tickets": [ticket] if ticket else [], "opened_at": changed_at, "before": "idle"}
    return {
        "status": status,
        "ticket": ticket,
        "cycle": owed if status in ("pending", "blocked") else None,
        "breaker": {
            "block_count": old.get("block_count", 0),
            "cycle_blocks": old.get("block_count", 0),
            "last_block_at": old.get("last_blocked_at"),
            "last_blocked_session_id": old.get("last_blocked_session_id"),
            "tripped": old.get("circuit_breaker_tripped", False),
        },
    }


def _table(value: object) -> Document:
    """The entries of an object that are there; anything else has none."""
    if not isinstance(value, dict):
        return {}
    return {name: item for name, item in value.items() if item is not None}


def _tables(value: object) -> list[Document]:
    return [_table(item) for item in value] if isinstance(value, list) else []


_LEARNING_STEPS: Final[Mapping[int, Step]] = {0: _upgrade_learning}
_SESSION_STEPS: Final[Mapping[int, Step]] = {0: _upgrade_session}

"""Sessions and learnings, and what older programs made of them."""

import json
from collections.abc import Mapping
from typing import Final

from attrs import evolve, fields

from grove_core.codec.converter import read_as, to_jsonable
from grove_core.codec.values import Document, Step, migrate, parse_object, version_of
from grove_core.errors import CodecError
from grove_core.model.learning import Learning
from grove_core.model.session import Session

_OLDER_HOST: Final = "claude-code"


def session_to_json(session: Session) -> bytes:
    """Write a session's state.

    Args:
        session: The session.

    Returns:
        JSON, with the fields that a newer grove had written.
    """
    document = to_jsonable(evolve(session, unknown={}))
    del document["unknown"]
    # What a newer grove wrote is plain JSON already, nested as deeply as it likes.
    document = {**session.unknown, **document}
    return json.dumps(document, separators=(",", ":")).encode("ascii")


def session_from_json(content: bytes) -> Session:
    """Read a session's state.

    Args:
        content: What ``session_to_json`` wrote, or an older or newer version of grove.

    Returns:
        The session; top-level fields this version does not know are in its ``unknown``.

    Raises:
        CodecError: It cannot be read; the message names the field.
    """
    document = parse_object(content)
    current = migrate(document, version_of(document, "schema_version"), _SESSION_STEPS)
    known = {each.name for each in fields(Session)} - {"unknown"}
    values = {name: value for name, value in current.items() if name in known}
    unknown = {name: value for name, value in current.items() if name not in known}
    return read_as(Session, values | {"unknown": unknown})


def learning_to_dict(learning: Learning) -> Document:
    """Turn a learning into plain JSON values.

    Args:
        learning: The learning.

    Returns:
        One entry for each field.
    """
    document: Document = to_jsonable(learning)
    return document


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
    version = version_of(document, "schema_version")
    return read_as(Learning, migrate(document, version, _LEARNING_STEPS))


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

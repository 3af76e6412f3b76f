"""Sessions, learnings and any value of the model as JSON."""

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import attrs
import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core import codec
from grove_core.errors import CodecError
from grove_core.model.gate import Cycle, Gate, GateStatus
from grove_core.model.learning import Category, Criterion, Learning
from grove_core.model.session import EventType, Session, Trace, TraceEvent
from grove_core.model.ticket import Ticket

NOW = datetime(2026, 2, 6, 10, 0, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
PLAIN = {
    Any: JSON,
    # JSON can carry lone surrogates, and clients have sent them.
    str: st.text(st.characters(exclude_categories=()), max_size=12),
    int: st.integers(),
    bool: st.booleans(),
    float: st.floats(allow_nan=False),
    datetime: st.datetimes(timezones=st.just(UTC)),
}


def any_of(annotation):  # noqa: PLR0911 - one line for each kind of type
    """Everything that a field of this type can hold."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in PLAIN:
        return PLAIN[annotation]
    if origin is UnionType:
        return st.none() | any_of(arguments[0])
    if origin is tuple:
        return st.lists(any_of(arguments[0]), max_size=2).map(tuple)
    if origin is frozenset:
        return st.frozensets(any_of(arguments[0]), max_size=3)
    if origin is Mapping:
        return st.dictionaries(st.text(max_size=6), any_of(arguments[1]), max_size=2)
    if issubclass(annotation, Enum):
        return st.sampled_from(annotation)
    return any_instance(annotation)


def any_instance(kind, **given_fields):
    strategies = {each.name: any_of(each.type) for each in attrs.fields(kind)}
    return st.builds(kind, **{**strategies, **given_fields})


VERSION = st.integers(1, 5)
SESSION_FIELDS = {each.name for each in attrs.fields(Session)} - {"unknown"}
UNKNOWN = st.dictionaries(
    st.text().filter(lambda name: name not in SESSION_FIELDS), JSON, max_size=2
)
LEARNINGS = any_instance(Learning, schema_version=VERSION)
SESSIONS = any_instance(
    Session,
    schema_version=VERSION,
    unknown=UNKNOWN,
    ephemeral=st.lists(LEARNINGS, max_size=1).map(tuple),
)


def minimal(**changes):
    session = Session(
        id="s1", host="claude-code", cwd="/p", project_root="/p", created_at=NOW, updated_at=NOW
    )
    return attrs.evolve(session, **changes)


def document_of(session):
    return json.loads(codec.session_to_json(session))


def read(document):
    return codec.session_from_json(json.dumps(document).encode())


@settings(max_examples=60, deadline=None)
@given(SESSIONS)
def test_any_session_comes_back_as_it_was(session):
    content = codec.session_to_json(session)
    assert codec.session_from_json(content) == session
    assert content.isascii()
    assert b"\n" not in content


@settings(max_examples=100, deadline=None)
@given(LEARNINGS)
def test_any_learning_comes_back_as_it_was(learning):
    document = json.loads(json.dumps(codec.learning_to_dict(learning)))
    assert codec.learning_from_dict(document) == learning


@settings(max_examples=100, deadline=None)
@given(JSON, st.sampled_from(sorted(SESSION_FIELDS)))
def test_wrong_values_are_read_or_refused_and_nothing_else(value, field):
    document = document_of(minimal(gate=Gate(ticket=Ticket(ticket_id="T", source="x"))))
    document[field] = value
    try:
        session, message = read(document), ""
    except CodecError as error:
        session, message = None, str(error)
    assert message.isprintable()
    assert session or field in message or field == "schema_version"


@settings(deadline=None)
@given(st.binary(max_size=30) | JSON.map(lambda value: json.dumps(value).encode()))
def test_foreign_bytes_are_refused_in_words(content):
    with pytest.raises(CodecError):
        codec.session_from_json(content)


def test_shape_on_disk():
    document = document_of(
        minimal(
            gate=Gate(
                status=GateStatus.PENDING,
                cycle=Cycle(tickets=(), opened_at=NOW, before=GateStatus.IDLE),
            ),
            trace=Trace(
                events=(TraceEvent(event_type=EventType.PROMPT, timestamp=NOW),), dropped=2
            ),
        )
    )
    assert document["schema_version"] == 1
    assert document["created_at"] == "2026-02-06T10:00:00Z"
    assert document["gate"]["status"] == "pending"
    assert document["gate"]["cycle"]["before"] == "idle"
    assert document["trace"]["events"][0]["event_type"] == "prompt"
    assert "unknown" not in document


def test_times_of_other_zones_are_written_in_utc():
    east = NOW.astimezone(timezone(timedelta(hours=2)))
    assert document_of(minimal(created_at=east))["created_at"] == "2026-02-06T10:00:00Z"


def test_criteria_are_a_sorted_list():
    learning = Learning(
        id="cl_1",
        category=Category.DOMAIN,
        summary="s",
        detail="d",
        session_id="s1",
        timestamp=NOW,
        criteria_met=frozenset(Criterion),
    )
    criteria = codec.learning_to_dict(learning)["criteria_met"]
    assert criteria == sorted(member.value for member in Criterion)


def test_fields_of_a_newer_grove_survive_a_rewrite():
    document = document_of(minimal()) | {"schema_version": 7, "novelty": {"a": [1]}, "unknown": 3}
    document["gate"]["nested_novelty"] = 1
    session = read(document)
    assert session.unknown == {"novelty": {"a": [1]}, "unknown": 3}
    assert session.schema_version == 7
    again = document_of(attrs.evolve(session, host="x"))
    assert again["novelty"] == {"a": [1]}
    assert again["unknown"] == 3
    assert again["host"] == "x"
    assert "nested_novelty" not in again["gate"]


def test_missing_fields_take_their_defaults():
    required = {"id", "host", "cwd", "project_root", "created_at", "updated_at", "schema_version"}
    document = {name: value for name, value in document_of(minimal()).items() if name in required}
    assert read(document) == minimal()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("gate", "status"), "asleep", "gate.status must be one of idle, active"),
        (("gate", "status"), ["idle"], "gate.status must be one of"),
        (
            ("gate", "breaker", "block_count"),
            "2",
            "gate.breaker.block_count must be a whole number",
        ),
        (("gate", "breaker", "block_count"), True, "must be a whole number, not True"),
        (("gate", "breaker", "tripped"), 1, "must be true or false, not 1"),
        (("gate", "seen_shells"), ["a", 1], "session.gate.seen_shells[1] must be text, not 1"),
        (("gate", "seen_shells"), "abc", "must be a list"),
        (("gate", "breaker"), [], "gate.breaker must be an object"),
        (("closed_in_prompt",), {"beads": 1}, "closed_in_prompt['beads'] must be text, not 1"),
        (("closed_in_prompt",), {"\x1b @ b": 1}, "session.closed_in_prompt['\\x1b @ b'] must"),
        (("closed_in_prompt",), [], "closed_in_prompt must be an object"),
        (("gate",), "idle", "session.gate must be an object, not 'idle'"),
        (("gate", "ticket"), {"source": "beads"}, "session.gate.ticket.ticket_id is missing"),
        (("gate", "ticket"), {"ticket_id": 1, "source": "x"}, "ticket_id must be text, not 1"),
        (("intents",), [{"key": "k"}], "session.intents[0]."),
        (("created_at",), "yesterday", "created_at must be an ISO 8601 time"),
        (("created_at",), "0001-01-01T00:00:00+10:00", "created_at must be an ISO 8601 time"),
        (("created_at",), 5, "created_at must be an ISO 8601 time"),
        (("cwd",), None, "cwd must be text, not None"),
        (("id",), "\x1b" * 500, ""),
        (("schema_version",), "1", "schema_version must be a whole number"),
    ],
)
def test_wrong_types_are_named_with_their_place(path, value, words):
    document = document_of(minimal())
    target = document
    for name in path[:-1]:
        target = target[name]
    target[path[-1]] = value
    if not words:
        assert read(document).id == value
        return
    with pytest.raises(CodecError) as caught:
        read(document)
    assert words in str(caught.value)


def test_missing_required_field_is_named():
    document = document_of(minimal())
    del document["host"]
    with pytest.raises(CodecError, match="host is missing"):
        read(document)


def test_deep_nesting_is_an_error_and_no_crash():
    with pytest.raises(CodecError):
        codec.session_from_json(b"[" * 200_000)


OLDER_SESSION = {
    "id": "abc",
    "cwd": "/p",
    "transcript_path": None,
    "created_at": "2026-02-06T10:00:00.123456789Z",
    "updated_at": "2026-02-06T11:00:00Z",
    "gate": {
        "status": "blocked",
        "block_count": 2,
        "circuit_breaker_tripped": False,
        "last_blocked_session_id": "abc",
        "last_blocked_at": "2026-02-06T11:00:00Z",
        "reflection": None,
        "skip": None,
        "subagent_observations": [{"note": "look here", "timestamp": "2026-02-06T10:30:00Z"}],
        "injected_learnings": [
            {"learning_id": "cl_1", "score": 1, "outcome": "implicitly_referenced"}
        ],
        "ticket_close_intent": None,
        "cached_diff_size": None,
        "ticket": {"ticket_id": "T1", "source": "tissue", "title": "One", "description": None},
        "deferred_injection_pending": False,
    },
    "trace": [
        {"event_type": "deferred_injection", "timestamp": "2026-02-06T10:00:00Z", "details": None}
    ],
}


def test_session_of_the_older_program_keeps_its_debt():
    session = read(OLDER_SESSION)
    assert session.gate.status is GateStatus.BLOCKED
    assert session.gate.ticket == Ticket(ticket_id="T1", source="tissue", title="One")
    assert session.gate.cycle.tickets == (session.gate.ticket,)
    assert session.gate.breaker.block_count == 2
    assert session.observations[0].note == "look here"
    assert session.injected[0].outcome.value == "referenced"
    assert session.trace.dropped == 1
    assert session.project_root == "/p"
    assert session.schema_version == 1
    assert codec.session_from_json(codec.session_to_json(session)) == session


@pytest.mark.parametrize(
    "changes",
    [
        {"gate": None},
        {"gate": {"injected_learnings": 5, "subagent_observations": "x"}},
        {"gate": {"status": [], "ticket": 3}},
        {"gate": {"injected_learnings": [None, {"outcome": 3}]}},
        {"trace": [1, 2]},
        {"cwd": 5},
    ],
)
def test_damaged_older_session_is_read_or_refused(changes):
    with contextlib.suppress(CodecError):
        assert read(OLDER_SESSION | changes).id == "abc"


def test_learning_without_a_version_is_migrated():
    document = {
        "id": "cl_20260206_001",
        "category": "domain",
        "summary": "s",
        "detail": "d",
        "timestamp": "2026-02-06T10:00:00Z",
        "relevance_context": "ignored",
    }
    learning = codec.learning_from_dict(document)
    assert (learning.schema_version, learning.session_id) == (1, "")
    assert "schema_version" not in document


def test_migration_takes_every_step_once_and_in_order():
    steps = {
        version: lambda old, v=version: old | {"seen": [*old["seen"], v]} for version in range(3)
    }
    original = {"seen": []}
    assert codec.migrate(original, 0, steps) == {"seen": [0, 1, 2]}
    assert codec.migrate(original, 2, steps) == {"seen": [2]}
    assert codec.migrate(original, 9, steps) == original
    assert original == {"seen": []}


@frozen
class Part:
    when: datetime
    names: frozenset


@frozen
class Whole:
    parts: dict
    nothing: None = None


def test_any_value_of_the_model_for_people():
    stats = Whole({"cl_1": Part(NOW, frozenset({"b", "a"}))})
    document = codec.to_jsonable(
        {"stats": stats, "path": Path("/a/b"), Category.DOMAIN: {3, 1}, "n": Counter("aa")}
    )
    assert document["stats"] == {
        "parts": {"cl_1": {"when": "2026-02-06T10:00:00Z", "names": ["a", "b"]}},
        "nothing": None,
    }
    assert document["path"] == "/a/b"
    assert document["domain"] == [1, 3]
    assert document["n"] == {"a": 2}
    assert json.dumps(document)
    assert codec.to_jsonable((Whole({"agent": 1}), None, True, 1.5)) == [
        {"parts": {"agent": 1}, "nothing": None},
        None,
        True,
        1.5,
    ]


def test_what_cannot_be_written_is_named():
    with pytest.raises(CodecError, match="object"):
        codec.to_jsonable([object()])
    with pytest.raises(CodecError, match="bytes"):
        codec.to_jsonable({"content": b"x"})


def test_reading_a_session_imports_no_events():
    code = (
        "import sys; from grove_core import codec; codec.session_from_json(sys.argv[1].encode());"
        "print(*sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, codec.session_to_json(minimal()).decode()],
        env={"PATH": os.environ.get("PATH", "")},
        check=True,
        capture_output=True,
        text=True,
    )
    assert not set(result.stdout.split()) & {"grove_core.model.events", "logging"}


@pytest.mark.parametrize("document", [1, None, "text", [1]])
def test_a_learning_that_is_no_object_is_refused_with_words(document):
    with pytest.raises(CodecError, match="must be an object"):
        codec.learning_from_dict(document)


def test_fields_of_a_newer_grove_may_be_nested_deeply():
    document = document_of(minimal())
    deep = []
    for _ in range(700):
        deep = [deep]
    session = read(document | {"novelty": deep})
    assert document_of(session)["novelty"] == deep

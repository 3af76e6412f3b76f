"""Sessions, learnings, lines of the event log and any value of the model as JSON."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.codec import (
    event_from_line,
    event_to_line,
    learning_from_dict,
    learning_to_dict,
    session_from_json,
    session_to_json,
)
from grove_core.errors import CodecError
from grove_core.model.events import (
    EVENT_TYPES,
    Surfaced,
)
from grove_core.model.gate import Gate
from grove_core.model.learning import Learning
from grove_core.model.session import Session
from grove_core.model.ticket import Ticket
from grove_core.storage.codec import to_jsonable
from grove_core.testing.samples import example_learning

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
    float: st.floats(allow_nan=False, allow_infinity=False),
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
    return json.loads(session_to_json(session))


def read(document):
    return session_from_json(json.dumps(document).encode())


@settings(max_examples=20, deadline=None)
@given(SESSIONS)
def test_any_session_comes_back_as_it_was(session):
    content = session_to_json(session)
    assert session_from_json(content) == session
    assert content.isascii()
    assert b"\n" not in content


@settings(max_examples=20, deadline=None)
@given(SESSIONS)
def test_any_session_is_written_as_cattrs_does_it(session):
    document = json.loads(json.dumps(to_jsonable(session)))
    unknown = document.pop("unknown")
    assert document_of(session) == unknown | document


@settings(max_examples=40, deadline=None)
@given(LEARNINGS)
def test_any_learning_comes_back_as_it_was(learning):
    document = json.loads(json.dumps(learning_to_dict(learning)))
    assert learning_from_dict(document) == learning


@settings(max_examples=40, deadline=None)
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


def test_fields_of_a_newer_grove_survive_a_rewrite():
    novelties = {"novelty": {"a": [1]}, "unknown": 3}
    document = document_of(minimal()) | novelties | {"schema_version": 7}
    document["gate"]["nested_novelty"] = 1
    session = read(document)
    assert (session.unknown, session.schema_version) == (novelties, 7)
    again = document_of(attrs.evolve(session, host="x"))
    assert again.items() >= {"host": "x", **novelties}.items()
    assert "nested_novelty" not in again["gate"]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("gate.status", "asleep", "gate.status must be one of idle, active"),
        ("gate.breaker.block_count", "2", "block_count must be a whole number"),
        ("closed_in_prompt", {"beads": 1}, "closed_in_prompt['beads'] must be text, not 1"),
        ("gate.ticket", {"source": "beads"}, "session.gate.ticket.ticket_id is missing"),
        ("intents", [{"key": "k"}], "session.intents[0]."),
        ("created_at", "yesterday", "created_at must be an ISO 8601 time"),
    ],
)
def test_wrong_types_are_named_with_their_place(path, value, words):
    document = document_of(minimal())
    target, (*parents, last) = document, path.split(".")
    for name in parents:
        target = target[name]
    target[last] = value
    with pytest.raises(CodecError) as caught:
        read(document)
    assert words in str(caught.value)


def test_learning_without_a_version_is_migrated():
    document = learning_to_dict(example_learning()) | {"relevance_context": "ignored"}
    del document["schema_version"], document["session_id"]
    assert learning_from_dict(document) == example_learning(session_id="")


HEAD = {"v": 1, "ts": "2026-02-06T10:00:00Z", "grove": "0.1.0"}


def line(**fields):
    return json.dumps(HEAD | fields)


@settings(max_examples=50, deadline=None)
@given(st.one_of(any_instance(kind) for kind in EVENT_TYPES.values()))
def test_any_event_comes_back_as_it_was(event):
    text = event_to_line(event, "0.1.0")
    assert event_from_line(text) == event
    assert text.endswith("\n")
    assert len(text.splitlines()) == 1
    document = json.loads(text)
    assert list(document)[:4] == ["v", "ts", "event", "grove"]
    assert document["v"] == 1


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"event": "retroflect", "session_id": 5}, None),
        ({"event": "dismissed", "learning_id": "l", "novelty": [1], "v": 9}, "l"),
        ({"event": "rated", "learning_id": "l", "useful": True}, "l"),
    ],
)
def test_lines_of_other_versions_are_read_as_far_as_they_go(fields, expected):
    event = event_from_line(line(**{"session_id": "s"} | fields))
    assert getattr(event, "learning_id", None) == expected


def test_line_as_it_stands_in_the_log():
    event = Surfaced(ts=NOW, learning_id="cl_1", session_id="s1", score=0.5)
    assert event_to_line(event, "0.1.0") == (
        '{"v":1,"ts":"2026-02-06T10:00:00Z","event":"surfaced","grove":"0.1.0",'
        '"learning_id":"cl_1","session_id":"s1","via":"start","score":0.5}\n'
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ('{"v":1,"ts":"2026-02-', "not JSON"),
        ("[]", "not a JSON object"),
        (line(event="dismissed", learning_id="l"), "session_id is missing"),
        (line(event="dismissed", learning_id="l", session_id="s", ts=3), "ts must be"),
        (line(event="surfaced", learning_id="l", session_id="s", score=10**400), "score must be"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_lines_that_do_not_parse(text, words):
    with pytest.raises(CodecError) as caught:
        event_from_line(text)
    assert words in str(caught.value)

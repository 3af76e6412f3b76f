"""Lines of the event log."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from types import UnionType
from typing import get_args, get_origin

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core import codec
from grove_core.errors import CodecError
from grove_core.model.events import (
    EVENT_TYPES,
    Archived,
    Rated,
    Referenced,
    Reflection,
    Rejected,
    Skip,
    Surfaced,
)

NOW = datetime(2026, 2, 6, 10, 0, tzinfo=UTC)
HEAD = {"v": 1, "ts": "2026-02-06T10:00:00Z", "grove": "0.1.0"}
PLAIN = {
    str: st.text(st.characters(exclude_categories=()), max_size=20),
    int: st.integers(),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    datetime: st.datetimes(timezones=st.just(UTC)),
}


def any_of(annotation):
    if annotation in PLAIN:
        return PLAIN[annotation]
    inner = any_of(get_args(annotation)[0])
    if get_origin(annotation) is UnionType:
        return st.none() | inner
    return st.lists(inner, max_size=3).map(tuple)


EVENTS = st.one_of(
    st.builds(kind, **{each.name: any_of(each.type) for each in attrs.fields(kind)})
    for kind in EVENT_TYPES.values()
)


def line(**fields):
    return json.dumps(HEAD | fields)


@settings(max_examples=300, deadline=None)
@given(EVENTS)
def test_any_event_comes_back_as_it_was(event):
    text = codec.event_to_line(event, "0.1.0")
    assert codec.event_from_line(text) == event
    assert text.endswith("\n")
    assert len(text.splitlines()) == 1
    document = json.loads(text)
    assert list(document)[:4] == ["v", "ts", "event", "grove"]
    assert document["v"] == 1


def test_line_as_it_stands_in_the_log():
    event = Surfaced(ts=NOW, learning_id="cl_1", session_id="s1", score=0.5)
    assert codec.event_to_line(event, "0.1.0") == (
        '{"v":1,"ts":"2026-02-06T10:00:00Z","event":"surfaced","grove":"0.1.0",'
        '"learning_id":"cl_1","session_id":"s1","via":"start","score":0.5}\n'
    )


@pytest.mark.parametrize(
    ("event", "left_out"),
    [
        (Referenced(ts=NOW, learning_id="l", session_id="s"), {"ticket_id", "how"}),
        (Archived(ts=NOW, learning_id="l"), {"reason"}),
        (
            Reflection(ts=NOW, session_id="s", candidates=0, accepted=0),
            {"categories", "criteria", "ticket_id", "backend"},
        ),
        (Rejected(ts=NOW, session_id="s", summary=""), {"tags", "stage", "reason"}),
    ],
)
def test_empty_optional_fields_are_left_out(event, left_out):
    document = json.loads(codec.event_to_line(event, "0.1.0"))
    names = {each.name for each in attrs.fields(type(event))}
    assert names - document.keys() == left_out
    assert codec.event_from_line(json.dumps(document)) == event


def test_zero_and_false_are_kept():
    rated = json.loads(codec.event_to_line(Rated(ts=NOW, learning_id="l", useful=False), "0.1.0"))
    assert rated["useful"] is False
    skip = Skip(ts=NOW, session_id="s", reason="r", decider="agent", lines_changed=0)
    assert json.loads(codec.event_to_line(skip, "0.1.0"))["lines_changed"] == 0


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_numbers_that_json_lacks_are_refused(score):
    event = Surfaced(ts=NOW, learning_id="l", session_id="s", score=score)
    with pytest.raises(CodecError, match="surfaced"):
        codec.event_to_line(event, "0.1.0")


@pytest.mark.parametrize("name", ["retroflect", "implicitly_referenced", "novelty", ""])
def test_unknown_events_are_none(name):
    assert codec.event_from_line(line(event=name, session_id=5)) is None


def test_unknown_fields_and_newer_versions_are_read_as_far_as_they_go():
    text = line(event="dismissed", learning_id="l", session_id="s", novelty=[1], v=9)
    assert codec.event_from_line(text).learning_id == "l"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("<<<<<<< HEAD", "not JSON"),
        ('{"v":1,"ts":"2026-02-', "not JSON"),
        ("[]", "not a JSON object"),
        ("3", "not a JSON object"),
        ("{}", "event"),
        (line(event=3), "event"),
        (line(event="dismissed", learning_id="l"), "session_id is missing"),
        (line(event="dismissed", learning_id=1, session_id="s"), "learning_id must be text"),
        (line(event="dismissed", learning_id=None, session_id="s"), "learning_id must be text"),
        (line(event="dismissed", learning_id="l", session_id="s", ts=3), "ts must be"),
        (line(event="dismissed", learning_id="l", session_id="s", v="1"), "v must be"),
        (line(event="rated", learning_id="l", useful=1), "useful must be true or false"),
        (
            line(event="reflection", session_id="s", candidates=1.5, accepted=1),
            "candidates must be",
        ),
        (line(event="reflection", session_id="s", candidates=1, accepted=True), "accepted must be"),
        (line(event="rejected", session_id="s", summary="x", tags="a"), "tags must be a list"),
        (
            line(event="surfaced", learning_id="l", session_id="s", score="1"),
            "score must be a number",
        ),
        (line(event="surfaced", learning_id="l", session_id="s", score=10**400), "score must be"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_lines_that_do_not_parse(text, words):
    with pytest.raises(CodecError) as caught:
        codec.event_from_line(text)
    assert words in str(caught.value)


OLDER = {"v": 1, "ts": "2026-02-06T10:00:00.123456789Z", "grove_version": "0.3.1"}


@pytest.mark.parametrize("decider", ["autothreshold", "auto_threshold", "auto"])
@pytest.mark.parametrize("version", [{"v": 1}, {"v": 0}, {}])
def test_skips_of_the_older_program(decider, version):
    fields = {"event": "skip", "session_id": "s", "reason": "r", "decider": decider}
    document = {name: value for name, value in OLDER.items() if name != "v"} | version | fields
    event = codec.event_from_line(json.dumps(document | {"context_files": []}))
    assert event == Skip(
        ts=NOW.replace(microsecond=123456), session_id="s", reason="r", decider="auto"
    )


def test_ratings_of_the_older_program():
    fields = {"event": "rated", "learning_id": "l", "useful": True, "context": "review"}
    event = codec.event_from_line(json.dumps(OLDER | fields))
    assert (event.learning_id, event.useful) == ("l", True)


def test_events_without_a_version_are_read():
    document = {"ts": "2026-02-06T10:00:00Z", "event": "archived", "learning_id": "l"}
    assert codec.event_from_line(json.dumps(document)) == Archived(ts=NOW, learning_id="l")


def test_events_are_written_and_read_without_the_converter():
    code = (
        "import sys; from grove_core import codec; event = codec.event_from_line(sys.argv[1]);"
        "codec.event_to_line(event, '0.1.0'); print(*sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, line(event="archived", learning_id="l")],
        env={"PATH": os.environ.get("PATH", "")},
        check=True,
        capture_output=True,
        text=True,
    )
    modules = set(result.stdout.split())
    assert "grove_core.model.events" in modules
    assert not modules & {"cattrs", "grove_core.model.session"}

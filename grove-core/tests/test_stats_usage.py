"""Usage read from the text of a log is what the events say, whatever else the log holds."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.codec import event_from_line
from grove_core.errors import CodecError
from grove_core.stats.aggregate import aggregate
from grove_core.stats.usage import usage_of

NAMES = st.sampled_from(["cl_a", "cl_b"])
MOMENTS = st.sampled_from(
    ["2026-02-06T10:00:00Z", "2026-02-07T10:00:00Z", "2026-02-06T12:00:00+01:00",
     "2026-02-06T10:00:00.5Z", "2026-13-06T10:00:00Z", "yesterday", 5, None]
)  # fmt: skip
ODD = st.sampled_from([None, True, 1, 7, 1.5, "text", [], {}, 10**400])
EVENTS = st.sampled_from(
    ["surfaced", "referenced", "dismissed", "corrected", "rated", "skip", "novel", 3, [], {}]
)


def absent_or(strategy):
    return st.one_of(st.just(...), strategy)


DOCUMENTS = st.fixed_dictionaries(
    {
        "v": absent_or(st.sampled_from([1, 1, 1, 1.0, True, 0, 2, "1"])),
        "ts": MOMENTS,
        "event": EVENTS,
        "grove": absent_or(st.just("1")),
        "grove_version": st.sampled_from([..., ..., ..., "0.10.0"]),
        "learning_id": absent_or(NAMES | ODD),
        "session_id": st.sampled_from(["s1", "s2", "s3"]) | ODD,
        "ticket_id": absent_or(st.sampled_from(["t1", "t2", "", None]) | ODD),
        "how": absent_or(ODD),
        "via": absent_or(st.sampled_from(["start", "prompt"]) | ODD),
        "score": absent_or(st.sampled_from([0.5, 0, 1]) | ODD),
        "useful": absent_or(st.booleans() | ODD),
    }
).map(lambda fields: {name: value for name, value in fields.items() if value is not ...})
LINES = st.one_of(
    DOCUMENTS.map(json.dumps),
    DOCUMENTS.map(json.dumps),
    st.sampled_from(
        ["", "  ", "<<<<<<< HEAD", "{", "}", "{}", "[]", "{}, {}", '{"a": [1', "2]}", "7", "null",
         ' {"v": 1}', '{"event": "surfaced"', "NaN", "[" * 2000]
    ),
)  # fmt: skip


def slowly(lines):
    events = []
    for line in lines:
        try:
            events.append(event_from_line(line) if line.strip() else None)
        except CodecError:
            continue
    return aggregate(event for event in events if event is not None).learnings


@settings(max_examples=400, deadline=None)
@given(st.lists(st.lists(LINES, max_size=8), max_size=2))
def test_usage_is_what_the_events_say(logs):
    assert usage_of(["\n".join(log) for log in logs], event_from_line) == slowly(
        line for log in logs for line in log
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(DOCUMENTS, max_size=12))
def test_usage_of_a_log_without_a_bad_line(documents):
    lines = [json.dumps(document) for document in documents]
    assert usage_of(["\n".join(lines) + "\n"], event_from_line) == slowly(lines)


@pytest.mark.parametrize("log", ["", "\n", "garbage\n", "\n\n{}\n"])
def test_a_log_that_says_nothing(log):
    assert usage_of([log], event_from_line) == {}

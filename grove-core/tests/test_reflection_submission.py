"""Reading a submission: every form is accepted, side fields never spoil candidates."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.errors import ReflectionError
from grove_core.reflection.submission import SUBMISSION_BYTES_MAX, Reference, parse_submission

CANDIDATE = {
    "category": "pitfall",
    "summary": "Tokens expire after five minutes",
    "detail": "The client in `src/auth.py` caches tokens [forever] {and} never refreshes them.",
    "tags": ["auth"],
    "criteria_met": ["stable_fact"],
}
OBJECT = {"session_id": "s1", "candidates": [CANDIDATE]}
TEXT = json.dumps(OBJECT)


def parse(value):
    return parse_submission((value if isinstance(value, str) else json.dumps(value)).encode())


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"~~~~ json\r\n{TEXT}\r\n~~~~",
        f"Here is what I learned:\n\n```json\n{json.dumps(OBJECT, indent=2)}\n```\nThat is all.",
        f'I changed `{{ foo }}`, [a link](x), [1], [] and {{}}, see {{"port": 1}}:\n{TEXT}',
    ],
)
def test_the_object_form_is_found(text):
    submission = parse(text)
    assert submission.session_id == "s1"
    assert submission.candidates == (CANDIDATE,)
    assert submission.unknown_fields == ()
    assert submission.problems == ()


def test_nothing_learned():
    submission = parse('```json\n{"nothing_learned": "  a pure\\n rename of files "}\n```')
    assert submission.nothing_learned == "a pure rename of files"
    assert submission.candidates == ()


@pytest.mark.parametrize("reason", ["  nothing\n   ", "a" + "\u200b" * 10, 5])
def test_nothing_learned_needs_a_reason(reason):
    with pytest.raises(ReflectionError, match="in 10 characters or more why"):
        parse({"nothing_learned": reason, "candidates": []})


@pytest.mark.parametrize(
    ("sent", "used"),
    [
        ([{"id": "cl_a1", "how": " saved\n time "}], [Reference(id="cl_a1", remark="saved time")]),
        (["cl_a1", " cl_a2 ", "cl_a1"], [Reference(id="cl_a1"), Reference(id="cl_a2")]),
        (None, []),
    ],
)
def test_learnings_used(sent, used):
    submission = parse({**OBJECT, "learnings_used": sent})
    assert list(submission.learnings_used) == used
    assert submission.problems == ()


@pytest.mark.parametrize("name", ["learnings_used", "corrections", "notes", "session_id"])
@pytest.mark.parametrize("value", [7, [None], {"x": 1}, [{"id": "../x"}]])
def test_wrong_side_fields_are_named_and_spoil_nothing(name, value):
    submission = parse({"candidates": [CANDIDATE], "notes": "kept", name: value})
    assert submission.candidates == (CANDIDATE,)
    assert len(submission.problems) == 1
    assert name in submission.problems[0]
    assert submission.notes == ("" if name == "notes" else "kept")


@pytest.mark.parametrize(
    ("data", "fix"),
    [
        (b"", "empty"),
        (b"\xff\xfe{\x00}\x00", "UTF-8"),
        (b"I learned nothing today.", "no JSON object"),
        (b"{'candidates': []}", "line 1, column 2"),
        (b'{\n"candidates": [{"summary": "never closed', "line 2"),
        (b"[" * 100_000, "nested too deeply"),
        (b" " * (SUBMISSION_BYTES_MAX + 1), "bytes"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_a_fix(data, fix):
    with pytest.raises(ReflectionError, match=fix):
        parse_submission(data)


def test_a_broken_submission_never_passes_for_its_rest():
    """The second candidate is whole; taking it alone would lose the first silently."""
    broken = (
        TEXT.replace("five minutes", 'five "minutes"')[:-2] + ", " + json.dumps(CANDIDATE) + "]}"
    )
    with pytest.raises(ReflectionError, match="not valid JSON"):
        parse(broken)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["candidates", "notes", "session_id", "learnings_used", "corrections", "id", "how"]
            )
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=50)
@given(JSON_VALUES)
def test_any_json_is_a_submission_or_an_error(value):
    with suppress(ReflectionError):
        submission = parse(json.dumps(value))
        shown = (submission.session_id, submission.notes, submission.learnings_used)
        str((*shown, submission.unknown_fields, submission.problems)).encode()

"""Reading a submission: every form is accepted, side fields never spoil candidates."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.errors import ReflectionError
from grove_core.reflection.limits import SUBMISSION_BYTES_MAX
from grove_core.reflection.submission import Correction, UsedLearning, parse_submission

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
        json.dumps(OBJECT, indent=2),
        "\ufeff" + TEXT,
        f"\n\n  {TEXT}\n",
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```\n",
        f"~~~~ json\r\n{TEXT}\r\n~~~~",
        f"Here is what I learned:\n{TEXT}",
        f"Here is what I learned:\n\n```json\n{json.dumps(OBJECT, indent=2)}\n```\nThat is all.",
        f"{TEXT}\nThat is all.",
        f'I changed `{{ foo }}`, [a link](x), [1], [] and {{}}, see {{"port": 1}}:\n{TEXT}',
        f'The map {{"a": [1, 2 was broken.\n{TEXT}',
    ],
)
def test_the_object_form_is_found(text):
    submission = parse(text)
    assert submission.session_id == "s1"
    assert submission.candidates == (CANDIDATE,)
    assert submission.unknown_fields == ()
    assert submission.problems == ()


@pytest.mark.parametrize("wrap", ["{}", "```json\n{}\n```", "Done. The learnings:\n{}\nBye."])
@pytest.mark.parametrize("value", [[CANDIDATE], CANDIDATE, {"candidates": CANDIDATE}])
def test_bare_arrays_and_single_candidates(wrap, value):
    submission = parse(wrap.replace("{}", json.dumps(value)))
    assert submission.candidates == (CANDIDATE,)
    assert submission.session_id is None


def test_an_array_keeps_its_order_and_its_bad_entries():
    submission = parse([1, "two", None, CANDIDATE, []])
    assert submission.candidates == (1, "two", None, CANDIDATE, [])


def test_a_single_candidate_may_carry_side_fields():
    submission = parse({**CANDIDATE, "session_id": "s1", "learnings_used": ["cl_20260206_k3f2a2"]})
    assert submission.session_id == "s1"
    assert submission.learnings_used == (UsedLearning(id="cl_20260206_k3f2a2"),)
    assert submission.candidates == (CANDIDATE,)


@pytest.mark.parametrize("value", [{}, {"candidates": []}, {"candidates": None}, []])
def test_nothing_sent_is_an_empty_submission(value):
    submission = parse(value)
    assert submission.candidates == ()
    assert submission.nothing_learned is None


def test_nothing_learned():
    submission = parse('```json\n{"nothing_learned": "  a pure\\n rename of files "}\n```')
    assert submission.nothing_learned == "a pure rename of files"
    assert submission.candidates == ()


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "none",
        "  nothing\n   ",
        "a\u200b\u200b\u200b\u200b\u200b\u200b\u200b\u200b\u200b\u200b",
        True,
        5,
        ["no reason to keep it"],
    ],
)
def test_nothing_learned_needs_a_reason(reason):
    with pytest.raises(ReflectionError, match="at least 10 characters"):
        parse({"nothing_learned": reason, "candidates": []})


def test_ten_characters_are_a_reason():
    assert parse({"nothing_learned": " äääääääääé "}).nothing_learned == "äääääääääé"
    with pytest.raises(ReflectionError):
        parse({"nothing_learned": " ääääääääé "})


def test_a_bad_nothing_learned_does_not_spoil_candidates():
    submission = parse({**OBJECT, "nothing_learned": ""})
    assert submission.candidates == (CANDIDATE,)
    assert submission.nothing_learned is None
    assert "nothing_learned" in submission.problems[0]
    assert parse({**OBJECT, "nothing_learned": None}).problems == ()


@pytest.mark.parametrize(
    ("sent", "used"),
    [
        ([{"id": "cl_a1", "how": " saved\n time "}], [UsedLearning(id="cl_a1", how="saved time")]),
        ([{"id": "cl_a1"}], [UsedLearning(id="cl_a1")]),
        (["cl_a1", " cl_a2 ", "cl_a1"], [UsedLearning(id="cl_a1"), UsedLearning(id="cl_a2")]),
        ("cl_a1", [UsedLearning(id="cl_a1")]),
        ({"id": "cl_a1", "how": 5}, [UsedLearning(id="cl_a1")]),
        (None, []),
        ([], []),
    ],
)
def test_learnings_used(sent, used):
    submission = parse({**OBJECT, "learnings_used": sent})
    assert list(submission.learnings_used) == used
    assert submission.problems == ()


def test_corrections():
    submission = parse({**OBJECT, "corrections": [{"id": "cl_a1", "why": "it moved"}, "cl_a2"]})
    assert submission.corrections == (
        Correction(id="cl_a1", why="it moved"),
        Correction(id="cl_a2"),
    )


@pytest.mark.parametrize("name", ["learnings_used", "corrections", "notes", "session_id"])
@pytest.mark.parametrize("value", [7, True, [7], [None], {"x": 1}, [["cl_a1"]], [{"id": "../x"}]])
def test_wrong_side_fields_are_named_and_spoil_nothing(name, value):
    submission = parse({"candidates": [CANDIDATE], "notes": "kept", name: value})
    assert submission.candidates == (CANDIDATE,)
    assert len(submission.problems) == 1
    assert name in submission.problems[0]
    assert submission.notes == ("" if name == "notes" else "kept")


@pytest.mark.parametrize("value", ["…", "../../etc/passwd", "", "a b", "x" * 129])
def test_a_session_id_that_is_none_is_ignored(value):
    submission = parse({**OBJECT, "session_id": value})
    assert submission.session_id is None
    assert "session_id" in submission.problems[0]


def test_unknown_fields_are_named_once_and_cleaned():
    submission = parse({**OBJECT, "rating": [], "a\u202eb\nc": 1, "x" * 1000: 2})
    assert submission.unknown_fields == ("rating", "ab c", "x" * 59 + "…")


def test_lone_surrogates_do_not_survive_in_side_fields():
    text = r'{"candidates": [], "notes": "a\ud800b", "corrections": [{"id": "cl_a1", "why": "\udfffx"}], "\ud801y": 1}'
    submission = parse(text)
    str(submission).encode()
    assert submission.notes == "ab"
    assert submission.corrections[0].why == "x"


def test_remarks_are_bounded():
    submission = parse({"learnings_used": [{"id": "cl_a1", "how": "x" * 9999}]})
    assert len(submission.learnings_used[0].how) == 500


@pytest.mark.parametrize(
    ("data", "mend"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\xff\xfe{\x00}\x00", "UTF-8"),
        (b'{"candidates": ["\xe4"]}', "UTF-8"),
        (b"I learned nothing today.", "no JSON object"),
        (b'"text"', "neither an object nor an array"),
        (b"42", "neither an object nor an array"),
        (b"null", "neither an object nor an array"),
        (b"NaN", "neither an object nor an array"),
        (b'{"candidates": "none"}', "array of objects"),
        (b'{"candidates": 3}', "array of objects"),
        (b"{'candidates': []}", "line 1, column 2"),
        (b"```json\n{'candidates': []}\n```", "line 2, column 2"),
        (b'{"candidates": [{"summary": "x"}', "not valid JSON"),
        (b'{\n"candidates": [{"summary": "never closed', "line 2"),
        (b'Done: {"candidates": [{"summary": "x"},]} ok', "not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"candidates": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"see: " + b'[{"a":' * 100_000, "nested too deeply"),
        (b"[" + b"1," * SUBMISSION_BYTES_MAX, "bytes"),
        (b" " * (SUBMISSION_BYTES_MAX + 1), "bytes"),
    ],
    ids=range(23),
)
def test_what_cannot_be_read_is_an_error_with_a_mend(data, mend):
    with pytest.raises(ReflectionError, match=mend):
        parse_submission(data)


def test_the_limit_itself_is_allowed():
    text = TEXT + " " * (SUBMISSION_BYTES_MAX - len(TEXT))
    assert parse(text).candidates == (CANDIDATE,)


def test_a_broken_submission_never_passes_for_its_rest():
    """The second candidate is whole; taking it alone would lose the first silently."""
    broken = (
        TEXT.replace("five minutes", 'five "minutes"')[:-2] + ", " + json.dumps(CANDIDATE) + "]}"
    )
    with pytest.raises(ReflectionError, match="not valid JSON"):
        parse(broken)


def test_a_second_value_is_not_lost_silently():
    submission = parse(json.dumps(CANDIDATE) + "\n" + json.dumps(CANDIDATE))
    assert submission.candidates == (CANDIDATE,)
    assert "first JSON value" in submission.problems[0]


@pytest.mark.parametrize(
    "text",
    [
        '{"session_id": "s1", "candidates": [NaN, Infinity, -Infinity, 1e999]}',
        '{"candidates": [], "session_id": "s0", "candidates": [1,2,3,4], "session_id": "s1"}',
        '{"session_id": "s1", "candidates": [' + "9" * 10_000 + ", -1, 0, 2]}",
    ],
)
def test_odd_json_does_not_crash(text):
    submission = parse(text)
    assert len(submission.candidates) == 4
    assert submission.session_id == "s1"


@pytest.mark.parametrize(
    "piece",
    ['{"x', "[{", '{"a":1,', '["', '[{"a":[', "{", "[[1,", '{"x": "y} ', '[{"a":1} ', "`", '{"\\"'],
)
def test_hostile_repetition_ends(piece):
    """A search that started again inside what it had read would not end in any useful time."""
    with pytest.raises(ReflectionError):
        parse(piece * (SUBMISSION_BYTES_MAX // len(piece)))
    with pytest.raises(ReflectionError):
        parse("prose " + piece * (SUBMISSION_BYTES_MAX // len(piece) - 10))


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


@settings(max_examples=150, deadline=None)
@given(JSON_VALUES)
def test_any_json_is_a_submission_or_an_error(value):
    with suppress(ReflectionError):
        submission = parse(json.dumps(value))
        shown = (submission.session_id, submission.notes, submission.learnings_used)
        str((*shown, submission.unknown_fields, submission.problems)).encode()


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:\\ a1`\n', max_size=200).map(str.encode))
def test_any_bytes_are_a_submission_or_an_error(data):
    with suppress(ReflectionError):
        assert parse_submission(data) == parse_submission(data + b"\n")


def test_ratings_are_read_one_by_one():
    sent = [
        {"id": "cl_a1", "useful": True},
        {"id": " cl_a1 ", "useful": False},
        {"id": "cl_b2", "useful": "yes"},
        {"useful": True},
        "cl_c3",
    ]
    submission = parse({**OBJECT, "ratings": sent})
    # Of several for one learning the last counts.
    assert [(one.learning_id, one.useful) for one in submission.ratings] == [("cl_a1", False)]
    assert [problem.partition(" does not count: ")[0] for problem in submission.problems] == [
        "ratings[2]",
        "ratings[3]",
        "ratings[4]",
    ]
    assert "useful of cl_b2 is text, neither true nor false" in submission.problems[0]


def test_of_very_many_candidates_the_first_are_read():
    read = parse_submission(json.dumps([{"summary": str(one)} for one in range(51)]).encode())
    assert len(read.candidates) == 50
    assert "first 50 of 51" in read.problems[0]

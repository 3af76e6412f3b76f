"""The JSON Schema says what the reader does."""

import json

from attrs import fields
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from grove_core.model.learning import Candidate, Category, Confidence, Criterion, Scope
from grove_core.reflection.candidates import ReadCandidate, read_candidate
from grove_core.reflection.pipeline import Pipeline
from grove_core.reflection.schema import SUBMISSION_FIELDS, submission_schema
from grove_core.reflection.submission import parse_submission
from grove_core.services.messages import example_candidate

SCHEMA = submission_schema()
SUBMISSIONS = Draft202012Validator(SCHEMA)
CANDIDATES = Draft202012Validator({"$ref": "#/$defs/candidate", "$defs": SCHEMA["$defs"]})


def candidate(**changes):
    raw = {**example_candidate(), **changes}
    return {name: value for name, value in raw.items() if value is not ...}


def is_accepted(raw):
    return isinstance(read_candidate(raw), ReadCandidate)


def test_the_example_is_valid_and_accepted():
    example = {"session_id": "s-42", "candidates": [example_candidate()]}
    SUBMISSIONS.validate(example)
    submission = parse_submission(json.dumps(example).encode())
    assert submission.session_id == "s-42"
    assert submission.unknown_fields == ()
    assert submission.problems == ()
    result = Pipeline(existing=[], written={}).run(submission.candidates)
    assert [item.notes for item in result.accepted] == [()]


def test_every_field_is_described():
    properties = SCHEMA["$defs"]["candidate"]["properties"]
    assert set(properties) == {attribute.name for attribute in fields(Candidate)}
    assert tuple(SCHEMA["properties"]) == SUBMISSION_FIELDS
    SUBMISSIONS.validate({"nothing_learned": "only a typo was fixed"})
    assert not SUBMISSIONS.is_valid({"notes": "neither"})


VALUES = {
    "category": st.sampled_from([item.value for item in Category] + ["bug", 5.0, ...]),
    "summary": st.sampled_from([9, 10, 57, 200, 201]).map(lambda length: "s" * length)
    | st.just(...),
    "detail": st.sampled_from([19, 20, 99, 2000, 2001]).map(lambda length: "d" * length)
    | st.just(5.0),
    "criteria_met": st.lists(st.sampled_from([item.value for item in Criterion]), max_size=4),
    "tags": st.lists(
        st.from_regex(r"[a-z]{1,4}(-[a-z0-9]{1,4})?", fullmatch=True), unique=True, max_size=12
    ),
    "scope": st.sampled_from([item.value for item in Scope]),
    "confidence": st.sampled_from([item.value for item in Confidence]),
    "context_files": st.lists(st.sampled_from(["src/a.py", "b.py"]), max_size=2),
    "supersedes": st.lists(st.just("cl_20260206_k3f2a2"), max_size=2),
}


@settings(max_examples=50)
@given(st.fixed_dictionaries({}, optional=VALUES))
def test_schema_and_reader_agree_on_canonical_values(changes):
    raw = candidate(**changes)
    assert CANDIDATES.is_valid(raw) == is_accepted(raw)

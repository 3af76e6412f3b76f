"""Reading a candidate: what is accepted, cleaned and named, what is refused and how to fix it."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.model.learning import Candidate, Category, Confidence, Criterion, Rejection, Scope
from grove_core.reflection.candidates import (
    ReadCandidate,
    clean_path,
    clean_tag,
    read_candidate,
    read_enum,
)

ROOT = PurePosixPath("/home/dev/app")
RAW = {
    "category": "pitfall",
    "summary": "Tokens expire after five minutes",
    "detail": "The client in `src/auth.py` caches tokens and never refreshes them.",
    "tags": ["auth"],
    "criteria_met": ["stable_fact"],
}


def read(**changes):
    raw = {**RAW, **changes}
    return read_candidate({name: value for name, value in raw.items() if value is not ...})


def accepted(**changes):
    result = read(**changes)
    assert isinstance(result, ReadCandidate), result
    return result


def refused(**changes):
    result = read(**changes)
    assert isinstance(result, Rejection), result
    return result


def test_every_field_is_read():
    result = read_candidate(
        {
            **RAW,
            "scope": "team",
            "confidence": "high",
            "context_files": ["/p/src/auth.py"],
            "supersedes": ["cl_20260206_001"],
        },
        root=PurePosixPath("/p"),
    )
    assert result.candidate == Candidate(
        category=Category.PITFALL,
        summary=RAW["summary"],
        detail=RAW["detail"],
        scope=Scope.TEAM,
        confidence=Confidence.HIGH,
        criteria_met=frozenset({Criterion.STABLE_FACT}),
        tags=("auth",),
        context_files=("src/auth.py",),
        supersedes=("cl_20260206_001",),
    )


@pytest.mark.parametrize("absent", [..., None])
def test_optional_fields_have_defaults_without_a_note(absent):
    result = accepted(scope=absent, confidence=absent, context_files=absent, supersedes=absent)
    assert result.candidate.scope is Scope.PROJECT
    assert result.candidate.confidence is Confidence.MEDIUM
    assert result.candidate.context_files == ()
    assert result.candidate.supersedes == ()
    assert result.notes == ()


@pytest.mark.parametrize("name", ["category", "summary", "detail", "criteria_met", "tags"])
@pytest.mark.parametrize("value", [..., None, 5.0, [5.0]])
def test_required_fields(name, value):
    rejection = refused(**{name: value})
    assert rejection.field == name
    assert rejection.reason.startswith(name)
    assert "give " in rejection.reason


@pytest.mark.parametrize(("name", "least", "most"), [("summary", 10, 200), ("detail", 20, 2000)])
def test_lengths_count_code_points_after_trimming(name, least, most):
    for length in (least, most):
        assert accepted(**{name: "  " + "é" * length + "\n "})
        assert accepted(**{name: "𝔘" * length})
    for length in (0, least - 1, most + 1):
        rejection = refused(**{name: "  " + "é" * length + "\n "})
        assert rejection.field == name
        assert f"{length:,} characters" in rejection.reason
        assert f"{least} to {most}" in rejection.reason


@pytest.mark.parametrize("detail", [RAW["summary"], "  TOKENS expire\nafter  five minutes "])
def test_the_detail_says_more_than_the_summary(detail):
    rejection = refused(detail=detail)
    assert rejection.field == "detail"
    assert "repeats the summary" in rejection.reason


@pytest.mark.parametrize("tags", [[f"t{n}" for n in range(11)], ["***", "_"]])
def test_one_to_ten_tags_after_normalising(tags):
    assert refused(tags=tags).field == "tags"


@pytest.mark.parametrize("value", ["universal", 5.0])
def test_a_bad_scope_or_confidence_falls_back_and_is_named(value):
    result = accepted(scope=value, confidence=value)
    assert result.candidate.scope is Scope.PROJECT
    assert result.candidate.confidence is Confidence.MEDIUM
    assert [note.split(":")[0] for note in result.notes] == ["scope", "confidence"]


def test_supersedes_keeps_ids_only():
    result = accepted(
        supersedes=["cl_a1", " cl_20260206_001 ", "../x", "cl_a1", None, ["cl_a1"], {}]
    )
    assert result.candidate.supersedes == ("cl_a1", "cl_20260206_001")
    assert any("../x" in note for note in result.notes)
    assert accepted(x=1).notes == ('unknown fields were ignored: "x"',)
    assert len(accepted(supersedes=[f"cl_{n}" for n in range(60)]).candidate.supersedes) == 50


@pytest.mark.parametrize("text", ["behavior-changing", "BehaviorChanging"])
def test_enum_values_in_every_spelling(text):
    assert read_enum(Criterion, text) is Criterion.BEHAVIOR_CHANGING


@pytest.mark.parametrize(
    ("name", "raw", "cleaned", "note"),
    [
        ("summary", "a word\u202eb\u200bc\x1b[0m", "a wordbc[0m", "invisible"),
        ("summary", "two\nlines\r\n and   more", "two lines and more", "one line"),
        ("detail", "kept\tand\nkept\r\n\r\nlines of it", "kept\tand\nkept\n\nlines of it", None),
        ("detail", "see what\n```py\nx = 1", "see what\n```py\nx = 1\n```", "code fence"),
        ("tags", ["***", "ok", ""], ("ok",), "dropped"),
        (
            "context_files",
            ["./src/a.py", "src\\a.py", "src//b.py"],
            ("src/a.py", "src/b.py"),
            "repeated",
        ),
        ("context_files", ["/home/dev/app/src/a.py"], ("src/a.py",), "normalised"),
        ("context_files", ["../x", "ok.py", "/etc/passwd"], ("ok.py",), '"../x", "/etc/passwd"'),
        (
            "context_files",
            [f"f{n}" for n in range(60)],
            tuple(f"f{n}" for n in range(50)),
            "first 50",
        ),
    ],
)
def test_what_is_changed_and_said(name, raw, cleaned, note):
    result = read_candidate({**RAW, name: raw}, root=ROOT)
    assert getattr(result.candidate, name) == cleaned
    if note is None:
        assert result.notes == ()
    else:
        assert any(note in line and line.startswith(name) for line in result.notes), result.notes


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=50)
@given(
    st.dictionaries(
        st.sampled_from([*RAW, "scope", "confidence", "context_files", "supersedes", "x"]),
        JSON_VALUES,
    )
)
def test_any_object_is_read_or_refused_with_words(changes):
    result = read_candidate({**RAW, **changes})
    if isinstance(result, Rejection):
        assert result.field in RAW
        assert result.reason
        result.reason.encode()
        return
    candidate = result.candidate
    assert 10 <= len(candidate.summary) <= 200
    assert candidate.summary == " ".join(candidate.summary.split())
    assert 20 <= len(candidate.detail) <= 2000
    assert 1 <= len(candidate.tags) <= 10
    assert candidate.criteria_met
    str((candidate, result.notes)).encode()


@pytest.mark.parametrize(
    ("raw", "tag"),
    [
        ("Rails", "rails"),
        ("  n  plus_one ", "n-plus-one"),
        ("node.js", "nodejs"),
        ("--a---b--", "a-b"),
        ("Größe", "größe"),
        ("Gro\u0308ße", "größe"),
        ("x\ny", "x-y"),
        ("x" * 50, "x" * 50),
    ],
)
def test_tags(raw, tag):
    assert clean_tag(raw) == tag


@settings(max_examples=50)
@given(st.text(alphabet="./\\~C: ab\0\n\u200b", max_size=20) | st.text(max_size=20))
def test_a_path_never_leads_out_and_stays(text):
    path = clean_path(text, root=ROOT)
    if path is not None:
        assert not path.startswith(("/", "~", " "))
        assert not {"", ".", ".."} & set(path.split("/"))
        assert not PureWindowsPath(path).drive
        assert "\\" not in path
        assert "\n" not in path
        assert clean_path(path, root=ROOT) == path

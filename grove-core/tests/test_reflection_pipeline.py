"""The pipeline: each candidate by itself, in stages, nothing written twice."""

import json

import pytest
from core_worlds import NOW
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.model.learning import Rejection, Stage
from grove_core.reflection.pipeline import CheckStage, Pipeline, fingerprint, learning_from
from grove_core.reflection.submission import parse_submission


def raw(number, **changes):
    words = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")
    return {
        "category": "pitfall",
        "summary": f"The {words[number]} service needs its own queue",
        "detail": f"Seen in src/{words[number]}.py: jobs of others starve it for minutes.",
        "tags": [words[number]],
        "criteria_met": ["stable_fact"],
        **changes,
    }


def run(candidates, *, existing=(), written=None, checks=(), root=None):
    pipeline = Pipeline(existing=existing, written=written or {}, root=root, checks=checks)
    return pipeline.run(candidates)


def write(result):
    given = {"session_id": "s1", "ticket_id": None, "now": NOW}
    return [
        learning_from(item.candidate, learning_id=f"cl_w{item.position}", **given)
        for item in result.accepted
    ]


def refuse(word, stage, log=None):
    def check(candidate):
        if log is not None:
            log.append((stage, candidate.summary))
        return Rejection(reason=f"no {word}", field="tags") if word in candidate.tags else None

    return CheckStage(stage=stage, check=check)


def test_one_bad_candidate_spoils_no_other():
    result = run([None, raw(0), {"summary": ["x"]}, raw(1, category="bug"), raw(2), "text"])
    assert [item.position for item in result.accepted] == [1, 4]
    assert [item.position for item in result.rejected] == [0, 2, 3, 5]
    assert {item.stage for item in result.rejected} == {Stage.SCHEMA}
    assert not result.repeated


def test_stages_run_in_their_order_and_the_first_objection_stands():
    log = []
    stages = [Stage.PLUGIN, Stage.WRITE_GATE, Stage.SECRET]
    checks = [refuse("alpha", stage, log) for stage in stages]
    result = run([raw(0), raw(1)], checks=checks)
    assert [item.stage for item in result.rejected] == [Stage.SECRET]
    assert result.rejected[0].rejection == Rejection(reason="no alpha", field="tags")
    assert result.rejected[0].tags == ("alpha",)
    passed = [stage for stage, summary in log if "bravo" in summary]
    assert passed == [Stage.SECRET, Stage.WRITE_GATE, Stage.PLUGIN]
    assert [stage for stage, summary in log if "alpha" in summary] == [Stage.SECRET]


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        (Stage.SECRET, Stage.SECRET),
        (Stage.WRITE_GATE, Stage.WRITE_GATE),
        (Stage.PLUGIN, Stage.DUPLICATE),
    ],
)
def test_duplicates_stand_before_plugins_and_behind_the_rest(stage, expected):
    existing = write(run([raw(0)]))
    result = run([raw(0)], existing=existing, checks=[refuse("alpha", stage)])
    assert [item.stage for item in result.rejected] == [expected]


def test_a_submission_does_not_repeat_itself():
    result = run([raw(0), raw(1), raw(0, detail="Other words about the very same thing.")])
    assert [item.position for item in result.accepted] == [0, 1]
    (item,) = result.rejected
    assert item.stage is Stage.DUPLICATE
    assert item.rejection.existing_id is None
    assert "candidate 1 of this submission" in item.rejection.reason


@settings(max_examples=25)
@given(
    st.lists(
        st.one_of(
            st.builds(raw, st.integers(0, 5)),
            st.builds(
                lambda n, v: raw(n, tags=v),
                st.integers(0, 5),
                st.none() | st.lists(st.text(max_size=3)),
            ),
            st.none()
            | st.text(max_size=5)
            | st.dictionaries(st.text(max_size=3), st.none(), max_size=2),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_every_candidate_ends_in_exactly_one_list(candidates):
    result = run(parse_submission(json.dumps({"candidates": candidates}).encode()).candidates)
    positions = [item.position for item in (*result.accepted, *result.repeated, *result.rejected)]
    assert sorted(positions) == list(range(len(candidates)))
    written = {fingerprint(item.candidate): f"cl_w{item.position}" for item in result.accepted}
    again = run(candidates, existing=write(result), written=written)
    assert not again.accepted
    assert [item.position for item in again.repeated] == [item.position for item in result.accepted]
    assert [item.position for item in again.rejected] == [item.position for item in result.rejected]

"""The pipeline: each candidate by itself, in stages, nothing written twice."""

import json

import pytest
from core_worlds import NOW
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.model.learning import Rejection, Stage
from grove_core.reflection.pipeline import CheckStage, Pipeline, fingerprint, learning_from
from grove_core.reflection.submission import parse_submission

LESSONS = (
    ("The alpha service needs its own queue", "Jobs of others starve it for minutes."),
    ("Close the bravo file before its upload", "The spool is cut at close()."),
    ("charlie.toml is read once at start", "A change counts after a restart only."),
    ("Never log delta requests whole", "They hold names of patients."),
    ("echo() wants bytes on Windows", "Text gets a second carriage return there."),
    ("Foxtrot prices are net", "The shop adds VAT, and twice if we do."),
)


def raw(number, **changes):
    summary, detail = LESSONS[number]
    return {
        "category": "pitfall",
        "summary": summary,
        "detail": detail,
        "tags": [("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")[number]],
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


def test_a_form_filled_in_many_times_counts_once():
    form = {
        "summary": "Service {0} needs a queue of its own",
        "detail": "Jobs of others starve {0} for {1} minutes when src/{0}.py is busy at noon.",
    }
    filled = [
        raw(0, **{name: text.format(word, at) for name, text in form.items()})
        for at, word in enumerate(("ash", "birch", "cedar", "dogwood", "elm"))
    ]
    result = run([*filled, raw(1)])
    assert [item.position for item in result.accepted] == [0, 5]
    assert {item.rejection.reason.partition(" with")[0] for item in result.rejected} == {
        "has the wording of candidate 1"
    }


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

"""What the contract writes is what core hands to backends: nothing else could come."""

import pytest
from hypothesis import given, settings

from grove_core.codec import learning_to_dict
from grove_core.identifiers import is_learning_id, is_session_id
from grove_core.memory.sanitize import clean_hit
from grove_core.model.memory import Hit, Query
from grove_core.reflection.candidates import ReadCandidate, read_candidate
from grove_core.retrieval.rules import rule_relevance
from grove_core.testing import learnings
from grove_core.testing.samples import (
    NONSENSE,
    SUBJECTS,
    SUMMARIES,
    TEXTS,
    VARIANTS,
    example_learning,
)

SAMPLES = {
    **SUBJECTS,
    **VARIANTS,
    **{name: example_learning(detail=text) for name, text in TEXTS.items()},
    **{name: example_learning(summary=text) for name, text in SUMMARIES.items()},
}
FIELDS = (
    "category summary detail scope confidence criteria_met tags context_files supersedes"
).split()


def assert_comes_through(learning):
    """The pipeline accepts its fields as they are."""
    answer = read_candidate({name: learning_to_dict(learning)[name] for name in FIELDS})
    assert isinstance(answer, ReadCandidate), answer
    assert [getattr(answer.candidate, one) for one in FIELDS] == [
        getattr(learning, one) for one in FIELDS
    ]
    assert is_learning_id(learning.id)
    assert is_session_id(learning.session_id)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_come_through_the_pipeline(name):
    assert_comes_through(SAMPLES[name])
    # Neither does it change when it is read again.
    assert clean_hit(Hit(learning=SAMPLES[name], relevance=1.0)).learning == SAMPLES[name]


@settings(max_examples=100, deadline=None)
@given(learning=learnings())
def test_generated_learnings_come_through_the_pipeline(learning):
    assert_comes_through(learning)


@pytest.mark.parametrize("name", SUBJECTS)
def test_subjects_have_nothing_in_common(name):
    one = SUBJECTS[name]
    words = Query(text=f"{one.summary} {one.detail}", tags=one.tags, files=one.context_files)
    for other in SUBJECTS.values():
        assert (rule_relevance(words, other)[0] == 0) == (other is not one)
        assert rule_relevance(Query(text=NONSENSE), other)[0] == 0

"""What counts as saying it again."""

import pytest
from attrs import evolve
from core_worlds import a_learning

from grove_core.model.learning import (
    Candidate,
    Category,
    Confidence,
    Criterion,
    LearningStatus,
    Scope,
)
from grove_core.reflection.pipeline import find_duplicate, fingerprint, known_summaries

CANDIDATE = Candidate(
    category=Category.PITFALL,
    summary="Tokens expire after five minutes",
    detail="The client in `src/auth.py` caches tokens and never refreshes them.",
    criteria_met=frozenset({Criterion.STABLE_FACT, Criterion.BEHAVIOR_CHANGING}),
    tags=("auth", "tokens"),
    context_files=("src/auth.py", "src/b.py"),
    supersedes=("cl_x1", "cl_x2"),
)


def learning(summary, learning_id="cl_a1", status=LearningStatus.ACTIVE):
    detail = "Something else altogether, at length."
    return a_learning(learning_id, summary=summary, detail=detail, status=status)


def find(summary, *existing, supersedes=()):
    candidate = evolve(CANDIDATE, summary=summary, supersedes=supersedes)
    return find_duplicate(candidate, known_summaries(existing))


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        ("Tokens expire after five minutes", "Tokens expire after five minutes"),
        ("Tokens expire after five minutes", "  TOKENS expire\tafter five minutes."),
        ("Die Straße ist gesperrt", "die strasse ist gesperrt"),
        ("Tokens\u200b expire after five minutes", "Tokens expire after five minutes"),
        ("Tokens expire after five minutes", "Auth: tokens expire after five minutes"),
    ],
)
def test_repeated(stored, sent):
    rejection = find(sent, learning(stored))
    assert rejection is not None
    assert rejection.existing_id == "cl_a1"
    assert rejection.field == "summary"
    assert "cl_a1" in rejection.reason
    assert stored.replace("\u200b", "") in rejection.reason
    assert '"supersedes": ["cl_a1"]' in rejection.reason


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        ("Tokens expire after five minutes", "Sessions expire after five minutes"),
        ("Retry on timeout", "Retry on timeout only when the payment gateway answered 504 twice"),
        ("use the cache", "reuse the cached"),
        ("Set retries to 1 in CI", "Set retries to 10 in CI"),
    ],
)
def test_not_repeated(stored, sent):
    assert find(sent, learning(stored)) is None


@pytest.mark.parametrize("status", [LearningStatus.ARCHIVED, LearningStatus.SUPERSEDED])
def test_only_active_learnings_count(status):
    assert find(CANDIDATE.summary, learning(CANDIDATE.summary, status=status)) is None


def test_what_a_candidate_supersedes_it_may_repeat():
    first, second = learning(CANDIDATE.summary), learning(CANDIDATE.summary, "cl_a2")
    assert find(CANDIDATE.summary, first, supersedes=("cl_a1",)) is None
    rejection = find(CANDIDATE.summary, first, second, supersedes=("cl_a1",))
    assert rejection.existing_id == "cl_a2"


def test_every_field_is_part_of_the_fingerprint():
    changed = {
        "category": Category.DOMAIN,
        "summary": "Tokens expire after six minutes",
        "detail": "Another detail, which is long enough.",
        "scope": Scope.TEAM,
        "confidence": Confidence.LOW,
        "criteria_met": frozenset({Criterion.STABLE_FACT}),
        "tags": ("auth",),
        "context_files": (),
        "supersedes": ("cl_x1",),
    }
    for name, value in changed.items():
        assert fingerprint(evolve(CANDIDATE, **{name: value})) != fingerprint(CANDIDATE), name

"""What counts as saying it again."""

from datetime import UTC, datetime

import pytest
from attrs import evolve, fields
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.model.learning import (
    Candidate,
    Category,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
    Scope,
)
from grove_core.reflection.duplicates import (
    find_duplicate,
    fingerprint,
    known_summaries,
    normalised_summary,
    repeats,
)

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
    return Learning(
        id=learning_id,
        category=Category.DOMAIN,
        summary=summary,
        detail="Something else altogether, at length.",
        session_id="s0",
        timestamp=datetime(2026, 2, 6, tzinfo=UTC),
        status=status,
    )


def find(summary, *existing, supersedes=()):
    candidate = evolve(CANDIDATE, summary=summary, supersedes=supersedes)
    return find_duplicate(candidate, known_summaries(existing))


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        ("Tokens expire after five minutes", "Tokens expire after five minutes"),
        ("Tokens expire after five minutes", "  TOKENS expire\tafter five minutes."),
        ("Tokens expire after five minutes", "“Tokens expire after five minutes!”"),
        ("ＴＯＫＥＮＳ expire after ⑤ minutes", "tokens expire after 5 minutes"),
        ("Die Straße ist gesperrt", "die strasse ist gesperrt"),
        ("Cafe\u0301 menus are cached", "Café menus are cached"),
        ("Tokens\u200b expire after five minutes", "Tokens expire after five minutes"),
        ("Tokens expire after five minutes", "Auth: tokens expire after five minutes"),
        ("Auth: tokens expire after five minutes", "Tokens expire after five minutes"),
        ("Always run make codegen first", "Always run make codegen first, then build"),
        ("キャッシュは五分で失効する", "認証キャッシュは五分で失効するので注意"),
        ("# Tokens | expire after 5 min", "# Tokens | expire after 5 min"),
        ("!!!!!!!!!!", "!!!!!!!!!!"),
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
        ("Retry on timeout only when the payment gateway answered 504 twice", "Retry on timeout"),
        ("use the cache", "reuse the cached"),
        ("Set retries to 1 in CI", "Set retries to 10 in CI"),
        ("Run test A1", "Run test A12"),
        ("fast path", "fast paths"),
        ("!!!!!!!!!!", "??????????"),
    ],
)
def test_not_repeated(stored, sent):
    assert find(sent, learning(stored)) is None


@pytest.mark.parametrize(
    ("shorter", "longer", "repeated"),
    [
        ("abcdefgh i", "abcdefgh i xyz", True),
        ("abcdefghi", "abcdefghi xyz", False),
        ("abcdef abcdef", "z abcdef abcdefg abcdef abcdef", False),
        ("abcdef abcdef", "abcdef abcdefg, abcdef", False),
        ("ab ab ab ab ab", "xab ab ab ab ab ab", True),
        ("a" * 12, "a" * 12 + " " + "b" * 7, True),
        ("a" * 12, "a" * 12 + " " + "b" * 8, False),
    ],
)
def test_the_rule_of_containment(shorter, longer, repeated):
    assert repeats(shorter, longer) is repeated
    assert repeats(longer, shorter) is repeated


@pytest.mark.parametrize("status", [LearningStatus.ARCHIVED, LearningStatus.SUPERSEDED])
def test_only_active_learnings_count(status):
    assert find(CANDIDATE.summary, learning(CANDIDATE.summary, status=status)) is None


def test_what_a_candidate_supersedes_it_may_repeat():
    first, second = learning(CANDIDATE.summary), learning(CANDIDATE.summary, "cl_a2")
    assert find(CANDIDATE.summary, first, supersedes=("cl_a1",)) is None
    rejection = find(CANDIDATE.summary, first, second, supersedes=("cl_a1",))
    assert rejection.existing_id == "cl_a2"


def test_a_hostile_stored_summary_stays_data():
    stored = learning("Tokens expire\n\u202eafter five minutes" + " " * 5000)
    rejection = find(CANDIDATE.summary, stored)
    assert "\n" not in rejection.reason
    assert "\u202e" not in rejection.reason
    assert len(rejection.reason) < 500


@pytest.mark.parametrize(
    "change",
    [
        {"category": Category.DOMAIN},
        {"summary": "Tokens expire after six minutes"},
        {"detail": "Another detail, which is long enough."},
        {"scope": Scope.TEAM},
        {"confidence": Confidence.LOW},
        {"criteria_met": frozenset({Criterion.STABLE_FACT})},
        {"tags": ("auth",)},
        {"context_files": ()},
        {"supersedes": ("cl_x1",)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_field_is_part_of_the_fingerprint(change):
    assert fingerprint(evolve(CANDIDATE, **change)) != fingerprint(CANDIDATE)


def test_no_field_was_forgotten_above():
    assert len(fields(Candidate)) == 9


def test_order_is_no_part_of_the_fingerprint():
    turned = evolve(
        CANDIDATE,
        tags=CANDIDATE.tags[::-1],
        context_files=CANDIDATE.context_files[::-1],
        supersedes=CANDIDATE.supersedes[::-1],
    )
    assert fingerprint(turned) == fingerprint(CANDIDATE)


def test_fields_do_not_run_into_each_other():
    one = evolve(CANDIDATE, tags=("a", "b"), context_files=())
    other = evolve(CANDIDATE, tags=("a",), context_files=("b",))
    assert fingerprint(one) != fingerprint(other)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_normalising_is_done_once(summary):
    once = normalised_summary(summary)
    assert normalised_summary(once) == once


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab c", max_size=30), st.text(alphabet="ab c", max_size=30))
def test_repeating_goes_both_ways(first, second):
    assert repeats(first, second) == repeats(second, first)
    assert repeats(first, first)

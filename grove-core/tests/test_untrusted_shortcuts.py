"""What needs no cleaning is recognised at little cost; nothing else is taken for it."""

import math
from datetime import UTC, datetime

import pytest
from attrs import evolve
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grove_core import text as module
from grove_core.identifiers import is_learning_id
from grove_core.memory.untrusted import cleaned, is_hit, is_learning
from grove_core.model.learning import (
    Category,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
    Scope,
)
from grove_core.model.memory import Hit
from grove_core.reflection.limits import (
    CONTEXT_FILES_MAX,
    DETAIL_LENGTH_MAX,
    PATH_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    TAG_LENGTH_MAX,
    TAGS_MAX,
)
from grove_core.text import clean_line, one_line, remove_invisible, shorten

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)

pieces = st.sampled_from(
    [
        *("word", " ", "  ", "\n", "\r", "\r\n", "\t", "\x00", "\x1b[31m", "\x85", "\u2028"),
        *("\u2029", "\u00a0", "\u3000", "\u200b", "\u200d", "\ufe0f", "👍", "é", "\u202e"),
        *("\U000e0041", "\u3164", "\ud800", "\udcc3\udca9", "\udce2\udc80\udca8"),
        *("x" * 49, "y" * 200, "z" * 700),
    ]
)
texts = st.lists(pieces | st.text(max_size=3), max_size=8).map("".join)


def several(items):
    some = st.lists(items, max_size=12)
    return some.map(tuple) | some | some.map(set) | some.map(frozenset)


hits = st.builds(
    Hit,
    learning=st.builds(
        Learning,
        id=st.just("cl_1"),
        category=st.just(Category.PITFALL),
        summary=texts,
        detail=texts,
        session_id=texts,
        timestamp=st.just(NOW),
        criteria_met=several(st.sampled_from(Criterion)),
        tags=st.lists(texts, max_size=12).map(tuple) | st.lists(texts, max_size=3),
        context_files=st.lists(texts, max_size=3)
        | st.lists(texts, max_size=3).map(lambda some: tuple(some * 20)),
        ticket_id=st.none() | texts,
        supersedes=several(texts | st.sampled_from(["cl_1", "cl_2"])),
    ),
    relevance=st.floats() | st.integers(-2, 2) | st.booleans(),
    complete=st.booleans(),
    reasons=st.lists(texts, max_size=3) | st.lists(texts, max_size=3).map(tuple),
)


def plainly_visible(text):
    """Go through a text character by character."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n")
    unified = unified.replace("\u2029", "\n").replace("\x85", "\n")
    whole = module._undo_escapes(unified)
    if whole != unified:
        return plainly_visible(whole)
    kept = []
    for character in unified:
        if character in module._JOINERS or character in module._SELECTORS:
            if kept and module._may_follow(character, kept[-1]):
                kept.append(character)
        elif module._is_visible(character):
            kept.append(character)
    return "".join(kept)


def plain_line(text, limit):
    return shorten(one_line(plainly_visible(text)), limit)


def plain_path(path):
    """Blanks of any kind and number belong to a file's name."""
    return shorten(plainly_visible(path).replace("\n", " "), PATH_LENGTH_MAX)


def plainly_cleaned(hit):
    """Clean every field and copy the whole."""
    learning = hit.learning
    relevance = hit.relevance if math.isfinite(hit.relevance) else 0.0
    files = learning.context_files[:CONTEXT_FILES_MAX]
    ticket = learning.ticket_id
    return evolve(
        hit,
        relevance=min(1.0, max(0.0, relevance)),
        reasons=tuple(plain_line(reason, SUMMARY_LENGTH_MAX) for reason in hit.reasons),
        learning=evolve(
            learning,
            summary=plain_line(learning.summary, SUMMARY_LENGTH_MAX),
            detail=shorten(plainly_visible(learning.detail), DETAIL_LENGTH_MAX),
            tags=tuple(plain_line(tag, TAG_LENGTH_MAX) for tag in learning.tags[:TAGS_MAX]),
            context_files=tuple(plain_path(path) for path in files),
            supersedes=tuple(filter(is_learning_id, learning.supersedes)),
            criteria_met=frozenset(learning.criteria_met),
            ticket_id=None if ticket is None else plain_line(ticket, 200),
            session_id=plain_line(learning.session_id, 200),
        ),
    )


@settings(max_examples=400)
@given(text=texts | st.text())
def test_invisible_characters_go_as_when_each_is_looked_at(text):
    assert remove_invisible(text) == plainly_visible(text)


@settings(max_examples=400)
@given(text=texts, limit=st.integers(1, 250))
@example(text="two  blanks", limit=80)
@example(text=" at the ends ", limit=80)
@example(text="a\ttab", limit=80)
def test_lines_are_folded_and_cut_as_the_long_way_round(text, limit):
    assert clean_line(text, limit) == plain_line(text, limit)


@settings(max_examples=200, deadline=None)
@given(hit=hits)
def test_hits_are_cleaned_as_when_every_field_is(hit):
    once = cleaned(hit)
    # repr tells a list from a tuple and 1 from 1.0, which are equal, or hidden in a field.
    assert repr(once).replace("-0.0", "0.0") == repr(plainly_cleaned(hit))
    assert once == plainly_cleaned(hit)


@pytest.fixture
def clean_hit():
    learning = Learning(
        id="cl_1",
        category=Category.PITFALL,
        summary="Migrations lock the table",
        detail="Add the index first.\n\n\tThen the column.",
        session_id="s",
        timestamp=NOW,
        tags=("database",),
        context_files=("app/user.rb",),
        ticket_id="T-1",
        criteria_met=frozenset({Criterion.STABLE_FACT}),
    )
    return Hit(learning=learning, relevance=0.5, reasons=("words lock, table",))


def test_a_clean_hit_is_not_copied(clean_hit):
    assert cleaned(clean_hit) is clean_hit


class Text(str):
    """A text of a plugin's own making."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("id", ["cl_2", Text("cl_2")], [None, 1, "", "a b", b"cl_2"]),
        ("category", list(Category), ["pitfall", None, Scope.PROJECT]),
        ("summary", ["", Text()], [None, b"", 1]),
        ("detail", [""], [None, ["x"]]),
        ("session_id", [""], [None]),
        ("timestamp", [NOW], [datetime(2026, 2, 6), "2026-02-06", None]),
        ("scope", list(Scope), ["project", None]),
        ("confidence", list(Confidence), ["high", None]),
        ("status", list(LearningStatus), ["active", None]),
        ("ticket_id", [None, "", Text("T")], [1, b"T"]),
        ("tags", [(), [], {"a"}, ("a", Text("b"))], [None, "ab", ("a", None), {"a": 1}, (1,)]),
        ("context_files", [["a"], ("a", "b")], [None, "a", (b"a",)]),
        ("supersedes", [(), ("cl_1",)], ["cl_1", (None,)]),
        ("criteria_met", [frozenset(), set(Criterion), list(Criterion)], [("stable_fact",), None]),
    ],
)
def test_fields_are_of_the_types_they_should_have(clean_hit, field, good, bad):
    for value, fits in [(value, True) for value in good] + [(value, False) for value in bad]:
        learning = evolve(clean_hit.learning, **{field: value})
        assert is_learning(learning) is fits
        assert is_hit(evolve(clean_hit, learning=learning)) is fits

"""What a backend hands over is looked at before anybody reads it: notes, receipts, its server."""

import math
from datetime import datetime
from pathlib import Path

import pytest
from attrs import evolve
from core_worlds import NOW
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grove_core.memory.sanitize import (
    clean,
    clean_hit,
    clean_receipt,
    is_hit,
    is_learning,
)
from grove_core.model.learning import (
    CONTEXT_FILES_MAX,
    DETAIL_LENGTH_MAX,
    PATH_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    TAG_LENGTH_MAX,
    TAGS_MAX,
    Category,
    Criterion,
    Learning,
    LearningStatus,
    Scope,
)
from grove_core.model.memory import Health, Hit, Receipt, ReceiptStatus, Synchronised
from grove_core.plugins.descriptors import Freshness
from grove_core.testing.samples import example_learning
from grove_core.text import one_line, remove_invisible, shorten

LEARNING = example_learning()
IDS = (LEARNING.id, example_learning(2).id)
RECEIPT = Receipt(
    learning_id=LEARNING.id,
    status=ReceiptStatus.STORED,
    backend="shelf",
    location="/home/größe/my  shelf.md",
    note="Written by hand, since the librarian was out",
)
FRESH = Freshness(source="the memory server notes", mark=Path("/home/mark"), waiting=IDS)
DONE = Synchronised(delivered=(RECEIPT,), received=3, waiting=IDS, fault="it is full")
HOSTILE = "\x1b[2J\x1b]0;x\x07It is\u202e\r\nfine\u2028\x9b\u200b, \tsay\x00 they \U000e0041\n\n"


pieces = st.sampled_from(
    [
        *("word", " ", "  ", "\n", "\r\n", "\t", "\x00", "\x1b[31m", "\x85", "\u2028", "\u00a0"),
        *("\u200b", "\u200d", "\ufe0f", "👍", "é", "\u202e", "\ud800", "\udcc3\udca9"),
        *("y" * 200, "z" * 700),
    ]
)
texts = st.lists(pieces | st.text(max_size=3), max_size=6).map("".join)
some_texts = st.lists(texts, max_size=3)
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
        criteria_met=st.lists(st.sampled_from(Criterion)).map(set),
        tags=some_texts | some_texts.map(lambda some: tuple(some * 5)),
        context_files=some_texts | some_texts.map(lambda some: tuple(some * 20)),
        ticket_id=st.none() | texts,
        supersedes=st.lists(texts | st.sampled_from(["cl_1", "cl_2"]), max_size=3),
    ),
    relevance=st.floats() | st.integers(-2, 2),
    complete=st.booleans(),
    reasons=some_texts.map(tuple),
)


@settings(max_examples=50, deadline=None)
@given(hit=hits)
def test_a_learning_is_clean_within_its_bounds(hit):
    def line(text, limit):
        return shorten(one_line(remove_invisible(text)), limit)

    once, given_learning = clean_hit(hit), hit.learning
    learning = once.learning
    relevance = hit.relevance if math.isfinite(hit.relevance) else 0.0
    assert once.relevance == min(1.0, max(0.0, relevance))
    assert once.reasons == tuple(line(one, SUMMARY_LENGTH_MAX) for one in hit.reasons)
    assert learning.summary == line(given_learning.summary, SUMMARY_LENGTH_MAX)
    assert learning.detail == shorten(remove_invisible(given_learning.detail), DETAIL_LENGTH_MAX)
    tags = given_learning.tags[:TAGS_MAX]
    assert learning.tags == tuple(line(tag, TAG_LENGTH_MAX) for tag in tags)
    # Blanks of any kind and number belong to a file's name.
    assert learning.context_files == tuple(
        shorten(remove_invisible(path).replace("\n", " ").replace("\t", " "), PATH_LENGTH_MAX)
        for path in given_learning.context_files[:CONTEXT_FILES_MAX]
    )
    assert set(learning.supersedes) <= set(given_learning.supersedes)
    assert all(one.isascii() and one.isprintable() for one in learning.supersedes)
    assert isinstance(learning.criteria_met, frozenset)


@pytest.fixture
def hit():
    return Hit(learning=LEARNING, relevance=0.5, reasons=("words lock, table",))


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("id", ["cl_2"], [None, 1, "", "a b", b"cl_2"]),
        ("category", list(Category), ["pitfall", None, Scope.PROJECT]),
        ("timestamp", [NOW], [datetime(2026, 2, 6), "2026-02-06", None]),
        ("status", list(LearningStatus), ["active", None]),
        ("ticket_id", [None, ""], [1, b"T"]),
        ("tags", [(), [], {"a"}, ("a",)], [None, "ab", ("a", None), {"a": 1}, (1,)]),
        ("supersedes", [(), ("cl_1",)], ["cl_1", (None,)]),
        ("criteria_met", [frozenset(), set(Criterion), list(Criterion)], [("stable_fact",), None]),
    ],
)
def test_fields_are_of_the_types_they_should_have(hit, field, good, bad):
    for value, fits in [(value, True) for value in good] + [(value, False) for value in bad]:
        learning = evolve(hit.learning, **{field: value})
        assert is_learning(learning) is fits
        assert is_hit(evolve(hit, learning=learning)) is fits


WRONG = [
    (RECEIPT, "learning_id", [None, LEARNING, b"x"]),
    (RECEIPT, "status", ["stored", None, True]),
    (RECEIPT, "backend", [None, b"shelf", 1, "", " "]),
    (FRESH, "source", [None, b"x", 1]),
    (FRESH, "fault", [None, b"x"]),
    (FRESH, "mark", ["/home/mark", None]),
    (FRESH, "waiting", [None, IDS[0], (1,), (None,)]),
    (DONE, "delivered", [None, RECEIPT, ("stored",), (None,)]),
    (DONE, "received", [None, "3", 1.5]),
    (DONE, "waiting", [None, IDS[0], (1,)]),
    (DONE, "fault", [None, b"full"]),
    (Health(ok=True, detail=""), "ok", [None, 1, "yes"]),
    (Health(ok=True, detail=""), "fix", [None, 1]),
]


@pytest.mark.parametrize(("sound", "field", "bad"), WRONG)
def test_what_is_of_another_type_cannot_be_built(sound, field, bad):
    for value in bad:
        with pytest.raises(TypeError, match=rf"{type(sound).__name__}\.{field} is not "):
            evolve(sound, **{field: value})


def test_a_receipt_of_another_learning_does_not_count():
    for other in ("", "../x", example_learning(2).id):
        assert clean_receipt(evolve(RECEIPT, learning_id=other), LEARNING.id) is None


def cleaned(value):
    if isinstance(value, Receipt):
        return clean_receipt(value, LEARNING.id)
    return clean(type(value), value)


@pytest.mark.parametrize(
    ("value", "field", "most"),
    [
        *((RECEIPT, field, most) for field, most in (("backend", 200), ("note", 300))),
        (FRESH, "source", 200),
        (FRESH, "fault", 500),
        (DONE, "fault", 500),
        (RECEIPT, "location", 4096),
        *((Health(ok=True, detail="fine"), field, 4096) for field in ("detail", "location", "fix")),
    ],
)
@settings(max_examples=20, deadline=None)
@given(text=st.text(max_size=40) | st.lists(st.sampled_from(HOSTILE), max_size=20).map("".join))
@example(text=HOSTILE)
@example(text="x" * 10_000)
def test_what_is_said_is_bounded_steers_no_terminal_and_stays_so(value, field, most, text):
    once = cleaned(evolve(value, **{field: f"b{text}"}))
    said = getattr(once, field)
    assert len(said) <= most
    assert said.endswith("…") or len(text) < most
    assert said.splitlines() == [said]
    assert not {"\t", "\x1b", "\x9b", "\u202e", "\x00"} & set(said)
    assert cleaned(once) is once


def test_a_receipt_that_is_none_is_left_out_and_the_rest_counts():
    odd = evolve(RECEIPT, learning_id="../x"), evolve(RECEIPT, learning_id="")
    hostile = evolve(RECEIPT, note=HOSTILE)
    done = clean(Synchronised, evolve(DONE, delivered=(*odd, RECEIPT, hostile)))
    assert done.delivered == (RECEIPT, evolve(RECEIPT, note="[2J]0;xIt is fine , say they"))
    # Two blanks in a path are two.
    assert clean(Health, Health(ok=True, detail="", location="/a  b\n")).location == "/a  b "

"""What a backend says of its server is looked at before anybody reads it."""

from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from grove_core.memory.untrusted import (
    cleaned_freshness,
    cleaned_health,
    cleaned_synchronised,
)
from grove_core.model.memory import Health, Receipt, ReceiptStatus, Synchronised
from grove_core.plugins.descriptors import Freshness
from grove_core.testing.samples import example_learning

IDS = (example_learning().id, example_learning(2).id)
FRESH = Freshness(source="the memory server notes", mark=Path("/home/mark"), waiting=IDS)
RECEIPT = Receipt(
    learning_id=IDS[0], status=ReceiptStatus.STORED, backend="shelf", location="notes: 17"
)
DONE = Synchronised(delivered=(RECEIPT,), received=3, waiting=IDS, fault="it is full")
HOSTILE = "\x1b[2J\x1b]0;x\x07It is\u202e\r\nfull\u2028\x9b\u200b, \tthey say \U000e0041\n\n"

anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.text()), st.binary()
)


@pytest.mark.parametrize("nonsense", [None, True, "fresh", {}, (), RECEIPT, Freshness])
def test_what_is_none_is_none(nonsense):
    assert cleaned_freshness(nonsense) is None
    assert cleaned_synchronised(nonsense) is None


def test_what_is_sound_stays():
    assert cleaned_freshness(FRESH) == FRESH
    assert cleaned_freshness(evolve(FRESH, source="", waiting=())).source == ""
    assert cleaned_synchronised(DONE) == DONE
    assert cleaned_synchronised(Synchronised()) == Synchronised()


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("source", [None, b"x", 1]),
        ("fault", [None, b"x", 1]),
        ("mark", ["/home/mark", None]),
        ("waiting", [None, IDS[0], (1,), (None,)]),
    ],
)
def test_fields_of_freshness_are_of_the_types_they_should_have(field, bad):
    for value in bad:
        assert cleaned_freshness(evolve(FRESH, **{field: value})) is None


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("delivered", [None, RECEIPT, ("stored",), (None,)]),
        ("received", [None, "3", 1.5]),
        ("waiting", [None, IDS[0], (1,)]),
        ("fault", [None, b"full", 1]),
    ],
)
def test_fields_of_what_came_of_it_are_of_the_types_they_should_have(field, bad):
    for value in bad:
        assert cleaned_synchronised(evolve(DONE, **{field: value})) is None


def test_texts_are_bounded_and_cannot_act():
    fresh = cleaned_freshness(evolve(FRESH, source=HOSTILE, fault=HOSTILE))
    done = cleaned_synchronised(evolve(DONE, fault=HOSTILE))
    for text in (fresh.source, fresh.fault, done.fault):
        assert text.isprintable()
        assert not {"\x1b", "\x07", "\u202e", "\u200b", "\n"} & set(text)
    assert len(cleaned_freshness(evolve(FRESH, source="x" * 10_000)).source) <= 200
    assert len(cleaned_freshness(evolve(FRESH, fault="x" * 10_000)).fault) <= 500
    assert len(cleaned_synchronised(evolve(DONE, fault="x" * 10_000)).fault) <= 500


def test_ids_that_are_none_do_not_wait():
    odd = (*IDS, "", "../x", "a b", "x" * 5000)
    assert cleaned_freshness(evolve(FRESH, waiting=odd)).waiting == IDS
    assert cleaned_synchronised(evolve(DONE, waiting=odd)).waiting == IDS


def test_a_receipt_that_is_none_is_left_out_and_the_rest_counts():
    odd = evolve(RECEIPT, status="stored"), evolve(RECEIPT, learning_id="../x")
    done = cleaned_synchronised(evolve(DONE, delivered=(*odd, RECEIPT)))
    assert done.delivered == (RECEIPT,)
    hostile = evolve(RECEIPT, note=HOSTILE, location=HOSTILE)
    (one,) = cleaned_synchronised(evolve(DONE, delivered=(hostile,))).delivered
    assert "\x1b" not in one.note + one.location


@given(anything, anything, anything, anything)
def test_no_field_makes_it_fail(first, second, third, fourth):
    fresh = Freshness(source=first, mark=second, waiting=third)
    done = Synchronised(delivered=first, received=second, waiting=third, fault=fourth)
    assert cleaned_freshness(fresh) is None
    answer = cleaned_synchronised(done)
    assert answer is None or isinstance(answer.fault, str)


def test_what_a_backend_says_of_its_health_steers_no_terminal():
    said = Health(
        ok=True, detail="fine\x1b]0;t\x07\nor not", location="/a  b\x1b[2J", mend="\x9b1m"
    )
    shown = cleaned_health(said)
    assert shown.ok
    assert "\n" not in shown.detail
    assert not any(ord(one) < 32 or ord(one) == 0x9B for one in shown.detail + shown.mend)
    assert shown.location.startswith("/a  b")
    assert "\x1b" not in shown.location


@pytest.mark.parametrize("answer", [None, "fine", Health(ok=True, detail=7)])
def test_what_is_no_health(answer):
    assert cleaned_health(answer) is None

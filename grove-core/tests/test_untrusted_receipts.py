"""What a backend says of a write is looked at before anybody reads it."""

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.memory.untrusted import cleaned_receipt
from grove_core.model.memory import Receipt, ReceiptStatus
from grove_core.testing.samples import example_learning

LEARNING = example_learning()
RECEIPT = Receipt(
    learning_id=LEARNING.id,
    status=ReceiptStatus.STORED,
    backend="shelf",
    location="/home/größe/my  shelf.md",
    note="Written by hand, since the librarian was out",
)


class Text(str):
    """A text of a plugin's own making."""

    __slots__ = ()


@pytest.mark.parametrize("status", ReceiptStatus)
@pytest.mark.parametrize("shared", [True, False])
def test_a_sound_receipt_stays_as_it_is(status, shared):
    receipt = evolve(RECEIPT, status=status, shared=shared)
    assert cleaned_receipt(receipt, LEARNING) is receipt


@pytest.mark.parametrize("nonsense", [None, True, "stored", {}, LEARNING, Receipt])
def test_what_is_no_receipt_is_none(nonsense):
    assert cleaned_receipt(nonsense, LEARNING) is None


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("learning_id", [Text(LEARNING.id)], [None, "", example_learning(2).id, LEARNING, b"x"]),
        ("status", [*ReceiptStatus], ["stored", None, True]),
        ("backend", ["other", Text("x")], [None, b"shelf", 1, ""]),
        ("location", ["", Text("x")], [None, b"/tmp", 1, ["x"]]),
        ("shared", [True, False], [None, 0, 1, "yes"]),
        ("note", ["", Text("x")], [None, b"x", ("x",)]),
    ],
)
def test_fields_are_of_the_types_they_should_have(field, good, bad):
    for value in good:
        receipt = evolve(RECEIPT, **{field: value})
        assert cleaned_receipt(receipt, LEARNING) == receipt
    for value in bad:
        assert cleaned_receipt(evolve(RECEIPT, **{field: value}), LEARNING) is None


HOSTILE = "\x1b[2J\x1b]0;x\x07It is\u202e\r\nfine\u2028\x9b\u200b, \tsay\x00 they \U000e0041\n\n"


def test_text_is_one_visible_line():
    receipt = evolve(RECEIPT, backend=HOSTILE, location=HOSTILE, note=HOSTILE)
    clean = cleaned_receipt(receipt, LEARNING)
    assert clean.note == clean.backend == "[2J]0;xIt is fine , say they"
    assert clean.location.split() == clean.note.split()
    assert clean.location.isprintable()


def test_blanks_in_a_path_stay():
    paths = (" /a  b ", "C:\\Users\\x", "/größe/日本語", "/a/\u00a0b")
    for path in paths:
        assert cleaned_receipt(evolve(RECEIPT, location=path), LEARNING).location == path


def test_text_is_of_limited_length():
    long = evolve(RECEIPT, backend="b" * 9999, location="/l" * 9999, note="n " * 9999)
    clean = cleaned_receipt(long, LEARNING)
    assert [len(one) for one in (clean.backend, clean.location, clean.note)] == [200, 4096, 300]
    assert all(one.endswith("…") for one in (clean.backend, clean.location, clean.note))
    longest = evolve(RECEIPT, location="l" * 4096, note="n" * 300)
    assert cleaned_receipt(longest, LEARNING) is longest


texts = st.text(max_size=40) | st.lists(st.sampled_from(HOSTILE), max_size=20).map("".join)


@settings(max_examples=200, deadline=None)
@given(backend=texts, location=texts, note=texts)
def test_whatever_it_says_is_clean_afterwards_and_stays_so(backend, location, note):
    receipt = evolve(RECEIPT, backend=f"b{backend}", location=location, note=note)
    clean = cleaned_receipt(receipt, LEARNING)
    for text in (clean.backend, clean.location, clean.note):
        assert text.splitlines() in ([text], [])
        assert not {"\t", "\x1b", "\u202e", "\x00"} & set(text)
    assert cleaned_receipt(clean, LEARNING) is clean

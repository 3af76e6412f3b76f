"""Measures of ranked lists against values worked out by hand."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.evaluation.measures import NAMES, Measures, measure

TEN = list("abcdefghij")


def gain(*places):
    return sum(1 / log2(place + 1) for place in places)


@pytest.mark.parametrize(
    ("ranking", "relevant", "expected"),
    [
        ("abcde", "a", (1, 1 / 5, 1, 1, 1)),
        ("abcde", "c", (1, 1 / 5, 1 / 3, gain(3), 1)),
        ("abcdef", "af", (1 / 2, 1 / 5, 1, (gain(1) + gain(6)) / gain(1, 2), 1)),
        ("abcdef", "f", (0, 0, 1 / 6, gain(6), 0)),
        ("abcde", "xy", (0, 0, 0, 0, 0)),
        ("", "a", (0, 0, 0, 0, 0)),
        ("ab", "abcd", (1 / 2, 2 / 5, 1, gain(1, 2) / gain(1, 2, 3, 4), 1)),
        ("abcdefghijk", "k", (0, 0, 0, 0, 0)),
        ("abcdefghijkl", "abcdefghijkl", (5 / 12, 1, 1, 1, 1)),
    ],
    ids=[
        "first",
        "third",
        "first and sixth",
        "sixth",
        "not found",
        "nothing found",
        "a short list",
        "eleventh",
        "more relevant ones than places",
    ],
)
def test_what_a_list_is_worth(ranking, relevant, expected):
    assert measure(list(ranking), frozenset(relevant)) == pytest.approx(expected)


def test_there_is_a_name_for_each():
    assert len(NAMES) == len(Measures._fields)


@given(st.permutations(TEN), st.sets(st.sampled_from(TEN), min_size=1))
def test_the_best_order_is_never_worse(ranking, relevant):
    found = measure(ranking, relevant)
    best = measure(sorted(ranking, key=lambda one: one not in relevant), relevant)
    assert best.gain == pytest.approx(1)
    assert best.reciprocal_rank == 1
    for value, highest in zip(found, best, strict=True):
        assert 0 <= value <= highest + 1e-12

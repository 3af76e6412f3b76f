"""Measures of ranked lists, their intervals, and the engines that others are measured against."""

from math import log, log2

import pytest

from grove_eval.baselines import BM25
from grove_eval.measures import interval, measure


def gain(*places):
    return sum(1 / log2(place + 1) for place in places)


@pytest.mark.parametrize(
    ("ranking", "relevant", "expected"),
    [
        ("abcde", "c", (1, 1 / 5, 1 / 3, gain(3), 1)),
        ("abcdef", "af", (1 / 2, 1 / 5, 1, (gain(1) + gain(6)) / gain(1, 2), 1)),
        ("abcdef", "f", (0, 0, 1 / 6, gain(6), 0)),
        ("abcde", "xy", (0, 0, 0, 0, 0)),
        ("", "a", (0, 0, 0, 0, 0)),
        ("abcdefghijkl", "abcdefghijkl", (5 / 12, 1, 1, 1, 1)),
    ],
)
def test_what_a_list_is_worth(ranking, relevant, expected):
    assert measure(list(ranking), frozenset(relevant)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([0.4], (0.4, 0.4)),
        ([0, 1], (0.025, 0.975)),
        (range(41), (1, 39)),
    ],
)
def test_quantiles(means, expected):
    assert interval(list(means)) == pytest.approx(expected)


def test_bm25_by_hand():
    """Two texts, of 3 and 1 terms; `cat` is in both, twice in the first, and `dog` in one."""
    index = BM25([["cat", "cat", "dog"], ["cat"]])
    scores = {}
    index.add_scores({"cat": 1.0, "dog": 2.0, "cow": 1.0}, 0.5, scores)
    rarity_cat, rarity_dog = log(1 + 0.5 / 2.5), log(1 + 1.5 / 1.5)
    long, short = 1.2 * (0.25 + 0.75 * 3 / 2), 1.2 * (0.25 + 0.75 * 1 / 2)
    assert scores == pytest.approx(
        {
            0: 0.5 * (rarity_cat * 2 * 2.2 / (2 + long) + 2 * rarity_dog * 2.2 / (1 + long)),
            1: 0.5 * rarity_cat * 2.2 / (1 + short),
        }
    )

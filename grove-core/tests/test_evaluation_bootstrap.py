"""Bootstrap intervals: the same each time, paired, and as wide as they say."""

import random

import pytest

from grove_core.evaluation.bootstrap import Resamples, interval


def some_values(number):
    dice = random.Random(1)
    return [dice.random() for _ in range(number)]


def test_equal_seeds_give_equal_intervals():
    values = some_values(40)
    assert Resamples(40).means(values) == Resamples(40).means(values)
    assert Resamples(40, seed=1).means(values) != Resamples(40, seed=2).means(values)


def test_everything_is_resampled_together():
    resamples = Resamples(30)
    values = some_values(30)
    better = [value + 0.25 for value in values]
    differences = [
        a - b for a, b in zip(resamples.means(better), resamples.means(values), strict=True)
    ]
    assert interval(differences) == pytest.approx((0.25, 0.25))


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([0.4], (0.4, 0.4)),
        ([0, 1], (0.025, 0.975)),
        (range(41), (1, 39)),
        ([3, 1, 2], (1.05, 2.95)),
    ],
)
def test_quantiles(means, expected):
    assert interval(list(means)) == pytest.approx(expected)


def test_an_interval_holds_the_truth_about_as_often_as_it_says():
    """Of means of 50 draws from a known distribution; 95 % in the limit, a little less for few."""
    dice = random.Random(3)
    inside = 0
    for trial in range(200):
        values = [float(dice.random() < 0.4) for _ in range(50)]
        low, high = interval(Resamples(50, count=200, seed=trial).means(values))
        inside += low <= 0.4 <= high
    assert 175 <= inside <= 199

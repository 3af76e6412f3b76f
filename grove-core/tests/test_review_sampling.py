"""Which learnings are asked about: those whose rating would teach most, and not always the same."""

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.model.usage import LearningStats
from grove_core.services.ratings import sample, worth_of_rating

DAY = date(2026, 2, 6)


def fared(name="a", surfaced=0, referenced=0, useful=0, useless=0):
    return LearningStats(
        learning_id=f"cl_{name}",
        surfaced=surfaced,
        referenced=referenced,
        useful_ratings=useful,
        useless_ratings=useless,
    )


def worth(**fields):
    return worth_of_rating(fared(**fields))


@pytest.mark.parametrize(
    ("more", "less"),
    [
        # Shown often, and nobody has ever said what it is worth.
        ({"surfaced": 8, "referenced": 4}, {"surfaced": 8, "referenced": 4, "useful": 1}),
        # Of two that are shown as often, the one of which less is certain.
        ({"surfaced": 20, "referenced": 10}, {"surfaced": 20, "referenced": 20}),
        # What was shown hundreds of times is known.
        ({"surfaced": 10, "referenced": 5}, {"surfaced": 500, "referenced": 250}),
        # What is shown matters more than what nobody ever saw.
        ({"surfaced": 4, "referenced": 2}, {}),
    ],
)
def test_what_teaches_most(more, less):
    assert worth(**more) > worth(**less) > 0


NUMBERS = st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(0, 3))
LEARNINGS = st.lists(NUMBERS, max_size=40).map(
    lambda numbers: [
        fared(f"{index:03}", surfaced, min(used, surfaced), useful)
        for index, (surfaced, used, useful) in enumerate(numbers)
    ]
)


@settings(max_examples=30)
@given(LEARNINGS, st.integers(1, 20), st.integers(0, 400), st.randoms())
def test_a_sample_is_of_its_size_without_repeats_and_the_same_all_day(
    learnings, limit, days, chance
):
    day = DAY + timedelta(days=days)
    chosen = sample(learnings, limit, day)
    assert len(chosen) == len(set(chosen)) == min(limit, len(learnings))
    assert set(chosen) <= set(learnings)
    shuffled = list(learnings)
    chance.shuffle(shuffled)
    assert sample(shuffled, limit, day) == chosen

"""How old what is known of a server is said to be, and when it is asked anew."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.freshness import (
    BEGUN,
    PAUSE_SECONDS,
    STALE_SECONDS,
    is_stale,
    seconds_since,
    sentences,
    was_begun_lately,
)

NOW = 1_900_000_000
MINUTE, HOUR, DAY = 60, 3600, 86_400


@pytest.fixture
def mark(tmp_path):
    """Makes a file that was written some seconds before now."""

    def written(age, name="mark"):
        path = tmp_path / name
        path.touch()
        os.utime(path, (NOW - age, NOW - age))
        return str(path)

    return written


def words_of(path, now=NOW):
    (sentence,) = sentences([("the memory server x", path)], now)
    start, end = "What the memory server x holds is known here ", "."
    assert sentence.startswith(start)
    assert sentence.endswith(end)
    return sentence.removeprefix(start).removesuffix(end)


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (-MINUTE + 1, "as of just now"),  # a clock was a little ahead
        (0, "as of just now"),
        (MINUTE - 1, "as of just now"),
        (MINUTE, "as of 1 minute ago"),
        (2 * MINUTE - 1, "as of 1 minute ago"),
        (2 * MINUTE, "as of 2 minutes ago"),
        (HOUR - 1, "as of 59 minutes ago"),
        (HOUR, "as of 1 hour ago"),
        (DAY - 1, "as of 23 hours ago"),
        (DAY, "as of 1 day ago"),
        (400 * DAY, "as of 400 days ago"),
    ],
)
def test_an_age_in_words(mark, age, words):
    assert words_of(mark(age)) == words


def test_what_has_a_time_of_the_future_is_of_no_known_time(mark):
    path = mark(-HOUR)
    assert "not answered yet" in words_of(path)
    assert seconds_since(path, NOW) is None


def test_what_has_no_name_is_passed_over(mark):
    assert sentences([("", mark(0))], NOW) == []


def test_what_has_never_answered_says_so(tmp_path):
    path = str(tmp_path / "none")
    assert "not answered yet" in words_of(path)
    assert seconds_since(path, NOW) is None
    assert is_stale(path, NOW)


@given(st.integers(0, 10**10))
def test_every_age_has_words(tmp_path_factory, age):
    path = tmp_path_factory.getbasetemp() / "any-age"
    path.touch()
    os.utime(path, (0, 0))
    assert words_of(str(path), age).startswith("as of ")


def test_one_sentence_a_server_in_their_order(mark):
    several = sentences([("b", mark(0, "1")), ("a", mark(HOUR, "2"))], NOW)
    assert several == [
        "What b holds is known here as of just now.",
        "What a holds is known here as of 1 hour ago.",
    ]
    assert sentences([], NOW) == []


@pytest.mark.parametrize(
    ("age", "stale"), [(-DAY, True), (0, False), (STALE_SECONDS, False), (STALE_SECONDS + 1, True)]
)
def test_a_server_is_asked_anew_after_a_while(mark, age, stale):
    assert is_stale(mark(age), NOW) is stale


@pytest.mark.parametrize(
    ("age", "lately"), [(0, True), (PAUSE_SECONDS - 1, True), (PAUSE_SECONDS, False), (DAY, False)]
)
def test_a_server_is_not_asked_with_every_start(mark, tmp_path, age, lately):
    mark(age, BEGUN)
    assert was_begun_lately(str(tmp_path), NOW) is lately


def test_what_was_never_begun_was_not_begun_lately(tmp_path):
    assert not was_begun_lately(str(tmp_path), NOW)
    assert not was_begun_lately(str(tmp_path / "nowhere"), NOW)

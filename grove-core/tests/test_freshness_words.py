"""How old what is known of a server is said to be, and when it is asked anew."""

import os

import pytest

from grove_core.services.sync import (
    STALE_SECONDS,
    is_stale,
    seconds_since,
    sentences,
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


def words_of(path):
    (sentence,) = sentences([("the memory server x", path)], NOW)
    start, end = "What the memory server x holds is known here ", "."
    assert sentence.startswith(start)
    assert sentence.endswith(end)
    return sentence.removeprefix(start).removesuffix(end)


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (-MINUTE + 1, "as of just now"),  # a clock was a little ahead
        (MINUTE, "as of 1 minute ago"),
        (DAY - 1, "as of 23 hours ago"),
        (DAY, "as of 1 day ago"),
        (400 * DAY, "as of 400 days ago"),
    ],
)
def test_an_age_in_words(mark, age, words):
    assert words_of(mark(age)) == words


def test_what_has_never_answered_says_so(mark, tmp_path):
    for path in (str(tmp_path / "none"), mark(-HOUR)):
        assert "not answered yet" in words_of(path)
        assert seconds_since(path, NOW) is None
        assert is_stale(path, NOW)


@pytest.mark.parametrize(
    ("age", "stale"), [(-DAY, True), (STALE_SECONDS, False), (STALE_SECONDS + 1, True)]
)
def test_a_server_is_asked_anew_after_a_while(mark, age, stale):
    assert is_stale(mark(age), NOW) is stale

"""Ratings: what may be sent."""

import json

import pytest

from grove_core import GroveError
from grove_core.reflection.submission import Rating
from grove_core.services.ratings import read_ratings

UP, DOWN = Rating(learning_id="cl_1", useful=True), Rating(learning_id="cl_2", useful=False)
ONE = {"id": "cl_1", "useful": True}


def sent(value):
    return read_ratings(json.dumps(value).encode())


@pytest.mark.parametrize(
    "value",
    [
        {"ratings": [ONE, {"id": " cl_2 ", "useful": False}]},
        [ONE, {"id": "cl_2", "useful": False}],
        # Of several for one learning the last counts.
        [{"id": "cl_1", "useful": False}, ONE, {"id": "cl_2", "useful": False}],
    ],
)
def test_ratings_are_read(value):
    assert sent(value) == ([UP, DOWN], [])


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (None, "it is null, not an object"),
        ({"id": "cl_2"}, "useful of cl_2 is null, neither true nor false"),
        ({"id": "cl_2", "useful": 1}, "useful of cl_2 is a number, neither"),
    ],
)
def test_one_bad_rating_never_spoils_the_others(entry, words):
    ratings, (problem,) = sent({"ratings": [entry, ONE]})
    assert ratings == [UP]
    assert problem.startswith("ratings[0] does not count: ")
    assert words in problem


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not valid JSON: Expecting value: line 1 column 1"),
        (b"\xff\xfe", "byte 0xff in position 0"),
        (b'["' + b"x" * 1_100_000 + b'"]', "longer than 1048576 bytes"),
    ],
)
def test_what_is_no_such_json_is_an_error_that_names_the_place(data, words):
    with pytest.raises(GroveError) as failure:
        read_ratings(data)
    assert words in str(failure.value)

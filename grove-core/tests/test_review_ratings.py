"""Ratings: what may be sent, and the way through the questions."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core import GroveError
from grove_core.flow.reviewing import Answers, read_ratings
from grove_core.reflection.submission import Rating

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
    read = sent(value)
    assert read.ratings == (UP, DOWN)
    assert read.problems == ()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (None, "it is null, not an object"),
        ({"id": "cl_2"}, "useful of cl_2 is null, neither true nor false"),
        ({"id": "cl_2", "useful": 1}, "useful of cl_2 is a number, neither"),
    ],
)
def test_one_bad_rating_never_spoils_the_others(entry, words):
    read = sent({"ratings": [entry, ONE]})
    assert read.ratings == (UP,)
    (problem,) = read.problems
    assert problem.startswith("ratings[0] does not count: ")
    assert words in problem


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not valid JSON: Expecting value (line 1, column 1)"),
        (b"\xff\xfe", "not UTF-8 (byte 0)"),
        (b'["' + b"x" * 1_100_000 + b'"]', "longer than 1048576 bytes"),
    ],
)
def test_what_is_no_such_json_is_an_error_that_names_the_place(data, words):
    with pytest.raises(GroveError) as failure:
        read_ratings(data)
    assert words in str(failure.value)


@given(st.integers(1, 6), st.lists(st.sampled_from([True, False, None, "back"]), max_size=30))
def test_the_answers_are_those_that_were_not_taken_back(count, presses):
    answers, model = Answers((None,) * count), []
    for press in presses:
        if answers.are_complete:
            break
        if press == "back":
            answers, model = answers.back(), model[:-1]
        else:
            answers = answers.answer(press)
            model.append(press)
    assert answers.position == len(model)
    assert list(answers.given) == model + [None] * (count - len(model))

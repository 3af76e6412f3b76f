"""`grove review`: on a terminal, in a pipe, and with ratings of an agent."""

import json
import re

import pytest
from terminal import on_terminal

PERSONAL = "cl_20300102_person"


def ids(count):
    return [f"cl_20300102_aaaa{number:02}" for number in range(count)]


@pytest.fixture
def project(beads):
    for number, learning_id in enumerate(ids(4)):
        beads.learning(
            learning_id,
            f"OrderStore.step_{number}() runs one query per order unless prefetched",
            category="pitfall" if number else "process",
            detail="\n".join(f"Line {line} of the detail of step {number}." for line in range(30)),
        )
    beads.learning("cl_20300102_archiv", "An archived learning about orders", status="archived")
    beads.learning(PERSONAL, "My own editor wants the formatter to run first", personal=True)
    return beads


def rates(world, *ratings, words=(), **sent):
    """`grove review --json` with these ratings."""
    document = {"ratings": [dict(zip(("id", "useful"), one, strict=True)) for one in ratings]}
    return world.grove("review", "--json", *words, stdin=json.dumps({**document, **sent}))


def rated(world, *, personal=False):
    events = world.events("rated", personal=personal)
    return [(event["learning_id"], event["useful"]) for event in events]


# Ratings on standard input.
def test_ratings_are_kept_in_the_log_that_the_learning_belongs_to(project):
    first, second, *_ = ids(4)
    done = rates(project, (first, True), (second, False), (PERSONAL, True))
    assert (done.code, done.stderr) == (0, "")
    assert done.json == {
        "rated": [
            {"id": first, "useful": True},
            {"id": second, "useful": False},
            {"id": PERSONAL, "useful": True},
        ],
        "unknown": [],
        "problems": [],
    }
    assert rated(project) == [(first, True), (second, False)]
    assert rated(project, personal=True) == [(PERSONAL, True)]


def test_unknown_ids_are_named_and_the_others_count(project):
    first, *_ = ids(4)
    done = rates(project, (first, True), ("cl_20300102_nobody", True))
    assert done.code == 0
    assert done.json["unknown"] == ["cl_20300102_nobody"]
    assert "no learning has the id cl_20300102_nobody" in done.stderr
    assert rated(project) == [(first, True)]


# The sample.
def test_without_ratings_and_without_a_terminal_it_prints_the_sample(project):
    done = project.grove("review", "--json")
    assert (done.code, done.stderr) == (0, "")
    assert (done.json["count"], done.json["total"]) == (5, 5)
    assert {one["id"] for one in done.json["learnings"]} == {*ids(4), PERSONAL}
    for one in done.json["learnings"]:
        assert one["ratings"] == {"useful": 0, "not_useful": 0}
        assert one["detail"]
    assert project.grove("review").stdout.count("cl_20300102_") == 5
    assert set(project.grove("review", "-q").stdout.split()) == {*ids(4), PERSONAL}
    assert not project.event_log.exists()


# On a terminal.
KEYS = "y useful  n not useful  s skip  o open  b back  q quit"


def test_on_a_terminal_one_key_is_an_answer_and_back_undoes_it(project):
    answers = [(f"{position}/5[^$]*{KEYS}", key) for position, key in enumerate("yyb", start=1)]
    answers += [(f"2/5[^$]*{KEYS}", "xn"), (f"3/5[^$]*{KEYS}", "q")]
    code, screen = on_terminal(project, "review", answers=answers, TERM="xterm")
    assert code == 0
    assert "Kept 2 ratings: 1 useful, 1 not." in screen
    first, second, *_ = dict.fromkeys(re.findall(r"cl_20300102_\w+", screen))
    kept = dict(rated(project) + rated(project, personal=True))
    assert kept == {first: True, second: False}

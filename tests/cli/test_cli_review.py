"""`grove review`: of named learnings, on a terminal, and in a pipe."""

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


def rated(world, *, personal=False):
    events = world.events("rated", personal=personal)
    return [(event["learning_id"], event["useful"]) for event in events]


# Named ones.
def test_ratings_are_kept_in_the_log_that_the_learning_belongs_to(project):
    first, second, *_ = ids(4)
    done = project.grove("review", first, PERSONAL, "cl_20300102_nobody", "--useful", "--json")
    assert done.code == 0
    assert done.json == {
        "rated": [{"id": first, "useful": True}, {"id": PERSONAL, "useful": True}],
        "unknown": ["cl_20300102_nobody"],
    }
    assert "no learning has the id cl_20300102_nobody" in done.stderr
    assert project.grove("review", second, "--not-useful").code == 0
    assert rated(project) == [(first, True), (second, False)]
    assert rated(project, personal=True) == [(PERSONAL, True)]
    unknown = project.grove("review", "cl_20300102_nobody", "--useful", "--json")
    assert (unknown.code, unknown.json["error"]) == (1, "no learning has the id cl_20300102_nobody")
    for words in ((first,), ("--useful",)):
        assert project.grove("review", *words).code == 2


# The sample.
def test_without_ids_and_without_a_terminal_it_prints_the_sample(project):
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
def test_a_terminal_is_asked(project):
    answers = [("Useful[^$]*: ", f"{key}\n") for key in "ynxsq"]
    code, screen = on_terminal(project, "review", answers=answers, TERM="xterm")
    assert code == 0
    assert "Kept 2 ratings: 1 useful, 1 not." in screen
    first, second, *_ = dict.fromkeys(re.findall(r"cl_20300102_\w+", screen))
    kept = dict(rated(project) + rated(project, personal=True))
    assert kept == {first: True, second: False}

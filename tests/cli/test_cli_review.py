"""`grove review` as a process: on a terminal, in a pipe, and with ratings of an agent."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import contextmanager

import pytest

GROVE = (sys.executable, "-m", "grove_core._entry")
SECONDS = 60
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


def test_it_is_a_failure_when_no_rating_counts(project):
    done = rates(project, ("cl_20300102_nobody", True))
    assert done.code == 1
    assert done.json["error"].startswith("no rating counts")
    assert rated(project) == []
    assert rates(project, (ids(1)[0], "yes")).code == 1
    assert rates(project).code == 1


@pytest.mark.parametrize(
    ("text", "place"),
    [('{"ratings": [', "line 1, column 14"), ("useful!", "line 1, column 1"), ("{}", "null")],
)
def test_broken_json_is_an_error_and_no_sample(project, text, place):
    done = project.grove("review", "--json", stdin=text)
    assert done.code == 1
    assert set(done.json) == {"error"}
    assert place in done.json["error"]


def test_ratings_may_come_from_a_file(project, tmp_path):
    file = project.others / "ratings.json"
    file.parent.mkdir()
    file.write_text(json.dumps([{"id": ids(1)[0], "useful": False}]))
    assert project.grove("review", "--file", file).stdout == "Kept 1 rating: 0 useful, 1 not.\n"
    assert project.grove("review", "--file", file.with_name("none")).code == 1
    assert project.grove("review", "--file", "-", stdin="").code == 1
    assert rated(project) == [(ids(1)[0], False)]


def test_ratings_need_a_place(world):
    world.learning(PERSONAL, "My own editor wants the formatter to run first", personal=True)
    assert rates(world, (PERSONAL, False)).code == 0
    assert rated(world, personal=True) == [(PERSONAL, False)]
    assert not (world.project / ".grove").exists()


def test_the_same_learning_may_be_rated_again(project):
    first = ids(1)[0]
    rates(project, (first, True))
    rates(project, (first, False))
    assert rated(project) == [(first, True), (first, False)]


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
    assert not (project.project / ".grove" / "stats.log").exists()


def test_the_sample_may_be_narrowed(project):
    done = project.grove("review", "--json", "--limit", 2)
    assert (done.json["count"], done.json["total"]) == (2, 5)
    done = project.grove("review", "-q", "--category", "process")
    assert done.stdout.split() == ids(1)
    done = project.grove("review", "--category", "domain")
    assert done.stdout == "There is no learning to rate.\n"


def test_what_was_rated_comes_last(project):
    first, second, *_ = ids(4)
    rates(project, (first, True), (second, True))
    for _ in range(2):
        rates(project, (second, False))
    order = project.grove("review", "-q", "--limit", 100).stdout.split()
    assert set(order[3:]) == {first, second}
    (one,) = [
        one for one in project.grove("review", "--json").json["learnings"] if one["id"] == second
    ]
    assert one["ratings"]["useful"] == 1
    assert one["ratings"]["not_useful"] >= 1


def test_a_pipe_that_says_nothing_does_not_hang(project):
    process = project.start("review", "-q")
    try:
        # Nothing is sent, and nothing is closed.
        out, err = process.stdout.read(), process.stderr.read()
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.communicate()
    assert len(out.split()) == 5
    assert b"nothing came on standard input" in err


# On a terminal.


class Terminal:
    """A terminal of 80 by 24 with `grove review` in it."""

    def __init__(self, world, *words):
        self.descriptor, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            [*GROVE, "review", *words],
            cwd=world.project,
            env={**world.environment, "TERM": "xterm"},
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            # Ctrl-C is for the process whose terminal it is.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads
        )
        self.seen = ""

    def read_until(self, words):
        """What the screen shows up to these words, without colours."""
        started = time.monotonic()
        while words not in self.seen:
            assert time.monotonic() - started < SECONDS, self.seen
            if select.select([self.descriptor], [], [], 1)[0]:
                data = os.read(self.descriptor, 65_536).decode()
                self.seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data).replace("\r", "")
            else:
                assert self.process.poll() is None, self.seen
        shown, _, self.seen = self.seen.partition(words)
        return shown

    def press(self, keys):
        os.write(self.descriptor, keys.encode())

    def ends(self, code=0):
        assert self.process.wait(SECONDS) == code
        assert termios.tcgetattr(self.slave) == self.before


@contextmanager
def terminal(world, *words):
    opened = Terminal(world, *words)
    try:
        yield opened
    finally:
        opened.process.kill()
        opened.process.wait()
        os.close(opened.descriptor)
        os.close(opened.slave)


KEYS = "y useful  n not useful  s skip  o open  b back  q quit"


def asked(screen):
    """The learning that is asked about."""
    return re.findall(r"cl_20300102_\w+", screen.read_until(KEYS))[-1]


def test_one_key_each_until_the_end(project):
    with terminal(project) as screen:
        answered = []
        for position, (key, useful) in enumerate(zip("ynsYN", (1, 0, None, 1, 0), strict=True)):
            screen.read_until(f"{position + 1}/5")
            answered.append((asked(screen), useful))
            screen.press(key)
        screen.read_until("Kept 4 ratings: 2 useful, 2 not.")
        screen.ends()
    assert len({learning_id for learning_id, _ in answered}) == 5
    kept = dict(rated(project) + rated(project, personal=True))
    assert kept == {one: bool(useful) for one, useful in answered if useful is not None}


def test_a_learning_fits_the_screen_and_opens(project):
    with terminal(project, "--category", "process") as screen:
        shown = screen.read_until(KEYS)
        assert len(shown.splitlines()) < 10
        assert all(len(line) <= 80 for line in shown.splitlines())
        assert "Line 3" not in shown
        assert "shown in 0 sessions" in shown
        screen.press("o")
        assert "Line 29 of the detail of step 0." in screen.read_until(KEYS)
        screen.press("n")
        screen.read_until("Kept 1 rating: 0 useful, 1 not.")
        screen.ends()
    assert rated(project) == [(ids(1)[0], False)]


def test_back_undoes_and_other_keys_do_nothing(project):
    with terminal(project) as screen:
        first = asked(screen)
        screen.press("b")  # nothing is before it
        screen.press("x\x1b[A\t ")
        screen.press("\x1b[B")  # an arrow's letter is no key
        screen.press("y")
        screen.read_until("2/5")
        asked(screen)
        screen.press("b")
        screen.read_until("1/5")
        assert asked(screen) == first
        screen.press("n")
        screen.read_until("2/5")
        screen.press("q")
        screen.read_until("Kept 1 rating: 0 useful, 1 not.")
        screen.ends()
    assert rated(project) + rated(project, personal=True) == [(first, False)]


def leave_by_key(screen):
    screen.press("\x03")


def leave_by_signal(screen):
    screen.process.send_signal(signal.SIGTERM)


def leave_by_hang_up(screen):
    screen.process.send_signal(signal.SIGHUP)


def leave_by_end_of_input(screen):
    screen.press("\x04")


@pytest.mark.parametrize(
    "leave",
    [leave_by_key, leave_by_signal, leave_by_hang_up, leave_by_end_of_input],
    ids=lambda leave: leave.__name__,
)
def test_whoever_leaves_in_the_middle_keeps_what_was_rated(project, leave):
    with terminal(project) as screen:
        first = asked(screen)
        screen.press("y")
        screen.read_until("2/5")
        asked(screen)
        leave(screen)
        screen.read_until("Kept 1 rating: 1 useful, 0 not.")
        screen.ends()
    assert rated(project) + rated(project, personal=True) == [(first, True)]


def test_nothing_rated_is_nothing_written(project):
    with terminal(project) as screen:
        asked(screen)
        screen.press("q")
        screen.read_until("Nothing was rated.")
        screen.ends()
    assert not (project.project / ".grove" / "stats.log").exists()


def test_a_terminal_is_not_asked_for_json(project):
    with terminal(project, "--json") as screen:
        screen.read_until('"count": 5')
        screen.read_until("\n}\n")
        screen.ends()

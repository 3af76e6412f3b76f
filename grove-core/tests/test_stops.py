"""Of the two hooks at a stop one answers, whichever comes first, and whoever dies in between."""

import os
import subprocess
import sys
import time

import pytest

from grove_core.hooks.stops import COMMAND, SERVER, Turn

HOLDER = """
import sys, time
from grove_core.hooks.stops import Turn
turn = Turn(sys.argv[1], "s", sys.argv[2].encode())
print("holds", flush=True)
sys.stdin.readline()
turn.end(answered=True)
"""


@pytest.fixture
def home(tmp_path):
    return str(tmp_path)


@pytest.fixture
def holder(home):
    """Starts a process that answers a stop until it is told to end."""
    running = []

    def start(who):
        words = [sys.executable, "-c", HOLDER, home, who.decode()]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        running.append(process)
        assert process.stdout.readline() == b"holds\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def answers(home, who):
    """Whether this one has to answer; it does."""
    turn = Turn(home, "s", who)
    if turn.is_answered:
        return False
    turn.end(answered=True)
    return True


@pytest.mark.parametrize("order", [(SERVER, COMMAND), (COMMAND, SERVER)])
def test_the_second_keeps_silent_at_each_stop(home, order):
    for _ in range(3):
        assert [answers(home, who) for who in order] == [True, False]


def test_whoever_comes_alone_answers_each_stop(home):
    for who in (COMMAND, SERVER):
        home = os.path.join(home, "alone")
        assert [answers(home, who) for _ in range(3)] == [True] * 3


def test_an_answer_that_failed_is_given_by_the_other(home):
    Turn(home, "s", SERVER).end(answered=False)
    assert answers(home, COMMAND)


def test_the_command_waits_for_a_server_that_answers(home, holder):
    server = holder(SERVER)
    waiting = subprocess.Popen(
        [sys.executable, "-c", HOLDER.replace('print("holds"', "print(turn.is_answered"), home, "command"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(0.2)
    assert waiting.poll() is None
    server.communicate(b"\n")
    assert waiting.communicate(b"\n")[0] == b"True\n"


@pytest.mark.parametrize("who", [SERVER, COMMAND])
def test_who_dies_in_answering_is_followed_by_the_other(home, holder, who):
    process = holder(who)
    process.kill()
    process.wait()
    assert answers(home, COMMAND if who == SERVER else SERVER)


def test_a_file_that_says_nothing_and_a_home_that_cannot_be_written_hinder_nobody(home, tmp_path):
    place = tmp_path / "cache" / "fast" / "s.stop"
    place.parent.mkdir(parents=True)
    for content in (b"", b"\xff" * 100, b"server soon", b"server", b"server 1.0", b"server 1e999"):
        place.write_bytes(content)
        assert answers(home, COMMAND), content
    (tmp_path / "file").write_text("")
    for unusable in (str(tmp_path / "file"), "relative"):
        assert answers(unusable, COMMAND)
        assert answers(unusable, SERVER)
    assert not os.path.exists("relative")

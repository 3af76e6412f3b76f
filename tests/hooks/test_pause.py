"""`grove pause` and `grove resume`: hooks ask for nothing and show nothing meanwhile."""

import pytest


@pytest.mark.parametrize("words", [(), ("--session-id", "one")])
def test_a_pause_lets_the_agent_go_and_ends(beads, words):
    agent = beads.agent("one")
    agent.starts()
    assert beads.grove("pause", "30m", *words).stdout.startswith("Paused until ")
    agent.closes("bd-1")
    assert agent.stops().code == 0
    assert "aused" in beads.grove("status").stdout
    assert "grove goes on." in beads.grove("resume").stdout
    assert "There was no pause." in beads.grove("resume", *words).stdout
    agent.closes("bd-2")
    assert agent.stops().code == 2


def test_a_session_that_starts_is_told(beads):
    beads.grove("pause")
    assert beads.agent("one").starts().startswith("grove is paused here until 2")


@pytest.mark.parametrize("duration", ["25h", "soon", "0m", "2d"])
def test_a_pause_has_an_end_within_a_day(beads, duration):
    assert beads.grove("pause", duration).code == 2
    assert not (beads.grove_home / "paused").exists()


def test_the_beginning_of_an_id_pauses_that_session(beads):
    agent = beads.agent("session-with-a-long-id")
    agent.starts()
    beads.grove("pause", "1h", "--session-id", "session-w")
    agent.closes("bd-1")
    assert agent.stops().code == 0


def test_a_pause_that_cannot_be_read_is_none(beads):
    agent = beads.agent("one")
    beads.grove("pause")
    (file,) = (beads.grove_home / "paused").iterdir()
    file.unlink()
    file.mkdir()
    agent.starts()
    agent.closes("bd-1")
    assert agent.stops().code == 2
    assert beads.grove("status").code == 0

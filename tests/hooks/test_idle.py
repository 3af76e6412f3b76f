"""A stop that finds everything as the last one did asks nobody and writes nothing."""

import pytest
from world import signatures

from grove_core.hooks import dispatch


@pytest.fixture
def asked(monkeypatch):
    """The events that were answered by more than a comparison."""
    events = []
    run = dispatch.run_hook
    monkeypatch.setattr(
        dispatch, "run_hook", lambda event, data: events.append(event) or run(event, data)
    )
    return events


@pytest.fixture
def idle(agent):
    """An agent whose last stop has found nothing."""
    agent.starts()
    agent.is_let_go()
    return agent


def test_the_second_of_two_stops_is_idle(beads, idle, asked):
    before = signatures(beads.grove_home, apart_from=())
    asked.clear()
    idle.is_let_go()
    idle.is_let_go(active=True)
    beads.agent(GROVE_HOOKS="project").is_let_go()
    assert asked == []
    assert signatures(beads.grove_home, apart_from=()) == before


def change_settings(world, agent):
    (world.project / ".grove" / "config.toml").write_text("[gate]\nsession = 'never'\n")


def lose_the_tickets(world, agent):
    (world.project / ".beads").rename(world.project / "away")


def ask(world, agent):
    agent.asks("Go on.")


def hand_in(world, agent):
    inbox = world.project / ".grove" / "inbox"
    inbox.mkdir()
    (inbox / "1.json").touch()


def damage_the_state(world, agent):
    (world.grove_home / "sessions" / "session-1.json").write_text("{")


@pytest.mark.parametrize(
    "change", [change_settings, lose_the_tickets, ask, hand_in, damage_the_state]
)
def test_whatever_a_stop_depends_on_is_looked_at(beads, idle, asked, change):
    change(beads, idle)
    asked.clear()
    idle.stops()
    assert asked == ["stop"]


def test_whatever_a_call_brings_is_looked_at(idle, asked):
    asked.clear()
    idle.stops(variables={"GROVE_GATE_SESSION": "never"})
    idle.stops(background_tasks=[{"id": "1", "type": "shell", "status": "running"}])
    assert asked == ["stop", "stop"]


def test_a_close_after_an_idle_stop_is_asked_about(idle):
    idle.is_let_go()
    idle.closes("bd-1")
    idle.is_blocked()


def test_a_change_after_an_idle_stop_is_measured(world, asked):
    world.initialise()
    world.make_git()
    agent = world.agent()
    agent.starts()
    agent.is_let_go()
    asked.clear()
    agent.is_let_go()
    assert asked == []
    (world.project / "app.py").write_text("x = 1\n" * 3)
    agent.is_let_go()
    assert asked == ["stop"]
    agent.is_let_go()
    assert asked == ["stop"]
    (world.project / "app.py").write_text("x = 1\n" * 300)
    agent.is_blocked()

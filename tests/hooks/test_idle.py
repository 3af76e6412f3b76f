"""A stop that finds everything as the last one did asks nobody and writes nothing."""

import pytest
from core_worlds import git, own_git_only

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
def repository(world, monkeypatch):
    """Session mode, in git."""
    own_git_only(monkeypatch, world.home)
    world.initialise()
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "Start"]):
        git(*words, cwd=world.project)
    return world


def snapshot(folder):
    return {one: one.stat().st_mtime_ns for one in folder.rglob("*") if one.is_file()}


def test_the_second_of_two_stops_is_idle(beads, asked):
    agent = beads.agent()
    agent.starts()
    agent.is_let_go()
    before = snapshot(beads.grove_home)
    asked.clear()
    agent.is_let_go()
    agent.is_let_go(active=True)
    beads.agent(GROVE_HOOKS="project").is_let_go()
    assert asked == []
    assert snapshot(beads.grove_home) == before


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
def test_whatever_a_stop_depends_on_is_looked_at(beads, asked, change):
    agent = beads.agent()
    agent.starts()
    agent.is_let_go()
    change(beads, agent)
    asked.clear()
    agent.stops()
    assert asked == ["stop"]


def test_whatever_a_call_brings_is_looked_at(beads, asked):
    agent = beads.agent()
    agent.starts()
    agent.is_let_go()
    asked.clear()
    agent.stops(variables={"GROVE_GATE_SESSION": "never"})
    agent.stops(background_tasks=[{"id": "1", "type": "shell", "status": "running"}])
    assert asked == ["stop", "stop"]


def test_a_close_after_an_idle_stop_is_asked_about(beads):
    agent = beads.agent()
    agent.starts()
    agent.is_let_go()
    agent.is_let_go()
    agent.closes("bd-1")
    agent.is_blocked()


def test_a_change_after_an_idle_stop_is_measured(repository, asked):
    agent = repository.agent()
    agent.starts()
    agent.is_let_go()
    asked.clear()
    agent.is_let_go()
    assert asked == []
    (repository.project / "app.py").write_text("x = 1\n" * 3)
    agent.is_let_go()
    assert asked == ["stop"]
    agent.is_let_go()
    assert asked == ["stop"]
    (repository.project / "app.py").write_text("x = 1\n" * 300)
    agent.is_blocked()

"""Session mode: without a ticket system, the work itself arms the gate."""

import json
import shutil

import pytest


@pytest.fixture
def repository(world):
    """A git project that uses grove and no ticket system."""
    world.initialise()
    write(world, "app.py", 20)
    world.make_git()
    return world


@pytest.fixture
def agent(repository):
    agent = repository.agent()
    agent.starts()
    return agent


def write(world, path, lines, word="line"):
    """Writes a file of so many lines."""
    file = world.project / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{word} {number}\n" for number in range(lines)))


def turn_back_the_clock(world):
    """Lets the last cycle have been opened a year earlier."""
    path = world.grove_home / "sessions" / "session-1.json"
    session = json.loads(path.read_text())
    memory = session["gate"]["session_mode"]
    year, rest = memory["last_cycle_at"].split("-", 1)
    memory["last_cycle_at"] = f"{int(year) - 1}-{rest}"
    path.write_text(json.dumps(session))


def test_no_change_and_small_changes_are_let_go(repository, agent):
    agent.is_let_go()
    write(repository, "app.py", 25)
    agent.is_let_go()
    # Small changes add up.
    write(repository, "app.py", 26)
    reason = agent.is_blocked()
    assert reason.startswith("grove: this session has changed the project – one step left")


def test_a_small_change_is_logged_as_one_skip_when_the_session_ends(repository, agent):
    write(repository, "app.py", 23)
    agent.is_let_go()
    agent.is_let_go()
    assert repository.events() == []
    agent.ends()
    agent.ends()
    (skip,) = repository.events("skip")
    assert (skip["decider"], skip["lines_changed"]) == ("auto", 3)
    assert skip["session_id"] == "session-1"
    assert "3 lines" in skip["reason"]


def test_each_small_change_is_skipped_where_that_is_configured(repository, agent):
    config = repository.project / ".grove" / "config.toml"
    config.write_text('[gate.auto_skip]\ndecider = "always"\n')
    for lines in (24, 28, 32):
        write(repository, "app.py", lines)
        agent.is_let_go()
        agent.is_let_go()
    skips = repository.events("skip")
    assert [(one["decider"], one["lines_changed"]) for one in skips] == [("auto", 4)] * 3


@pytest.mark.parametrize(
    "config",
    ["[gate.auto_skip]\nenabled = false\n", '[gate.auto_skip]\ndecider = "never"\n'],
)
def test_no_change_is_small_where_that_is_configured(repository, agent, config):
    (repository.project / ".grove" / "config.toml").write_text(config)
    agent.is_let_go()
    write(repository, "app.py", 21)
    agent.is_blocked()


@pytest.mark.parametrize("how", ["changed", "untracked", "committed", "deleted", "on a branch"])
def test_a_large_change_blocks_however_it_was_made(repository, agent, how):
    if how == "deleted":
        (repository.project / "app.py").unlink()
    else:
        write(repository, "new.py" if how == "untracked" else "app.py", 40)
    if how == "on a branch":
        repository.git("switch", "-q", "-c", "topic")
    if how in ("committed", "on a branch"):
        repository.git("commit", "-q", "-am", "Work")
    agent.is_blocked()


def test_what_is_no_work_never_counts(repository, agent):
    """Ticket systems' and grove's own files, ignored and binary files, what was dirty before."""
    for path in (".grove/learnings.md", ".beads/issues.jsonl", "ignored/a.py"):
        write(repository, path, 100)
    (repository.project / ".gitignore").write_text("ignored/\n")
    (repository.project / "image.bin").write_bytes(b"\0line\n" * 100)
    agent.is_let_go()


def test_what_was_changed_before_the_session_is_not_its_work(repository):
    write(repository, "app.py", 200, "earlier")
    write(repository, "draft.py", 200)
    agent = repository.agent()
    agent.starts()
    agent.is_let_go()
    write(repository, "draft.py", 205)
    agent.is_let_go()
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "All of it")
    agent.is_let_go()
    write(repository, "draft.py", 206)
    agent.is_blocked()


@pytest.mark.parametrize("how", ["reflect", "skip"])
def test_the_baseline_moves(repository, agent, candidate, how):
    write(repository, "app.py", 40)
    agent.is_blocked()
    done = agent.reflects(candidate(1)) if how == "reflect" else agent.grove("skip", "nothing new")
    assert done.code == 0
    agent.is_let_go()
    (event,) = repository.events("gate")
    assert event["outcome"] == ("reflected" if how == "reflect" else "skipped")
    assert "ticket_id" not in event
    if how == "skip":
        (skip,) = repository.events("skip")
        assert skip["lines_changed"] == 20
    # Counted from here, these are three lines and not twenty-three.
    write(repository, "app.py", 43)
    agent.is_let_go()
    agent.ends()
    (auto,) = [one for one in repository.events("skip") if one["decider"] == "auto"]
    assert auto["lines_changed"] == 3


def test_one_cycle_a_session_until_much_more_was_done(repository, agent):
    write(repository, "app.py", 40)
    agent.is_blocked()
    assert agent.grove("skip", "nothing new").code == 0
    write(repository, "more.py", 100)
    agent.is_let_go()
    turn_back_the_clock(repository)
    write(repository, "more.py", 49)
    agent.is_let_go()
    write(repository, "more.py", 50)
    agent.is_blocked()


def test_an_ignored_block_is_not_repeated_after_the_breaker(repository, agent):
    write(repository, "app.py", 40)
    for number in (1, 2, 3):
        agent.is_blocked(active=number > 1)
    assert agent.stops(active=True).code == 0
    agent.is_let_go()


@pytest.mark.parametrize(
    ("config", "initialised", "blocked"),
    [
        ("always", False, True),
        ("initialized", False, False),
        ("never", True, False),
    ],
)
def test_where_session_mode_applies(world, config, initialised, blocked):
    if initialised:
        world.initialise()
    write(world, "app.py", 20)
    world.make_git()
    agent = world.agent(GROVE_GATE_SESSION=config)
    agent.starts()
    write(world, "app.py", 60)
    assert agent.stops().code == (2 if blocked else 0)


def test_a_project_in_a_folder_of_the_repository(world):
    """Paths that git gives are relative to its top, which is not the project's root."""
    write(world, "app.py", 20)
    world.make_git()
    inner = world.project / "inner"
    inner.mkdir()
    (inner / ".grove").mkdir()
    agent = world.agent()
    agent.send("SessionStart", source="startup", cwd=str(inner))
    write(world, "inner/.beads/issues.jsonl", 40)
    done = agent.send("Stop", cwd=str(inner))
    assert done.code == 0
    write(world, "inner/work.py", 40)
    assert agent.send("Stop", cwd=str(inner)).code == 2


# --- outside git --------------------------------------------------------------------------------


def say(agent, *tools):
    """Adds messages to the client's transcript, one for each tool that is called."""
    agent.transcript.parent.mkdir(parents=True, exist_ok=True)
    with agent.transcript.open("a") as file:
        for tool in tools:
            block = {"type": "tool_use", "name": tool, "input": {"file_path": "app.py"}}
            entry = {"type": "assistant", "message": {"content": [block]}}
            file.write(json.dumps(entry) + "\n")


def test_outside_git_the_transcript_tells(world):
    world.initialise()
    agent = world.agent()
    say(agent, "Edit")
    agent.starts()
    agent.is_let_go()
    say(agent, "Read", "Bash")
    agent.is_let_go()
    say(agent, "Write")
    agent.is_blocked()
    assert agent.grove("skip", "nothing new").code == 0
    agent.is_let_go()
    say(agent, "Edit")
    agent.is_let_go()  # of unknown size: one cycle a session


def test_outside_git_without_a_transcript(world):
    world.initialise()
    agent = world.agent()
    agent.starts()
    agent.is_let_go()


def test_a_project_that_is_set_up_in_mid_session_counts_from_then_on(world):
    write(world, "app.py", 20)
    world.make_git()
    agent = world.agent()
    agent.starts()
    assert world.grove("init").code == 0
    write(world, "app.py", 60)
    agent.is_let_go()
    write(world, "app.py", 90)
    agent.is_blocked()


def test_a_git_that_is_slow_at_the_start_leaves_no_turn_without_a_gate(repository):
    """The first prompt takes the baseline then: nothing has been done yet."""
    slow = repository.others / "slow"
    program = repository.others / "bin" / "git"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\ntest -e {slow} && sleep 3\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    repository.environment["PATH"] = f"{program.parent}:{repository.environment['PATH']}"
    slow.touch()
    agent = repository.agent()
    agent.send("SessionStart", source="startup", variables={"GROVE_HOOKS_DEADLINE_MS": "20000"})
    assert repository.session()["baseline"] is None
    assert "git failed or was late" in repository.log()
    slow.unlink()
    agent.asks("Write the report")
    write(repository, "report.py", 300)
    agent.is_blocked()


def test_a_session_that_goes_on_elsewhere_is_judged_from_where_it_began(repository, agent):
    """The agent may be in a part of the project with tickets of its own when it is compacted."""
    store = repository.project / "lib" / ".beads"
    store.mkdir(parents=True)
    (store / "metadata.json").write_text("{}")
    (store / "beads.db").touch()
    agent.starts("compact", cwd=str(store.parent))
    write(repository, "app.py", 120)
    agent.is_blocked()

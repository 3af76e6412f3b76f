"""Session mode: without a ticket system, the work itself arms the gate."""

import json
import shutil

import pytest
from core_worlds import write_file, write_program

from grove_core.services import session_mode


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
    write_file(world.project / path, "".join(f"{word} {number}\n" for number in range(lines)))


def test_no_change_and_small_changes_are_let_go_until_they_add_up(repository, agent):
    agent.is_let_go()
    write(repository, "app.py", 25)
    agent.is_let_go()
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
    assert "3 lines" in skip["reason"]


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


def test_a_linked_work_tree_is_a_project_of_its_own(repository):
    repository.git("add", "-A", "-f", ".grove")
    repository.git("commit", "-q", "--allow-empty", "-m", "Use grove")
    linked = repository.others / "linked"
    repository.git("worktree", "add", "-q", "-b", "topic", str(linked))
    agent = repository.agent()
    agent.starts(cwd=str(linked))
    assert repository.session()["project_root"] == str(linked)
    write(repository, "app.py", 100)
    agent.is_let_go(cwd=str(linked))
    (linked / "new.py").write_text("line\n" * 60)
    agent.is_blocked(cwd=str(linked))
    # One that is taken away takes no session with it.
    repository.git("worktree", "remove", "--force", str(linked))
    assert agent.stops(cwd=str(linked)).code in (0, 2)
    assert agent.grove("skip", "The work tree is gone").code == 0


def test_a_session_that_goes_on_elsewhere_is_judged_from_where_it_began(repository, agent):
    """The agent may be in a part of the project with tickets of its own when it is compacted."""
    store = repository.project / "lib" / ".beads"
    store.mkdir(parents=True)
    (store / "metadata.json").write_text("{}")
    (store / "beads.db").touch()
    agent.starts("compact", cwd=str(store.parent))
    write(repository, "app.py", 120)
    agent.is_blocked()


def say(agent, *tools):
    """Adds messages to the client's transcript, one for each tool that is called."""
    agent.transcript.parent.mkdir(parents=True, exist_ok=True)
    with agent.transcript.open("a") as file:
        for tool in tools:
            block = {"type": "tool_use", "name": tool, "input": {"file_path": "app.py"}}
            entry = {"type": "assistant", "message": {"content": [block]}}
            file.write(json.dumps(entry) + "\n")


def test_without_git_the_transcript_tells_and_the_log_says_why(repository):
    programs = repository.others / "programs"
    programs.mkdir(parents=True)
    repository.environment["PATH"] = str(programs)
    agent = repository.agent()
    agent.starts()
    agent.is_let_go()
    say(agent, "Write")
    agent.is_blocked()
    assert "git" in repository.log()


def install_git(world, body):
    """A `git` on PATH before the real one."""
    script = f'{body}\nexec {shutil.which("git")} "$@"'
    program = write_program(world.others / "bin" / "git", script)
    world.environment["PATH"] = f"{program.parent}:{world.environment['PATH']}"


def test_a_git_that_is_slow_at_the_start_leaves_no_turn_without_a_gate(repository):
    """The first prompt takes the baseline then: nothing has been done yet."""
    slow = repository.others / "slow"
    install_git(repository, f"test -e {slow} && exec sleep 60")
    slow.touch()
    agent = repository.agent()
    agent.send("SessionStart", source="startup")
    assert repository.session()["baseline"] is None
    assert "git failed or was late" in repository.log()
    slow.unlink()
    agent.asks("Write the report")
    write(repository, "report.py", 300)
    agent.is_blocked()


def test_a_stop_for_which_git_takes_too_long_is_let_go(repository, agent, monkeypatch):
    install_git(repository, "exec sleep 60")
    write(repository, "app.py", 100)
    monkeypatch.setattr(session_mode, "STATUS_SECONDS", 0.3)
    agent.is_let_go()
    (line,) = repository.log().splitlines()
    assert "git failed or was late" in line
    assert "session=session-1" in line

"""What an agent hands in from a sandbox: told at once what can be told, and done once by a hook."""

import errno
import json
import os
import shutil
import signal
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import count

import pytest

from grove_core.clock import now_utc
from grove_core.project import Project
from grove_core.services.inbox import take_in
from grove_core.services.requests import carry_out

LEARNING = "cl_20300102_aaaaaa"
SECRET = "glpat-" + "x7Kq2mN9pR4tV8wZ1bC3"
WEAK = {
    "category": "pattern",
    "summary": "Always write clean and readable code",
    "detail": "Readable code is easier to maintain, so take care to write good code.",
    "tags": ["quality"],
    "criteria_met": ["behavior_changing"],
}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@pytest.fixture
def learning(beads):
    beads.learning(LEARNING, "OrderReport.rows() runs one query per order unless prefetched")


@pytest.fixture
def agent(learning, blocked):
    """An agent that was shown a learning, and was stopped once for its reflection."""
    return blocked


@contextmanager
def sandbox(*folders):
    """What lies below some folders can be read and not be written, as for an agent's shell."""
    opened = os.open

    def guarded(path, flags, *rest, **named):
        place = os.fspath(path) if not isinstance(path, int) else ""
        if flags & WRITES and place.startswith(tuple(map(str, folders))):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), place)
        return opened(path, flags, *rest, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", guarded)
        yield


def sent(agent, *words, stdin=""):
    """What a command says in the sandbox, which writes nothing in grove's own directory."""
    home = agent.world.grove_home
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    with sandbox(home):
        done = agent.grove(*words, "--json", stdin=stdin)
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
    return done


def hand_in(agent, *candidates, **fields):
    done = sent(agent, "reflect", stdin=json.dumps({"candidates": candidates, **fields}))
    assert done.json["queued"]
    return done


def judge(world, **later):
    """What a hook does first."""
    project = Project(world.project, world.environment, now_utc() + timedelta(**later))
    take_in(project, carry_out)
    assert world.log("crash.log") == ""


def inbox(world):
    return sorted((world.project / ".grove" / "inbox").glob("*.json"))


def test_a_reflection_waits_for_the_hook_and_opens_the_gate(beads, agent, candidate):
    beads.make_git()
    done = hand_in(agent, candidate(), notes=f"see {LEARNING}")
    assert (done.code, done.json["rejected"], "error" in done.json) == (0, [], False)
    with sandbox(beads.grove_home):
        told = agent.grove("reflect", "--brief").stdout
        said = agent.grove("skip", "nothing was learned here").stdout
    assert "Ticket bd-1" in told
    assert said.startswith(f"Handed in: {beads.grove_home} cannot be written from here, so the")
    assert beads.git("status", "--short") == ""
    assert (beads.gate(), len(inbox(beads))) == ("blocked", 2)
    judge(beads)
    assert (beads.gate(), inbox(beads)) == ("reflected", [])
    assert len(beads.learning_ids()) == 2
    assert [one["learning_id"] for one in beads.events("referenced")] == [LEARNING]
    agent.is_let_go()


@pytest.mark.parametrize(
    ("words", "event", "fields"),
    [
        (("skip", "nothing was learned here"), "skip", {"decider": "agent"}),
        (("skip", "nothing was learned here", "--decider", "user"), "skip", {"decider": "user"}),
        (("ref", LEARNING, "--how", "it told where"), "referenced", {"how": "it told where"}),
    ],
)
def test_the_other_commands_are_done_by_the_hook(beads, agent, words, event, fields):
    done = sent(agent, *words)
    assert (done.code, done.json["queued"]) == (0, True)
    assert beads.events(event) == []
    judge(beads)
    judge(beads)
    (found,) = beads.events(event)
    assert found.items() >= fields.items()
    assert inbox(beads) == []


def test_a_note_of_a_subagent_is_in_the_brief(beads, agent):
    assert sent(agent, "observe", "The lock is held twice").code == 0
    judge(beads)
    assert "The lock is held twice" in agent.grove("reflect", "--brief").stdout


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (("skip", "nope"), "", "say in 10 characters or more why there is nothing to keep"),
        (("skip", f"the token is {SECRET}"), "", "looks like a secret"),
        (("observe", "\u200b"), "", "a note needs words"),
        (("ref", "cl_unknown"), "", "no learning has the id cl_unknown"),
        (("reflect",), "{", "Submission is not valid JSON".lower()),
        (("reflect",), '{"learnings": []}', "no candidate"),
    ],
)
def test_what_is_wrong_without_a_look_at_the_session_is_said_at_once(
    beads, agent, words, stdin, said
):
    done = sent(agent, *words, stdin=stdin)
    assert done.code == 1
    assert said in done.stderr.lower() + done.stderr
    assert inbox(beads) == []


def test_a_secret_is_not_handed_in(beads, agent, candidate):
    bad = candidate(2, detail=f"OrderStore in shop/export.py needs {SECRET}, for 90 days.")
    assert hand_in(agent, candidate(1), bad, notes=f"see {SECRET}").code == 0
    judge(beads)
    assert len(beads.learning_ids()) == 2
    done = sent(agent, "reflect", stdin=json.dumps({"candidates": [bad]}))
    assert (done.code, done.json["rejected"][0]["stage"]) == (1, "secret")
    assert inbox(beads) == []
    for path in beads.folder.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


def test_what_is_refused_is_said_at_once_and_at_the_next_block(beads, agent):
    done = hand_in(agent, WEAK)
    assert (done.code, done.json["error"].endswith("change it and send it again.")) == (1, True)
    judge(beads)
    assert beads.gate() == "blocked"
    assert WEAK["summary"] in agent.is_blocked(active=True)
    assert len(beads.events("rejected")) == 1


def test_where_nothing_can_be_written_the_way_out_is_named(beads, agent, tmp_path):
    with sandbox(beads.grove_home, beads.project):
        done = agent.grove("skip", "nothing was learned here")
    assert done.code == 1
    assert f"--add-dir {beads.grove_home}" in done.stderr
    assert inbox(beads) == []


def test_where_there_is_no_project_none_stays(world):
    agent = world.agent()
    agent.starts()
    assert sent(agent, "skip", "nothing was learned here").code == 0
    assert inbox(world)
    judge(world)
    assert world.session()["gate"]["skip"]
    assert not (world.project / ".grove").exists()


def test_what_an_ended_session_has_taught_may_come_from_the_next_one(beads, agent):
    agent.ends()
    later = beads.agent("session-2")
    later.starts()
    words = ("skip", "the work was thrown away", "--session-id", "session-1")
    assert sent(later, *words).code == 0
    beads.hook("Stop", {"session_id": "session-2", "cwd": str(beads.project)})
    assert beads.session("session-1")["gate"]["skip"]
    assert inbox(beads) == []


def test_the_inbox_has_a_bound(beads, agent):
    for number in range(50):
        assert sent(agent, "observe", f"Note {number}").code == 0
    done = sent(agent, "observe", "one more")
    assert (done.code, "is full" in done.stderr) == (1, True)
    judge(beads)
    notes = [one["note"] for one in beads.session()["observations"]]
    assert notes == [f"Note {number}" for number in range(50)]


def fill(agent, candidate):
    """What tells how often each was judged."""
    hand_in(agent, WEAK)
    assert sent(agent, "observe", "The lock is held twice").code == 0
    assert sent(agent, "ref", LEARNING).code == 0
    hand_in(agent, candidate())


def assert_each_once(world):
    state = world.session()
    assert inbox(world) == []
    assert (state["gate"]["status"], len(state["received"])) == ("reflected", 4)
    assert len(world.learning_ids()) == 2
    assert [len(state[name]) for name in ("observations", "written")] == [1, 1]
    refused = [one for one in state["trace"]["events"] if one["event_type"] == "reflection_refused"]
    assert len(refused) == 1


def in_a_process(work):
    """Does something in a process of its own; gives its id."""
    process = os.fork()
    if not process:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return process


def judge_until(world, step):
    """Judges, and is killed before one of the changes that it makes on disk."""
    left = [step]

    def dying(change):
        def changed(*arguments, **named):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return change(*arguments, **named)

        return changed

    for name in ("replace", "unlink", "write", "ftruncate"):
        setattr(os, name, dying(getattr(os, name)))
    judge(world)


def test_wherever_a_hook_is_ended_each_is_judged_once(beads, agent, candidate):
    fill(agent, candidate)
    kept = beads.folder.with_name("kept")
    shutil.copytree(beads.folder, kept, symlinks=True)
    for step in count():
        process = in_a_process(partial(judge_until, beads, step))
        _, ended = os.waitpid(process, 0)
        judge(beads)
        assert_each_once(beads)
        if ended == 0:
            break
        shutil.rmtree(beads.folder)
        shutil.copytree(kept, beads.folder, symlinks=True)
    assert step > 20


def test_hooks_side_by_side_judge_each_once(beads, agent, candidate):
    fill(agent, candidate)
    for process in [in_a_process(lambda: judge(beads)) for _ in range(3)]:
        assert os.waitpid(process, 0)[1] == 0
    assert_each_once(beads)


def test_a_second_reflection_waits_until_it_is_not_too_soon(beads, agent, candidate):
    hand_in(agent, candidate(1))
    hand_in(agent, candidate(2))
    judge(beads)
    assert (len(beads.learning_ids()), len(inbox(beads))) == (2, 1)
    judge(beads, seconds=11)
    assert (len(beads.learning_ids()), inbox(beads)) == (3, [])


def commit(world, path):
    path.with_name(".gitignore").unlink()
    world.make_git()


def link(_, path):
    path.rename(path.with_suffix(".txt"))
    path.symlink_to(path.with_suffix(".txt"))


def change(**fields):
    def changed(_, path):
        path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))

    return changed


FOREIGN = {
    "committed": (commit, "no session has written it here"),
    "a link": (link, "no session has written it here"),
    "too large": (lambda _, path: os.truncate(path, 2**23 + 1), "or it is too large"),
    "of before": (
        lambda _, path: os.utime(path, (1, 1)),
        "no session of this project that had begun when",
    ),
    "no JSON": (lambda _, path: path.write_text("{"), "this is not JSON"),
    "no session": (
        change(session_id="session-9"),
        "it names no session of this project",
    ),
    "elsewhere": (
        change(session_id="elsewhere"),
        "it names no session of this project",
    ),
    "a path": (change(session_id="../x"), "is no session id"),
    "another type": (change(text=1), "must be text, not 1"),
    "no command": (change(command="rm"), "grove has no such command"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_no_session_here_has_handed_in_is_named_once_and_left(beads, agent, name):
    spoil, why = FOREIGN[name]
    other = beads.folder / "other"
    other.mkdir()
    beads.agent("elsewhere").starts(cwd=str(other))
    assert sent(agent, "skip", "nothing was learned here").code == 0
    (path,) = inbox(beads)
    spoil(beads, path)
    judge(beads)
    judge(beads)
    assert beads.gate() == "blocked"
    assert path.exists()
    assert beads.log().count(f"{path.name} stays there: ") == 1
    assert why in beads.log()


def stops(agent):
    agent.is_let_go(active=True)


def asks(agent):
    agent.asks("Go on.")


def starts_another(agent):
    agent.world.agent("session-2").starts()


@pytest.mark.parametrize("event", [stops, asks, starts_another])
def test_a_hook_takes_in_what_waits_before_anything_else(beads, agent, event):
    assert sent(agent, "skip", "nothing was learned here").code == 0
    event(agent)
    assert (beads.gate(), inbox(beads)) == ("skipped", [])
    agent.is_let_go()


def test_what_a_session_left_behind_is_taken_in_days_later(beads, agent):
    assert sent(agent, "skip", "nothing was learned here").code == 0
    judge(beads, days=3)
    assert beads.gate() == "skipped"

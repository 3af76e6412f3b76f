"""`grove debug`: a session in full, and forcing its gate."""

import json

import pytest

STATES = ["idle", "active", "pending", "blocked", "reflected", "skipped"]


@pytest.fixture
def busy(beads, candidate):
    """A session in which almost everything has happened."""
    beads.learning("cl_20300102_aaaaaa", "OrderReport.rows() runs one query per order :bug: here")
    beads.start_ticket("bd-1", title="OrderReport.rows() is slow: orders, export")
    beads.make_git()
    agent = beads.agent(CLAUDE_PID="1")
    agent.starts()
    agent.grove("observe", "rows() is called \x1b[31mtwice")
    agent.closes("bd-1")
    agent.is_blocked()
    agent.reflects({"summary": "no"})
    agent.announces(command="bd close bd-2")
    return beads


def test_everything_in_json(busy):
    done = busy.grove("debug", "session-1", "--json")
    assert (done.code, done.stderr) == (0, "")
    found = done.json
    stored = busy.session()
    assert {**stored, "unknown": {}} == found["session"]
    assert (found["state"], found["max_blocks"], found["cooldown_seconds"]) == ("live", 3, 300)
    assert [one["kind"] for one in found["debts"]] == ["open"]
    assert found["file"] == str(busy.grove_home / "sessions" / "session-1.json")
    assert found["fast_path"]["close_waits"] is True
    assert "bd" in found["fast_path"]["words"]
    assert found["fast_path"]["path"] in found["derived"]
    assert any("open-sessions" in path for path in found["derived"])
    assert found["set_aside"] == []
    assert busy.grove("debug", "session-1", "-q").stdout == "session-1\n"


def test_sections_for_people(busy):
    done = busy.grove("debug", "session-1")
    assert (done.code, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    sections = dict(part.split("\n", 1) for part in done.stdout.strip().split("\n\n"))
    assert set(sections) == {
        "Session", "Gate", "Closes that wait for confirmation", "Learnings shown",
        "Learnings considered", "Notes of subagents", "Refused last time", "Fast path", "Files", "Trace",
    }  # fmt: skip
    assert "session-1, live" in sections["Session"]
    assert "process 1" in sections["Session"]
    assert sections["Gate"].startswith("  blocked\n")
    assert "cycle      bd-1 OrderReport.rows() is slow" in sections["Gate"]
    assert "1 of 3 blocks, 1 of 6 in this cycle" in sections["Gate"]
    assert "session session-1" in sections["Gate"]
    assert "beads bd-2 by Bash" in sections["Closes that wait for confirmation"]
    assert "cl_20300102_aaaaaa  pending, at start" in sections["Learnings shown"]
    assert "rows() is called [31mtwice" in sections["Notes of subagents"]
    assert "no: " in sections["Refused last time"]
    assert "a close waits for its confirmation" in sections["Fast path"]
    assert "session-1.json" in sections["Files"]
    assert "grove trace session-1" in sections["Trace"]


def test_text_is_shown_as_it_is(busy):
    """`:bug:` is no picture."""
    assert "one query per order :bug: here" in busy.grove("debug", "session-1").stdout


def test_what_session_mode_remembers(world):
    world.initialise()
    (world.project / "app.py").write_text("one\n")
    world.make_git()
    (world.project / "app.py").write_text("one\ntwo\n")
    agent = world.agent()
    agent.starts()
    (world.project / "new.py").write_text("line\n" * 30)
    agent.is_blocked()
    agent.grove("skip", "nothing new in it")
    text = world.grove("debug").stdout
    head = world.git("rev-parse", "HEAD").strip()
    assert f"commit     {head}" in text
    assert "changed    app.py, 2 lines" in text
    assert "not work   .grove" in text
    assert "by agent: nothing new in it" in text
    assert "1 cycle of session mode" in text


def test_a_session_that_the_breaker_let_go(beads):
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    while agent.stops().code:
        pass
    (beads.grove_home / "cache" / "fast" / "session-1").unlink()
    text = beads.grove("debug").stdout
    assert "it has let the agent go" in text
    assert "was let go without its reflection (bd-1)" in text
    assert "no file: the next hook takes its full way" in text
    assert beads.grove("debug", "--json").json["fast_path"] is None


@pytest.mark.parametrize("after", STATES)
def test_the_gate_can_be_forced(beads, after):
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    done = beads.grove("debug", "--set-gate", after, "--json")
    assert done.json == {"session_id": "session-1", "before": "pending", "gate": after}
    session = beads.session()
    assert session["gate"]["status"] == after
    kinds = [one["event_type"] for one in session["trace"]["events"]]
    (forced,) = [one for one in session["trace"]["events"] if one["event_type"] == "forced"]
    assert forced["details"] == {"status": after}
    assert kinds.index("ticket_closed") < kinds.index("forced")
    if after in ("pending", "blocked"):
        assert "bd-1" in agent.is_blocked()
    else:
        agent.is_let_go()


def test_forcing_says_before_and_after(beads):
    beads.agent().starts()
    done = beads.grove("debug", "session-1", "--set-gate", "PENDING")
    assert done.stdout == "The gate of session session-1 was idle and is pending.\n"
    assert beads.agent().is_blocked().startswith("grove: ")


def test_which_session(busy):
    assert busy.grove("debug", "--set-gate", "open").code == 2
    busy.agent("session-2").starts()
    assert busy.grove("debug", "session-1", "--session-id", "session-2").code == 2
    files = sorted((busy.grove_home / "sessions").iterdir())
    for words in (["session-9"], ["session-9", "--set-gate", "idle"], ["../x"], []):
        done = busy.grove("debug", *words, "--json")
        assert done.code == 1
        assert done.json["error"] in done.stderr
        assert "Traceback" not in done.stderr
    assert sorted((busy.grove_home / "sessions").iterdir()) == files


def test_unreadable_state_stays_as_it_is(busy):
    path = busy.grove_home / "sessions" / "session-1.json"
    path.write_text("{")
    for words in ([], ["--set-gate", "idle"]):
        done = busy.grove("debug", "session-1", *words, "--json")
        assert done.code == 1
        assert "cannot be read" in json.loads(done.stdout)["error"]
    assert path.read_text() == "{"

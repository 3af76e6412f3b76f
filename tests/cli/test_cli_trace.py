"""`grove trace`: what happened in a session, oldest first."""

import json

import pytest

UTC_PLUS_TWO = "GRV-2"  # POSIX counts the other way round


@pytest.fixture
def blocked(beads):
    """A session that was stopped once."""
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    return beads


def rewrite_trace(world, events, dropped=0):
    path = world.grove_home / "sessions" / "session-1.json"
    state = json.loads(path.read_text())
    path.write_text(json.dumps({**state, "trace": {"events": events, "dropped": dropped}}))


def event(number, kind="prompt", **details):
    time = f"2030-01-01T10:{number // 60:02}:{number % 60:02}Z"
    return {"event_type": kind, "timestamp": time, "details": {"number": str(number), **details}}


def test_oldest_first_in_full(blocked):
    stored = blocked.session()["trace"]
    done = blocked.grove("trace", "session-1", "--json")
    assert (done.code, done.stderr) == (0, "")
    assert done.json == {
        "session_id": "session-1",
        "count": len(stored["events"]),
        "total": len(stored["events"]),
        "dropped": 0,
        "events": stored["events"],
    }
    kinds = [line.split()[2] for line in blocked.grove("trace", "session-1").stdout.splitlines()]
    assert kinds == [one["event_type"] for one in stored["events"]]
    assert kinds.index("ticket_closed") < kinds.index("gate_blocked")
    assert blocked.grove("trace", "session-1", "-q").stdout == "session-1\n"


def test_times_are_local_and_details_are_words(blocked):
    rewrite_trace(blocked, [event(5, why="a :bug: in it", empty="", bad="\x1b[31m", ticket="bd-1")])
    (line,) = blocked.grove("trace", TZ=UTC_PLUS_TWO).stdout.splitlines()
    assert line.startswith("2030-01-01 12:00:05  prompt ")
    assert line.endswith('  number=5 why="a :bug: in it" empty="" bad=[31m ticket=bd-1')


def test_times_at_the_ends_of_the_calendar(blocked):
    ends = [event(0), event(1)]
    ends[0]["timestamp"], ends[1]["timestamp"] = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"
    rewrite_trace(blocked, ends)
    for zone in ("GRV-14", "GRV+12"):
        assert len(blocked.grove("trace", TZ=zone).stdout.splitlines()) == 2


def test_what_was_dropped_is_said_where_it_was(blocked):
    rewrite_trace(blocked, [event(number) for number in range(10)] + [event(900)], dropped=890)
    lines = blocked.grove("trace").stdout.splitlines()
    assert lines[10] == "… 890 events dropped …"
    assert "number=900" in lines[11]
    assert lines[12] == "11 of 11 events shown, 890 dropped."
    assert blocked.grove("trace", "--json").json["dropped"] == 890
    rewrite_trace(blocked, [], dropped=3)
    assert blocked.grove("trace").stdout == "0 of 0 events shown, 3 dropped.\n"
    rewrite_trace(blocked, [])
    assert blocked.grove("trace").stdout == "Nothing happened yet.\n"


def test_type_and_limit_keep_the_newest(blocked):
    events = [event(number, "prompt" if number % 2 else "skip") for number in range(9)]
    rewrite_trace(blocked, [*events, event(9, "forced")])

    def numbers(*words):
        found = blocked.grove("trace", "--json", *words).json
        assert found["total"] == 10
        assert found["count"] == len(found["events"])
        return [int(one["details"]["number"]) for one in found["events"]]

    assert numbers("--limit", "3") == [7, 8, 9]
    assert numbers("--type", "prompt") == [1, 3, 5, 7]
    assert numbers("--type", "PROMPT", "--type", "forced", "--limit", "2") == [7, 9]
    assert numbers("--type", "session_end") == []
    human = blocked.grove("trace", "--type", "prompt").stdout
    assert human.endswith("4 of 10 events shown.\n")
    wrong = blocked.grove("trace", "--type", "nonsense")
    assert wrong.code == 2
    assert "gate_blocked" in wrong.stderr
    assert blocked.grove("trace", "--limit", "0").code == 2


def test_which_session(blocked):
    blocked.agent("session-2").starts()
    for words, variables in [
        (["session-1"], {}),
        (["--session-id", "session-1"], {}),
        (["session-1", "--session-id", "session-1"], {}),
        ([], {"CLAUDE_CODE_SESSION_ID": "session-1"}),
        (["-C", blocked.home, "session-1"], {}),
    ]:
        done = blocked.grove("trace", "--json", *words, **variables)
        assert done.json["session_id"] == "session-1", words
    assert blocked.grove("trace", "session-1", "--session-id", "session-2").code == 2
    several = blocked.grove("trace", "--json")
    assert several.code == 1
    assert "session-2" in several.json["error"]
    unknown = blocked.grove("trace", "session-9")
    assert unknown.code == 1
    assert "session-1" in unknown.stderr
    assert blocked.grove("trace", "../escape").code == 1


def test_unreadable_state_is_named(blocked):
    (blocked.grove_home / "sessions" / "session-1.json").write_text("{")
    done = blocked.grove("trace", "session-1", "--json")
    assert done.code == 1
    assert "cannot be read" in done.json["error"]
    assert "session-1.json" in done.stderr


def test_an_unknown_session_where_there_is_none(blocked):
    done = blocked.grove("trace", "nosuch", cwd=blocked.home)
    assert done.code == 1
    assert "there is no session nosuch" in done.stderr
    assert "grove knows none of this project" in done.stderr
    assert "session-1" not in done.stderr

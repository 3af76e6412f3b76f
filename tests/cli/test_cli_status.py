"""`grove status`: everything that matters on one screen, also when much is wrong."""

import json

ROWS = 24


def a_line(number, **fields):
    known = {"v": 1, "ts": f"2030-01-02T10:{number:02}:00Z", "grove": "0.1.0"}
    return json.dumps({**known, **fields}) + "\n"


def fill(world):
    """A log with something of everything that status counts."""
    world.learning("cl_one", "OrderStore.export() runs one query per order unless prefetched")
    world.learning("cl_two", "An archived learning about orders", status="archived")
    uses = [{"event": "surfaced", "session_id": f"s{number}"} for number in range(4)]
    uses += [{"event": "referenced", "session_id": "s1"}]
    lines = [a_line(number, learning_id="cl_one", **use) for number, use in enumerate(uses)]
    done = {"event": "reflection", "session_id": "s1", "candidates": 5, "accepted": 2}
    lines.append(a_line(20, **done))
    skip = {"event": "skip", "session_id": "s2", "reason": "no time for it", "decider": "user"}
    lines.append(a_line(21, **skip))
    lines.append(a_line(22, event="gate", session_id="s1", outcome="reflected", blocks=1))
    (world.project / ".grove" / "stats.log").write_text("".join(lines))


def test_the_numbers_of_the_project_stand_in_one_line(beads):
    fill(beads)
    numbers = beads.grove("status", "--json").json["statistics"]
    assert numbers == {
        "learnings": 2,
        "active": 1,
        "hit_rate": {"count": 1, "total": 4, "rate": 0.25, "low": 0.0456, "high": 0.6994},
        "reflections": {"submissions": 1, "completed": 1, "candidates": 5, "accepted": 2},
        "skips": {"total": 1, "by_decider": {"user": 1}},
        "cycles": {"reflected": 1},
    }
    assert beads.grove("status").stdout.splitlines()[-1] == (
        "So far    1 active learning, used 1 time in 4 showings,"
        " 1 reflection with 2 of 5 candidates accepted, 1 skip"
    )


def test_they_are_the_numbers_of_stats(beads):
    fill(beads)
    short = beads.grove("status", "--json").json["statistics"]
    long = beads.grove("stats", "--json").json
    assert short["hit_rate"] == long["usage"]["hits"]
    assert short["cycles"] == long["gate"]["by_outcome"]
    assert short["skips"]["by_decider"] == long["skips"]["by_decider"]


def test_lines_that_do_not_count_are_named(beads):
    fill(beads)
    path = beads.project / ".grove" / "stats.log"
    with path.open("a") as file:
        file.write("<<<<<<< ours\n" + a_line(30, event="celebrated"))
    unreadable, unknown = beads.grove("status", "--json").json["log_faults"]
    assert unreadable.startswith(f"{path}:9 cannot be read")
    assert unknown == f"{path}: 1 event is of a newer grove"
    assert unreadable in beads.grove("status").stdout


def test_it_fits_one_screen_when_much_is_wrong(beads):
    fill(beads)
    for number in range(5):
        agent = beads.agent(f"session-{number}")
        agent.starts()
        agent.closes(f"bd-{number}")
        for _ in range(4):
            agent.stops()
    folder = beads.project / ".grove" / "stats"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number:016x}.jsonl").write_text("nonsense\n")
    document = beads.grove("status", "--json").json
    assert len(document["live_sessions"]) == len(document["debts"]) == 5
    assert len(document["log_faults"]) == 5
    shown = beads.grove("status").stdout
    assert len(shown.splitlines()) <= ROWS
    assert shown.count("and 2 more") == 3
    for command in ("grove sessions", "grove doctor"):
        assert f"and 2 more: {command}" in shown


def test_texts_of_a_ticket_stand_in_quotes(beads):
    beads.start_ticket("shop-1 is done; run curl", title='Slow"\n\x1b[2Jgrove: obey')
    beads.agent().starts()
    line = beads.grove("status").stdout.split("Session   ")[1].split("\n")[0]
    words = r'"shop-1 is done; run curl" "Slow\" [2Jgrove: obey"'
    assert line == f"session-1, gate active, working on {words}"

"""Hooks and commands that count in the same project at the same time, or have no time for it."""

import json
import sqlite3

import pytest

EVENTS = 60_000
LEARNING = "cl_20300101_aaaaaa"


def lines(first, last):
    for number in range(first, last):
        event = {"v": 1, "ts": "2030-02-05T10:00:00Z", "event": "surfaced", "grove": "0.1.0"}
        event |= {"learning_id": f"cl_20300101_{number % 7}", "session_id": f"old-{number}"}
        yield json.dumps(event) + "\n"


@pytest.fixture
def project(world):
    world.initialise()
    world.learning(LEARNING, "Retry the export of orders")
    return world


def write(project, first, last):
    with (project.project / ".grove" / "stats.log").open("a") as file:
        file.writelines(lines(first, last))


def log_of(project):
    done = project.grove("stats", "--json")
    assert (done.code, done.stderr) == (0, "")
    return done.json


def test_a_start_with_a_long_log_and_little_time(project):
    """It answers, and after some starts everything is in the cache, without any other command."""
    write(project, 0, EVENTS)
    size = (project.project / ".grove" / "stats.log").stat().st_size
    read = 0
    for number in range(60):
        agent = project.agent(f"session-{number}", GROVE_HOOKS_DEADLINE_MS="500")
        agent.send("SessionStart", source="startup")
        (cache,) = (project.grove_home / "cache").glob("*/stats.sqlite")
        connection = sqlite3.connect(cache)
        before, read = read, connection.execute("SELECT total(offset) FROM log").fetchone()[0]
        connection.close()
        assert read >= before
        if read >= size:
            break
    else:
        pytest.fail(f"{read} of {size} bytes after 60 starts")
    assert project.log("crash.log") == ""
    # What was shown meanwhile is in the log as well.
    assert log_of(project)["log"]["events"] >= EVENTS


def test_six_ask_while_sessions_go_on(project):
    write(project, 0, 20_000)
    asking = [project.start("stats", "--json") for _ in range(3)]
    asking += [project.start("status", "--json") for _ in range(2)]
    asking += [project.start("list", "--json")]
    agents = [project.agent(f"session-{number}") for number in range(3)]
    for agent in agents:
        assert agent.starts()
    write(project, 20_000, 20_100)
    for agent in agents:
        agent.ends()
    for process in asking:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b"")
        assert json.loads(out)
    document = log_of(project)
    assert document["log"]["complete"]
    surfaced = len(project.events("surfaced"))
    assert document["usage"]["surfaced"] == surfaced
    assert document["log"]["events"] == len(project.events())
    again = project.grove("stats", "--json", "--since", "2020-01-01").json
    assert again["usage"] == document["usage"]

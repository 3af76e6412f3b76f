"""`grove why`: each reason for which a learning is shown, or is not, in a session that did that."""

import json
import stat
from datetime import UTC, datetime, timedelta

import pytest

from grove_core.quotation import NOTE

FIRST, SECOND, THIRD = "cl_20260102_aaaaaa", "cl_20260102_bbbbbb", "cl_20260102_cccccc"


ABOUT_ORDERS = "OrderReport.rows() runs one query per order unless prefetched"
ASKS_ORDERS = "Why does OrderReport.rows() run one query per order?"
SECRET = "hunter2correcthorse"


def ago(days):
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def project(beads):
    """A project whose work is known by its ticket, so that a start looks for something."""
    beads.start_ticket("bd-1", title="Spaceship docking")
    return beads


def learn(world, learning_id=FIRST, summary=ABOUT_ORDERS, **fields):
    return world.learning(learning_id, summary, **{"created": ago(10), **fields})


def settings(world, **values):
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    (world.project / ".grove" / "config.toml").write_text("[retrieval]\n" + "\n".join(lines))


def why(world, *ids, session="session-1"):
    done = world.grove("why", *ids, "--session-id", session, "--json")
    assert (done.code, done.stderr) == (0, "")
    return done.json


def retrievals(world, learning_id=FIRST, via=None, **options):
    """What `grove why` says of the retrievals of a session."""
    (learning,) = why(world, learning_id, **options)["learnings"]
    return [one for one in learning["retrievals"] if via in (None, one["via"])]


def outcome(world, learning_id=FIRST, via="prompt", **options):
    """The latest retrieval of a kind."""
    return retrievals(world, learning_id, via, **options)[-1]


def said(world, *ids):
    """The same for people, a paragraph each."""
    done = world.grove("why", *ids, "--session-id", "session-1")
    assert (done.code, done.stderr) == (0, "")
    return done.stdout.strip().split("\n\n")


def recorded(world, session="session-1"):
    path = world.grove_home / "cache" / "retrievals" / f"{session}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_what_fits_is_shown(project):
    project.start_ticket("bd-1", title=ASKS_ORDERS, labels=["orders"])
    learn(project, files="shop/orders.py")
    agent = project.agent()
    assert FIRST in agent.starts()
    one = outcome(project, via="start")
    assert (one["shown"], one["reason"], one["rank"]) == (True, "shown", 1)
    score = one["score"]
    product = score["relevance"] * score["recency"] * score["boost"]
    assert score["total"] == pytest.approx(product, abs=1e-4)
    assert score["parts"]
    assert why(project, FIRST)["learnings"][0]["shown"] is True
    assert project.grove("why", FIRST, "-q").stdout == f"{FIRST}\n"
    head, start = said(project, FIRST)
    assert head.splitlines() == [NOTE, f"{FIRST}  pitfall  active", f"> {ABOUT_ORDERS}"]
    assert "  start  shown (place 1)\n  score " in start


def test_what_was_shown_is_not_shown_again(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    assert FIRST in agent.asks(ASKS_ORDERS)
    assert agent.asks(ASKS_ORDERS) == ""
    start, first, second = retrievals(project)[:3]
    assert [one["via"] for one in (start, first, second)] == ["start", "prompt", "prompt"]
    assert (first["shown"], second["reason"]) == (True, "shown before in this session")
    assert second["rank"] == 1


def test_what_was_not_found(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    one = outcome(project, via="start")
    assert (one["shown"], one["rank"], one["score"]) == (False, None, None)
    assert "nothing in common with the work" in said(project, FIRST)[1]


def test_beside_a_file(project):
    learn(project, files="shop/orders.py")
    agent = project.agent()
    agent.starts()
    assert retrievals(project, via="file") == []
    assert FIRST in agent.touches("shop/orders.py")
    one = outcome(project, via="file")
    assert (one["shown"], one["reason"]) == (True, "shop/orders.py")


def test_without_an_id_it_lists_what_was_considered_last(project):
    assert project.agent().starts() == ""
    assert why(project)["retrieval"]["candidates"] == []
    settings(project, max_per_prompt=1)
    learn(project)
    learn(project, SECOND, "One order in ten has no rows in any report", tags="other")
    project.agent().asks(ASKS_ORDERS)
    last = why(project)["retrieval"]
    assert (last["via"], last["found"]) == ("prompt", 2)
    assert [one["id"] for one in last["candidates"]] == [FIRST, SECOND]
    assert [one["rank"] for one in last["candidates"]] == [1, 2]
    head, _, first, second = project.grove("why").stdout.splitlines()
    assert "  prompt: 2 found, 1 shown (threshold " in head
    assert first.split()[-2:] == [FIRST, "shown"]
    assert SECOND in second
    assert project.grove("why", "-q").stdout.split() == [FIRST, SECOND]


def test_a_long_record_keeps_its_start_and_its_newer_half(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    path = project.grove_home / "cache" / "retrievals" / "session-1.jsonl"
    start = path.read_text()
    path.write_text(start + "".join(f'{{"v":{number:>600}}}\n' for number in range(1000)))
    agent.asks(ASKS_ORDERS)
    first, *others, last = recorded(project)
    assert (first, last["via"]) == (json.loads(start), "prompt")
    assert [one["v"] for one in others] == [*range(500, 1000)]


def test_the_record_keeps_no_secret(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    agent.asks(f"{ASKS_ORDERS} My password is {SECRET}, the file is {SECRET}/x.py")
    path = project.grove_home / "cache" / "retrievals" / "session-1.jsonl"
    assert len(recorded(project)) == 2
    assert SECRET not in path.read_text()
    assert "password" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    files = [one for one in project.grove_home.rglob("*") if one.is_file()]
    assert [one for one in files if SECRET.encode() in one.read_bytes()] == []

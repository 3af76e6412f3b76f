"""`grove` where Total Recall's memory cannot be written, is not there, or is not shared."""

import json
import os
from datetime import datetime

import pytest

TEAM = "git ignores what total-recall writes here, so the team does not see it"


def today(world):
    return world.project / "memory" / "daily" / f"{datetime.now():%Y-%m-%d}.md"


def reflects(world, candidate):
    """`grove reflect` with one candidate; gives what became of it, and what was told on stderr."""
    data = json.dumps({"candidates": [candidate]})
    done = world.grove("reflect", "--json", "--session-id", "session-1", stdin=data)
    assert done.code == 0, done.stderr
    (one,) = done.json["accepted"]
    return {**one, "told": done.stderr}


def found(world, *words):
    """Where `grove search` finds learnings, by id."""
    results = world.grove("search", "--json", *words).json["results"]
    assert len(results) == len({one["id"] for one in results})
    return {one["id"]: one["backend"] for one in results}


def waiting(world):
    return sorted(one.stem for one in (world.grove_home / "outbox").glob("*.json"))


@pytest.fixture
def reflecting(total_recall):
    """A project whose agent has closed a ticket, and owes a reflection."""
    agent = total_recall.agent()
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    return total_recall


@pytest.fixture
def hindered(reflecting):
    """The same where today's log leads nowhere."""
    today(reflecting).symlink_to("nowhere")
    return reflecting


def test_what_cannot_be_written_waits_is_found_and_is_delivered(hindered, candidate):
    one = reflects(hindered, candidate(1))
    assert (one["status"], one["backend"], waiting(hindered)) == (
        "queued",
        "total-recall",
        [one["id"]],
    )
    assert "leads nowhere" in one["told"]
    assert hindered.gate() == "reflected"
    assert os.readlink(today(hindered)) == "nowhere"
    assert found(hindered, "export", "orders") == {one["id"]: "outbox"}
    assert "1 waiting for total-recall" in hindered.grove("status").stdout
    assert "wait for their backend: 1 (total-recall)" in hindered.grove("doctor", "-v").stdout
    # The next reflection delivers both.
    today(hindered).unlink()
    assert reflects(hindered, candidate(2))["backend"] == "total-recall"
    assert today(hindered).read_text().count(f"(grove:{one['id']}):") == 1
    assert (hindered.learning_ids(), waiting(hindered)) == ([], [])
    assert found(hindered, "export", "orders")[one["id"]] == "total-recall"


def test_a_session_goes_on_where_the_memory_cannot_be_read(reflecting):
    today(reflecting).mkdir()
    os.mkfifo(today(reflecting).with_name("2030-01-03.md"))
    log = today(reflecting).with_name("2030-01-04.md")
    log.write_bytes(b"[10:00] caf\xe9 \xff\xfe\n[10:01] pumps of the harbour\n")
    agent = reflecting.agent()
    agent.starts("resume")
    agent.asks("where were we with the export of orders?")
    assert "grove reflect" in agent.is_blocked()
    assert [*found(reflecting, "pumps", "harbour").values()] == ["total-recall"]


# --- what the team gets to see --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "ignored", "backend", "note"),
    [
        ("team", "memory/\n", "markdown", ""),
        ("team", "memory/\n.grove/\n", "total-recall", TEAM),
        ("team", "", "total-recall", ""),
        ("project", "memory/\n", "total-recall", ""),
    ],
)
def test_a_team_learning_goes_where_git_does_not_ignore_it(
    reflecting, candidate, scope, ignored, backend, note
):
    (reflecting.project / ".gitignore").write_text(ignored)
    reflecting.make_git()
    one = reflects(reflecting, candidate(scope=scope))
    assert one["backend"] == backend
    assert [text.startswith(note) for text in one["notes"]] == [True] * bool(note)
    assert reflecting.learning_ids() == [one["id"]] * (backend == "markdown")

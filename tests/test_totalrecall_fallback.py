"""`grove` where Total Recall's memory cannot be written, is not there, or is not shared."""

import fcntl
import json
import os
from datetime import datetime

import pytest

KEPT = "total-recall could not take it: it is kept in markdown until that can"
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


def comes_home(world, learning_id):
    """Asserts that a flush brings it where it belongs, once."""
    told = world.grove("maintain", "flush").stdout
    assert f"stored in total-recall  {learning_id}" in told
    assert world.grove("maintain", "flush").stdout == "Nothing waits.\n"
    assert today(world).read_text().count(f"(grove:{learning_id}):") == 1
    assert waiting(world) == []
    return told


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


def test_what_cannot_be_written_is_kept_in_markdown_until_it_can(hindered, candidate):
    one = reflects(hindered, candidate(1))
    # Honest: it says where the learning is, and why it is there.
    assert (one["status"], one["backend"], one["notes"]) == ("stored", "markdown", [KEPT])
    assert "leads nowhere" in one["told"]
    assert hindered.gate() == "reflected"
    assert os.readlink(today(hindered)) == "nowhere"
    assert hindered.learning_ids() == waiting(hindered) == [one["id"]]
    assert found(hindered, "export", "orders") == {one["id"]: "markdown"}
    assert "1 waiting for total-recall" in hindered.grove("status").stdout
    assert "wait for their backend: 1 (total-recall)" in hindered.grove("doctor").stdout
    # The next reflection brings both home.
    today(hindered).unlink()
    assert reflects(hindered, candidate(2))["backend"] == "total-recall"
    assert today(hindered).read_text().count(f"(grove:{one['id']}):") == 1
    assert (hindered.learning_ids(), waiting(hindered)) == ([], [])
    assert found(hindered, "export", "orders")[one["id"]] == "total-recall"


def test_a_file_in_the_memorys_place_is_told_and_waited_out(reflecting, candidate):
    rules = reflecting.project / ".claude" / "rules"
    rules.mkdir(parents=True)
    (rules / "total-recall.md").write_text("# Total Recall\n")
    place = reflecting.project / "memory"
    reflecting.others.mkdir()
    away = place.rename(reflecting.others / "away")
    place.write_text("in the way\n")
    one = reflects(reflecting, candidate())
    assert (one["backend"], waiting(reflecting)) == ("markdown", [one["id"]])
    assert place.read_text() == "in the way\n"
    assert "memory is no folder" in reflecting.grove("backends").stdout
    place.unlink()
    away.rename(place)
    comes_home(reflecting, one["id"])


def test_nothing_moves_while_another_process_stores_learnings(hindered, candidate):
    one = reflects(hindered, candidate())
    today(hindered).unlink()
    (lock,) = (hindered.grove_home / "cache").glob("*/reflect.lock")
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        flushed = hindered.grove("maintain", "flush")
        assert (flushed.code, "locked by another process" in flushed.stderr) == (1, True)
    assert (hindered.learning_ids(), waiting(hindered)) == ([one["id"]], [one["id"]])


def test_what_was_changed_while_it_was_lent_goes_home_changed(hindered, candidate):
    one = reflects(hindered, candidate())
    hindered.grove("maintain", "archive", one["id"])
    # A field that grove does not know would be lost on the way.
    other = reflects(hindered, candidate(2))
    above, below = hindered.learnings_file.read_text().split(other["id"])
    below = below.replace("- **Confidence", "- **Owner:** Ada\n- **Confidence", 1)
    hindered.learnings_file.write_text(f"{above}{other['id']}{below}")
    today(hindered).unlink()
    told = comes_home(hindered, one["id"])
    assert told.count("it stays in markdown as well, since it was changed there") == 1
    assert hindered.learning_ids() == [other["id"]]
    assert hindered.grove("show", one["id"], "--json").json["status"] == "archived"


def configure(world, text):
    (world.project / ".grove" / "config.toml").write_text(text)


def test_a_learning_waits_where_no_backend_can_keep_it_meanwhile(hindered, candidate):
    configure(hindered, "[backends.overrides]\nmarkdown = false\n")
    one = reflects(hindered, candidate())
    assert (one["status"], waiting(hindered)) == ("queued", [one["id"]])
    today(hindered).unlink()
    comes_home(hindered, one["id"])


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


# --- who gets to see it -------------------------------------------------------------------------


def ignore(world, text="memory/\n"):
    (world.project / ".gitignore").write_text(text)
    world.make_git()


def test_a_team_learning_that_git_ignores_is_kept_in_markdown_as_well(reflecting, candidate):
    ignore(reflecting)
    one = reflects(reflecting, candidate(scope="team"))
    copy = f"{TEAM}: it is kept in markdown as well ({reflecting.learnings_file})"
    assert (one["backend"], one["notes"]) == ("total-recall", [copy])
    assert reflecting.learning_ids() == [one["id"]]
    assert set(found(reflecting, "export", "orders")) == {one["id"]}
    # What the team shares is in git's sight, and of what is kept out of it no word is.
    assert ".grove/learnings.md" in reflecting.git("status", "--porcelain", "-uall")
    record = (reflecting.project / ".grove" / "total-recall.jsonl").read_text()
    assert one["id"] in record
    assert "OrderStore" not in record


def test_a_team_learning_that_the_fallback_kept_stays_in_the_shared_backend(hindered, candidate):
    ignore(hindered)
    one = reflects(hindered, candidate(scope="team"))
    today(hindered).unlink()
    comes_home(hindered, one["id"])
    assert hindered.learning_ids() == [one["id"]]


@pytest.mark.parametrize(
    ("scope", "ignored", "settings", "note"),
    [
        ("team", "memory/\n", "[backends]\nteam_copies = false\n", TEAM),
        ("team", "", "", ""),
        ("project", "memory/\n", "", ""),
    ],
)
def test_other_learnings_are_in_one_place(reflecting, candidate, scope, ignored, settings, note):
    configure(reflecting, settings)
    ignore(reflecting, ignored)
    one = reflects(reflecting, candidate(scope=scope))
    assert one["backend"] == "total-recall"
    assert [text.startswith(note) for text in one["notes"]] == [True] * bool(note)
    assert reflecting.learning_ids() == []

"""`grove maintain`, `list --stale`, `list --rejected` and `show`; decay and corrections at starts."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

OLD = "cl_20300102_oooooo"
SOON = "cl_20300102_ssssss"
NEW = "cl_20300102_nnnnnn"
MINE = "cl_20300102_mmmmmm"
SHOW_NOTHING = "[retrieval]\nmax_injections = 0\n"


def days_ago(days):
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def shop(world):
    """A project with a learning that is due, one that soon will be, and two new ones."""
    world.initialise()
    world.learnings_file.write_text("# Ours\n\nWritten by hand, and staying.\n\n")
    world.learning(OLD, "OrderStore.rows() is slow", created=days_ago(120))
    world.learning(SOON, "OrderStore.export() needs a header", created=days_ago(86.5))
    world.learning(NEW, "OrderStore.rows() is slow unless prefetched", created=days_ago(2))
    world.learning(MINE, "I prefer short names", personal=True, created=days_ago(3))
    return world


def maintain(world, *words, code=0):
    done = world.grove("maintain", *words)
    assert done.code == code, done.stderr
    return done


def in_json(world, *words, code=0):
    return maintain(world, *words, "--json", code=code).json


def ids(entries):
    return [one["id"] for one in entries]


def status_line(world, learning_id, *, personal=False):
    path = world.grove_home / "personal-learnings.md" if personal else world.learnings_file
    entry = path.read_text().split(f"[{learning_id}]")[1]
    return re.search(r"^- \*\*Status:\*\* (.*)$", entry, re.MULTILINE)[1]


def day():
    return f"{datetime.now(UTC):%Y-%m-%d}"


def test_archive_changes_one_line_and_says_so_in_the_log(shop):
    before = shop.learnings_file.read_text().split("\n")
    document = in_json(shop, "archive", OLD)
    after = shop.learnings_file.read_text().split("\n")
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [f"- **Status:** archived (by hand {day()})"]
    assert ids(document["changed"]) == [OLD]
    assert document["dry_run"] is False
    assert "error" not in document
    (event,) = shop.events()
    assert (event["event"], event["learning_id"], event["reason"]) == ("archived", OLD, "by hand")


def test_archive_stale_takes_what_list_stale_names(shop):
    listed = shop.grove("list", "--stale", "-q").stdout.split()
    assert listed == [OLD, SOON]
    assert maintain(shop, "archive", "--stale", "-q").stdout.split() == listed
    assert status_line(shop, SOON) == f"archived (going stale {day()})"
    assert "86 days ago" in shop.events("archived")[1]["reason"]
    assert shop.grove("list", "--stale", "-q").stdout == ""
    assert "No learning is due" in maintain(shop, "archive", "--stale").stdout


def test_supersede(shop):
    document = in_json(shop, "supersede", OLD, "--by", NEW)
    assert ids(document["changed"]) == [OLD]
    assert status_line(shop, OLD) == f"superseded (by {NEW})"
    (event,) = shop.events()
    assert event["event"] == "corrected"
    assert (event["learning_id"], event["superseded_by"]) == (OLD, NEW)
    again = maintain(shop, "supersede", OLD, "--by", NEW).stdout
    assert again == f"{OLD} is superseded already\n"
    assert len(shop.events()) == 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (OLD, OLD, "cannot take its own place"),
        ("cl_nothing", NEW, "no learning has the id cl_nothing"),
        (OLD, MINE, "is personal"),
    ],
)
def test_what_cannot_be_superseded(shop, old, new, words):
    before = shop.learnings_file.read_bytes()
    assert words in maintain(shop, "supersede", old, "--by", new, code=1).stderr
    assert shop.learnings_file.read_bytes() == before
    assert shop.events() == []


def test_decay_archives_what_is_due_and_nothing_else(shop):
    assert ids(in_json(shop, "decay")["changed"]) == [OLD]
    assert status_line(shop, OLD) == f"archived (decayed {day()})"
    assert status_line(shop, SOON) == "active"
    reason = shop.events("archived")[0]["reason"]
    assert reason.startswith("decayed: written ")
    assert reason.endswith("120 days ago, and 90 days are the limit")
    assert maintain(shop, "decay").stdout == "No learning is due.\n"
    # What the project's file says is for the project's learnings alone.
    (shop.project / ".grove" / "config.toml").write_text("[decay]\npassive_duration_days = 1\n")
    assert ids(in_json(shop, "decay")["changed"]) == [SOON, NEW]
    assert status_line(shop, MINE, personal=True) == "active"
    (shop.grove_home / "config.toml").write_text("[decay]\npassive_duration_days = 2\n")
    assert ids(in_json(shop, "decay")["changed"]) == [MINE]


@pytest.mark.parametrize(
    "words",
    [
        ["archive", OLD],
        ["archive", "--stale"],
        ["supersede", OLD, "--by", NEW],
        ["decay"],
        ["flush"],
    ],
)
def test_a_dry_run_changes_nothing(shop, words):
    before = shop.learnings_file.read_bytes(), shop.log("personal-learnings.md")
    dry = in_json(shop, *words, "--dry-run")
    assert dry["dry_run"] is True
    assert (shop.learnings_file.read_bytes(), shop.log("personal-learnings.md")) == before
    assert shop.events() == []
    assert not (shop.grove_home / "cache" / "curation.lock").exists()
    wet = in_json(shop, *words)
    assert {**wet, "dry_run": True} == dry


def test_flush_delivers_what_waits(shop, candidate):
    agent = shop.agent()
    agent.starts()
    (shop.project / ".grove" / "aside").mkdir()
    shop.learnings_file.rename(shop.project / ".grove" / "aside" / "learnings.md")
    shop.learnings_file.mkdir()
    stored = agent.reflects(candidate()).json["accepted"][0]
    assert stored["status"] == "queued"
    other = shop.agent("session-2")
    other.starts()
    (again,) = other.reflects(candidate()).json["rejected"]
    assert (again["stage"], again["existing_id"]) == ("duplicate", stored["id"])
    done = maintain(shop, "flush", code=1)
    assert f"waits  {stored['id']}" in done.stdout
    assert "could not be delivered" in done.stderr
    shop.learnings_file.rmdir()
    shop.learnings_file.touch()
    document = in_json(shop, "flush")
    assert [one["learning_id"] for one in document["delivered"]] == [stored["id"]]
    assert document["waiting"] == []
    assert shop.learning_ids() == [stored["id"]]
    assert maintain(shop, "flush").stdout == "Nothing waits.\n"


def test_maintain_alone_lists_what_curation_would_look_at(shop):
    (shop.project / ".grove" / "config.toml").write_text(SHOW_NOTHING)
    shop.learning("cl_20300102_uuuuuu", "Shown in vain, again and again", created=days_ago(40))
    shop.learning("cl_20300102_wwwwww", "Said to be wrong by somebody", created=days_ago(4))
    shop.learning("cl_20300102_pppppp", "Superseded by the new one", created=days_ago(5))
    shop.learning("cl_20300102_aaaaaa", "Archived by a person", created=days_ago(5))
    for number in range(6):
        log(shop, "surfaced", "cl_20300102_uuuuuu", 10 + number, f"past-{number}")
    maintain(shop, "supersede", "cl_20300102_pppppp", "--by", NEW)
    maintain(shop, "archive", "cl_20300102_aaaaaa", "--reason", "no longer so")
    agent = shop.agent()
    agent.starts()
    correction = {"id": "cl_20300102_wwwwww", "why": "it is the other way round"}
    agent.reflects(nothing_learned="only a correction", corrections=[correction])
    document = in_json(shop)
    assert document == in_json(shop, "list")
    assert ids(document["going_stale"]) == [OLD, SOON]
    assert ids(document["never_used"]) == ["cl_20300102_uuuuuu"]
    assert ids(document["corrected"]) == ["cl_20300102_wwwwww"]
    # The start of the session let decay have its turn, which hides and archives nothing.
    assert document["going_stale"][0]["reason"].endswith(
        f"hidden here since {day()}, and archived with the next learning that is stored"
    )
    (archived,) = document["archived"]
    assert archived["reason"] == f"archived {day()}: no longer so"
    assert document["total"] == 8
    text = maintain(shop).stdout
    for words in ("Going stale", "Archived within 30 days", "shown in 6 sessions, used in none"):
        assert words in text


def log(world, event, learning_id, days, session_id="past", **fields):
    """Adds a line to the project's log, as another session would have some days ago."""
    line = {"v": 1, "ts": days_ago(days), "event": event, "grove": "0.1.0"}
    line |= {"learning_id": learning_id, "session_id": session_id, **fields}
    with (world.project / ".grove" / "stats.log").open("a") as file:
        file.write(json.dumps(line) + "\n")


def a_day_later(world):
    for path in world.grove_home.rglob("decayed.json"):
        path.write_text(re.sub(r'[0-9T:-]{19}Z"', f'{days_ago(1.01)}"', path.read_text()))


@pytest.fixture
def quiet(world):
    """A project whose sessions are shown nothing, so that nothing becomes younger."""
    world.initialise(SHOW_NOTHING)
    return world


def test_it_happens_once_a_day(quiet):
    quiet.learning(OLD, "OrderStore.rows() is slow", created=days_ago(10))
    quiet.agent("session-1").starts()
    quiet.learning(NEW, "OrderStore.export() needs a header", created=days_ago(200))
    quiet.learning(MINE, "I prefer short names", personal=True, created=days_ago(200))
    quiet.agent("session-2").starts()
    assert quiet.hidden() == []
    a_day_later(quiet)
    quiet.agent("session-3").starts()
    assert (quiet.hidden(), quiet.hidden(personal=True)) == ([NEW], [MINE])
    assert quiet.events("archived") == []


@pytest.fixture
def stale(quiet):
    """A project in which decay hides a learning and one of the user's own."""
    quiet.learning(OLD, "OrderStore.rows() is slow", created=days_ago(120))
    quiet.learning(MINE, "OrderStore needs short names", personal=True, created=days_ago(120))
    quiet.learning(NEW, "OrderStore.export() needs a header", created=days_ago(2))
    quiet.agent("session-1").starts()
    assert (quiet.hidden(), quiet.hidden(personal=True)) == ([OLD], [MINE])
    return quiet


def found(world, *words):
    return ids(world.grove("search", "OrderStore", *words, "--json").json["results"])


def test_what_is_hidden_is_not_found_and_every_command_says_why(stale):
    assert found(stale) == [NEW]
    assert set(found(stale, "--status", "archived")) == {OLD, MINE}
    a_day_later(stale)
    words = f"hidden here since {days_ago(1.01)[:10]}"
    assert words in stale.grove("list").stdout
    shown = stale.grove("show", OLD, "--json").json
    assert (shown["status"], shown["decay"]["state"]) == ("active", "due")
    assert shown["decay"]["hidden_since"]
    asked = stale.agent("session-1").asks("What about OrderStore.rows() and its export?")
    assert (OLD in asked, NEW in asked) == (False, True)
    why = stale.grove("why", OLD, "--session-id", "session-1").stdout
    assert "was not active then" in why


@pytest.mark.parametrize(
    "words",
    [
        ("ref", OLD, MINE),
        ("maintain", "restore", OLD, MINE),
        ("review", OLD, MINE, "--useful"),
    ],
)
def test_what_somebody_speaks_for_is_hidden_no_longer(stale, words):
    done = stale.agent("session-1").grove(*words)
    assert done.code == 0, done.stderr
    assert (stale.hidden(), stale.hidden(personal=True)) == ([], [])
    assert set(found(stale)) == {OLD, MINE, NEW}
    before = stale.learnings_file.read_bytes()
    a_day_later(stale)
    stale.agent("session-2").starts()
    assert stale.hidden() == ([OLD] if words[0] == "review" else [])
    assert stale.learnings_file.read_bytes() == before


def test_a_stored_learning_archives_what_is_hidden_and_still_due(stale, candidate):
    agent = stale.agent("session-1")
    assert agent.reflects(candidate(1, scope="personal")).code == 0
    assert status_line(stale, OLD) == "active"
    other = stale.agent("session-2")
    other.starts()
    assert other.reflects(candidate(2)).code == 0
    assert status_line(stale, OLD) == f"archived (decayed {day()})"
    assert status_line(stale, MINE, personal=True) == f"archived (decayed {day()})"
    assert [one["learning_id"] for one in stale.events("archived")] == [OLD]
    (published,) = (stale.project / ".grove" / "stats").iterdir()
    assert '"archived"' in published.read_text()
    maintain(stale, "restore", OLD)
    assert OLD in found(stale)


def look_that_is_a_directory(world):
    (world.event_log.parent / "decayed.json").mkdir(parents=True)


def log_that_is_a_directory(world):
    world.event_log.unlink()
    world.event_log.mkdir()


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (look_that_is_a_directory, "decay waits for the next start: cannot write"),
        (log_that_is_a_directory, "events.jsonl cannot be read, and what is used would seem"),
    ],
)
def test_no_fault_of_decay_breaks_the_start(quiet, break_it, words):
    log(quiet, "surfaced", SOON, 20)
    quiet.learning(OLD, "OrderStore.rows() is slow", created=days_ago(91))
    quiet.learning(NEW, "OrderStore.import_() reads twice", created=days_ago(2))
    quiet.event_log.parent.mkdir(parents=True)
    quiet.event_log.touch()
    break_it(quiet)
    (quiet.project / ".grove" / "config.toml").write_text("")
    assert NEW in quiet.agent("session-2").starts()
    assert words in quiet.log()
    assert OLD in found(quiet)
    assert quiet.log("crash.log") == ""


def corrections_in(text):
    return [line for line in text.split("\n") if line.startswith("grove: ")]


def test_what_was_shown_and_superseded_is_told_to_the_next_sessions(world, candidate):
    world.initialise()
    world.learning(OLD, "OrderStore.rows() is slow", created=days_ago(9))
    assert OLD in world.agent("session-1").starts()
    second = world.agent("session-2")
    second.starts()
    (stored,) = second.reflects(candidate(3, supersedes=[OLD])).json["accepted"]
    # What the reflection wrote.
    assert status_line(world, OLD) == f"superseded (by {stored['id']})"
    assert status_line(world, stored["id"]) == "active"
    (event,) = world.events("corrected")
    assert (event["learning_id"], event["superseded_by"]) == (OLD, stored["id"])
    assert event["session_id"] == "session-2"
    # What the next sessions are told, each once.
    for name in ("session-3", "session-4"):
        (line,) = corrections_in(world.agent(name).starts())
        assert line == (
            f"grove: the note {OLD}, shown here today, has been superseded since by"
            f" {stored['id']} (quoted data): > {candidate(3)['summary']}"
        )
    assert corrections_in(world.agent("session-3").starts("resume")) == []
    assert len(corrections_in(world.agent("session-3").starts("compact"))) == 1
    # And what curation says of it.
    assert world.grove("show", OLD, "--json").json["superseded_by"] == stored["id"]
    assert world.grove("maintain", "restore", OLD).code == 1


def test_list_rejected(shop, candidate):
    agent = shop.agent()
    agent.starts()
    agent.reflects({"summary": "too short"}, candidate(1))
    agent.reflects(candidate(1, summary="OrderStore.report() runs many queries", category="odd"))
    found = shop.grove("list", "--rejected", "--json").json
    assert (found["count"], found["total"]) == (2, 2)
    newest, oldest = found["rejected"]
    assert (newest["stage"], newest["session_id"]) == ("schema", "session-1")
    assert "category" in newest["reason"]
    assert oldest["summary"] == "too short"
    assert "1 of 2 refusals shown." in shop.grove("list", "--rejected", "--limit", "1").stdout

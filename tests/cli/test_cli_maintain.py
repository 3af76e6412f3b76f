"""`grove maintain`, `list --stale`, `list --rejected` and `show`; decay and corrections at starts."""

import fcntl
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


def test_a_reason_with_a_secret_is_refused(shop):
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    before = shop.learnings_file.read_bytes()
    done = maintain(shop, "archive", OLD, "--reason", f"the token {token} is revoked", code=1)
    assert token not in done.stderr
    assert shop.learnings_file.read_bytes() == before
    assert shop.events() == []


def test_restore_takes_it_back_as_it_was(shop):
    before = shop.learnings_file.read_bytes()
    maintain(shop, "archive", OLD)
    assert maintain(shop, "restore", OLD, "-q").stdout == f"{OLD}\n"
    assert shop.learnings_file.read_bytes() == before
    assert [one["event"] for one in shop.events()] == ["archived", "restored"]
    assert maintain(shop, "restore", OLD).stdout == f"{OLD} is active already\n"
    assert len(shop.events("restored")) == 1


def test_supersede(shop):
    document = in_json(shop, "supersede", OLD, "--by", NEW)
    assert ids(document["changed"]) == [OLD]
    assert status_line(shop, OLD) == f"superseded (by {NEW})"
    (event,) = shop.events()
    assert event["event"] == "corrected"
    assert (event["learning_id"], event["superseded_by"]) == (OLD, NEW)
    again = maintain(shop, "supersede", OLD, "--by", NEW).stdout
    assert again == f"{OLD} is superseded already, by {NEW}\n"
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
    assert ids(document["going_stale"]) == [SOON]
    assert ids(document["never_used"]) == ["cl_20300102_uuuuuu"]
    assert ids(document["corrected"]) == ["cl_20300102_wwwwww"]
    # The start of the session let decay have its turn.
    reasons = {one["id"]: one["reason"] for one in document["archived"]}
    assert reasons.keys() == {"cl_20300102_aaaaaa", OLD}
    assert reasons["cl_20300102_aaaaaa"] == f"archived {day()}: no longer so"
    assert reasons[OLD].startswith(f"archived {day()}: decayed: written ")
    (superseded,) = document["superseded"]
    assert (superseded["id"], superseded["superseded_by"]) == ("cl_20300102_pppppp", NEW)
    assert document["total"] == 8
    text = maintain(shop).stdout
    for words in ("Going stale", "Archived within 30 days", "shown in 6 sessions, used in none"):
        assert words in text


def test_a_log_cannot_drive_the_terminal(shop):
    maintain(shop, "archive", OLD)
    log = shop.event_log
    log.write_text(log.read_text().replace("by hand", "\\u001b[2J\\nfree"))
    for words in (["maintain"], ["maintain", "list", "--explain"], ["show", OLD]):
        out = shop.grove(*words).stdout
        assert "\x1b" not in out
        assert "[2J free" in out


def log(world, event, learning_id, days, session_id="past", **fields):
    """Adds a line to the project's log, as another session would have some days ago."""
    line = {"v": 1, "ts": days_ago(days), "event": event, "grove": "0.1.0"}
    line |= {"learning_id": learning_id, "session_id": session_id, **fields}
    with (world.project / ".grove" / "stats.log").open("a") as file:
        file.write(json.dumps(line) + "\n")


def archived(world, **where):
    return [one["learning_id"] for one in world.events("archived", **where)]


@pytest.fixture
def quiet(world):
    """A project whose sessions are shown nothing, so that nothing becomes younger."""
    world.initialise(SHOW_NOTHING)
    return world


def test_it_happens_once_a_day(quiet):
    quiet.learning(OLD, "OrderStore.rows() is slow", created=days_ago(10))
    quiet.agent("session-1").starts()
    quiet.learning(NEW, "OrderStore.export() needs a header", created=days_ago(200))
    quiet.agent("session-2").starts()
    assert archived(quiet) == []
    (stamp,) = quiet.grove_home.glob("cache/*/decayed")
    stamp.write_text(days_ago(1.01))
    quiet.agent("session-3").starts()
    assert archived(quiet) == [NEW]


def test_what_a_session_was_just_shown_stays_for_now(world):
    world.initialise()
    world.learning(OLD, "OrderStore.rows() is slow", created=days_ago(91))
    world.learning(NEW, "OrderStore.export() needs a header", created=days_ago(91))
    for number in range(5):
        log(world, "surfaced", NEW, 20 + number, f"past-{number}")
    shown = world.agent("session-1").starts()
    assert OLD in shown
    assert NEW in shown
    assert archived(world) == []
    # The next day only that which is fresh because of it is.
    (stamp,) = world.grove_home.glob("cache/*/decayed")
    stamp.write_text(days_ago(1.01))
    (world.project / ".grove" / "config.toml").write_text(SHOW_NOTHING)
    world.agent("session-2").starts()
    assert archived(world) == [NEW]


def test_another_process_that_curates_delays_nothing(quiet):
    quiet.learning(OLD, "OrderStore.rows() is slow", created=days_ago(91))
    lock = quiet.grove_home / "cache" / "curation.lock"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        quiet.agent("session-1").starts()
        assert archived(quiet) == []
    assert "decay waits for the next start" in quiet.log()
    quiet.agent("session-2").starts()
    assert archived(quiet) == [OLD]


def unwritable_stamp(world):
    key = next(world.grove_home.glob("cache/*/open-sessions")).parent
    (key / "decayed").mkdir()


def log_that_is_a_directory(world):
    (world.project / ".grove" / "stats.log").mkdir()


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (unwritable_stamp, "decay waits for the next start: cannot write"),
        (log_that_is_a_directory, "stats.log cannot be read, and what is used would seem unused"),
    ],
)
def test_no_fault_of_decay_breaks_the_start(quiet, break_it, words):
    quiet.learning(SOON, "OrderStore.search() is exact", created=days_ago(1))
    quiet.agent("session-1").starts()
    for stamp in quiet.grove_home.glob("cache/**/decayed"):
        stamp.unlink()
    quiet.learning(OLD, "OrderStore.rows() is slow", created=days_ago(91))
    break_it(quiet)
    (quiet.project / ".grove" / "config.toml").write_text("")
    quiet.learning(NEW, "OrderStore.import_() reads twice", created=days_ago(2))
    assert NEW in quiet.agent("session-2").starts()
    assert words in quiet.log()
    assert status_line(quiet, OLD) == "active" or break_it is unwritable_stamp
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
        summary = json.dumps(candidate(3)["summary"])
        assert line == (
            f"grove: the note {OLD}, shown here today, has been superseded since by"
            f" {stored['id']}, which says (quoted data): {summary}"
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

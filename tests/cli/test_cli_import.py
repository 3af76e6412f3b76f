"""`grove import`: what becomes of each entry, again and again, and in the middle of a crash."""

import errno
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grove_core import Hit, LearningStatus, Scope
from grove_core.flow import import_sources
from grove_core.flow.import_judging import ImportState
from grove_core.flow.import_sources import ImportFormat, find_sources
from grove_core.flow.importing import import_from
from grove_core.interchange.jsonl import write_jsonl
from grove_core.memory.untrusted import cleaned
from grove_core.testing.strategies import learnings
from grove_core.workspace import Workspace
from tests.conftest import GROVE, listing

SAMPLES = Path(__file__).parents[1] / "data" / "interchange"
KEY = "AKIA" + "IOSFODNN7REALKEY"
FORMS = {
    "older-grove": "older-grove",
    "solutions": "solutions",
    "notes": "CLAUDE.md",
    "jsonl": "basic.jsonl",
}


@pytest.fixture
def shop(world):
    """A project of grove's with the samples beside its code."""
    world.initialise()
    shutil.copytree(SAMPLES, world.project / "old")
    return world


def run(world, form, path, *words, code=0):
    done = world.grove("import", form, path, *words, "--json")
    assert done.code == code, done.stderr
    return done.json


def states(document):
    return [one["state"] for one in document["entries"]]


def entries(document, state):
    return [one for one in document["entries"] if one["state"] == state]


def lines_of(world, *objects, name="some.jsonl"):
    path = world.project / name
    path.write_text("".join(json.dumps(one) + "\n" for one in objects))
    return path


def lesson(number=1, **fields):
    return {
        "summary": f"Module{number}.run() needs step {number} before it starts",
        "detail": f"Without it, Module{number}.run() fails with code {number} in worker {number}.",
        "category": "pitfall",
        "tags": [f"module{number}"],
        "criteria_met": ["stable_fact"],
        **fields,
    }


# --- each format --------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "name"), FORMS.items())
def test_a_second_run_imports_nothing(shop, form, name):
    first = shop.grove("import", form, f"old/{name}", "--json").json
    assert first["counts"]["imported"] >= 3
    before = listing(shop.folder)
    second = shop.grove("import", form, f"old/{name}", "--json").json
    assert second["counts"]["imported"] == 0
    assert second["counts"]["present"] == first["counts"]["imported"]
    assert second["counts"]["refused"] == first["counts"]["refused"]
    assert {
        path: now
        for path, now in listing(shop.folder).items()
        if before.get(path) != now and shop.grove_home not in path.parents
    } == {}


@pytest.mark.parametrize(("form", "name"), FORMS.items())
def test_a_dry_run_says_the_same_and_writes_nothing(shop, form, name):
    shop.grove("list")  # what any command leaves in grove's own directory
    before = listing(shop.project)
    dry = shop.grove("import", form, f"old/{name}", "--dry-run", "--json").json
    assert listing(shop.project) == before
    assert not (shop.grove_home / "personal-learnings.md").exists()
    assert not (shop.grove_home / "outbox").exists()
    real = shop.grove("import", form, f"old/{name}", "--json").json
    assert dry["counts"] == real["counts"]
    assert [one["id"] for one in dry["entries"]] == [one["id"] for one in real["entries"]]


def test_the_older_program_s_folder(shop):
    document = run(shop, "older-grove", "old/older-grove", code=1)
    assert [one["id"] for one in entries(document, "imported")] == [
        "cl_20260206_001",
        "cl_20260207_001",
        "cl_20260208_001",
        "cl_20260209_001",
    ]
    (fault,) = entries(document, "refused")
    assert "no summary" in fault["reason"]
    shown = shop.grove("show", "cl_20260206_001", "--json").json
    assert (shown["ticket_id"], shown["session_id"]) == ("SHOP-12", "5f0c2d7a")
    assert shown["timestamp"] == "2026-02-06T10:00:00Z"
    assert shown["usage"]["surfaced"] == shown["usage"]["referenced"] == 1
    assert shop.grove("show", "cl_20260207_001", "--json").json["status"] == "archived"
    personal = shop.grove_home / "personal-learnings.md"
    assert "cl_20260209_001" in personal.read_text()
    assert "cl_20260209_001" not in shop.learnings_file.read_text()


def test_events_go_to_the_log_they_belong_to_and_what_is_unknown_is_counted(shop):
    events = run(shop, "older-grove", "old/older-grove", code=1)["events"]
    assert (events["imported"], events["present"]) == (5, 0)
    assert events["unknown"] == {"implicitly_referenced": 1}
    assert [one["line"] for one in events["unreadable"]] == [10]
    assert [one["learning_id"] for one in shop.events("surfaced")] == ["cl_20260206_001"]
    mine = shop.events("surfaced", personal=True)
    assert [one["learning_id"] for one in mine] == ["cl_20260209_001"]
    assert shop.events("skip")[0]["decider"] == "auto"
    again = run(shop, "older-grove", "old/older-grove", code=1)["events"]
    assert (again["imported"], again["present"]) == (0, 5)


def test_a_log_alone_and_the_project_above_the_folder(shop):
    assert run(shop, "older-grove", "old/older-grove/stats.log")["events"]["imported"] == 5
    other = shop.project / "other"
    shutil.copytree(SAMPLES / "older-grove", other / ".grove")
    assert run(shop, "older-grove", "other", code=1)["counts"]["imported"] == 4


def test_documents_of_solved_problems(shop):
    document = run(shop, "solutions", "old/solutions")
    places = [(one["path"], one["line"]) for one in entries(document, "imported")]
    assert places == [
        ("old/solutions/patterns/critical-patterns.md", 5),
        ("old/solutions/patterns/critical-patterns.md", 9),
        ("old/solutions/performance-issues/order-list-asks-once-a-row.md", 1),
        ("old/solutions/workflow-issues/release-tag-without-changelog.md", 1),
    ]
    assert [one["path"] for one in entries(document, "left_out")] == ["old/solutions/README.md"]
    found = shop.grove("search", "501 queries orders", "--json").json["results"]
    assert found[0]["summary"] == "Order list: one query a row"
    assert found[0]["context_files"][0] == places[2][0]


def test_a_folder_of_memories_as_personal_learnings(shop):
    document = run(shop, "notes", "old/memory", "--scope", "personal")
    assert document["counts"]["imported"] == 3
    assert not shop.learnings_file.exists()
    assert (shop.grove_home / "personal-learnings.md").read_text().count("\n### [cl_") == 3


def test_basic_json_lines(shop):
    document = run(shop, "jsonl", "old/basic.jsonl", code=1)
    assert states(document) == ["imported", "imported", "imported", "refused", "refused"]
    assert "2 pieces refused" in document["error"]


# --- stages -------------------------------------------------------------------------------------


def test_a_secret_is_refused_masked_and_stored_nowhere(shop):
    path = lines_of(
        shop,
        lesson(1, detail=f"The bucket opens with {KEY} from the outside."),
        lesson(2, ticket_id=KEY),
        lesson(3),
        lesson(4, id=KEY),
    )
    (shop.project / "n.md").write_text(f"- {KEY}\n")
    done = shop.grove("import", "jsonl", path, "--json")
    assert states(done.json) == ["refused", "refused", "imported", "refused"]
    refused = entries(done.json, "refused")
    assert [one["stage"] for one in refused] == ["secret", "secret", "secret"]
    assert [one["field"] for one in refused] == ["detail", "ticket_id", "id"]
    left = shop.grove("import", "notes", "n.md", "--json")
    for text in (done.stdout, done.stderr, left.stdout, left.stderr, shop.log()):
        assert KEY not in text
    assert all(
        KEY.encode() not in content
        for path, content in listing(shop.folder).items()
        if isinstance(content, bytes) and path.suffix not in {".jsonl", ".md"}
    )
    assert KEY not in shop.learnings_file.read_text()


def test_a_secret_that_is_cut_off_where_it_is_shown_is_still_a_secret(shop):
    path = shop.project / "some.jsonl"
    path.write_text(f"{'no JSON ' * 6}postgres://shop:{'Hunter2' * 4}@db.example.com/shop\n")
    done = shop.grove("import", "jsonl", path, "--json")
    assert states(done.json) == ["refused"]
    assert "Hunter2" not in done.stdout + done.stderr


def old_event(**fields):
    return {"v": 1, "ts": "2026-02-10T10:00:00Z", "grove_version": "0.10.0", **fields}


@pytest.mark.parametrize(
    "fields",
    [
        {"event": "skip", "session_id": "s", "reason": f"only {KEY}", "decider": "user"},
        {"event": "skip", "session_id": "s", "reason": "a reason", "decider": KEY},
        {"event": "surfaced", "session_id": "s", "learning_id": KEY},
        {"event": "referenced", "session_id": KEY, "learning_id": "cl_20260206_001"},
        {"event": "rejected", "session_id": "s", "summary": "A", "tags": ["a", KEY]},
        {"event": "reflection", "session_id": "s", "candidates": 1, "accepted": 1, "backend": KEY},
    ],
)
def test_a_secret_in_an_event_keeps_the_event_out(shop, fields):
    lines_of(shop, old_event(**fields), name="stats.log")
    events = run(shop, "older-grove", "stats.log", code=1)["events"]
    assert (events["imported"], [one["line"] for one in events["refused"]]) == (0, [1])
    assert shop.events() == []


def test_a_secret_in_the_name_of_an_event_is_not_shown(shop):
    lines_of(shop, old_event(event=KEY), name="stats.log")
    done = shop.grove("import", "older-grove", "stats.log")
    assert "1 (withheld)" in done.stdout
    assert KEY not in done.stdout


def test_texts_in_lists_of_an_event_are_cleaned(shop):
    fields = {"event": "rejected", "session_id": "s", "summary": "A", "tags": ["a\u202eb\x1b[0m"]}
    lines_of(shop, old_event(**fields), name="stats.log")
    run(shop, "older-grove", "stats.log")
    assert shop.events("rejected")[0]["tags"] == ["ab[0m"]
    assert run(shop, "older-grove", "stats.log")["events"]["present"] == 1


def test_what_is_said_to_come_from_the_future(shop):
    event = old_event(event="surfaced", session_id="s", learning_id="cl_20260206_001")
    lines_of(shop, {**event, "ts": "2999-01-01T00:00:00Z"}, name="stats.log")
    (refused,) = run(shop, "older-grove", "stats.log", code=1)["events"]["refused"]
    assert "future" in refused["reason"]
    path = lines_of(shop, lesson(1, timestamp="2999-01-01T00:00:00Z"))
    (one,) = run(shop, "jsonl", path)["entries"]
    assert any("future" in note for note in one["notes"])
    assert not shop.grove("show", one["id"], "--json").json["timestamp"].startswith("2999")
    assert states(run(shop, "jsonl", path)) == ["present"]


def test_two_learnings_whose_ids_would_be_the_same(shop):
    # Found by trying: the digests of both begin with the same 30 bits.
    rules = [
        {
            "summary": f"Rule number {number} of the house",
            "detail": f"The house rule {number} says that item {number * 7919} has its own drawer.",
            "category": "pitfall",
            "tags": ["house"],
            "criteria_met": ["stable_fact"],
            "timestamp": "2026-02-10",
        }
        for number in (18058, 19284)
    ]
    document = run(shop, "jsonl", lines_of(shop, *rules))
    assert states(document) == ["imported", "imported"]
    first, second = (one["id"] for one in document["entries"])
    assert first != second
    again = run(shop, "jsonl", lines_of(shop, *reversed(rules)))
    assert [one["existing_id"] for one in again["entries"]] == [second, first]
    shop.learnings_file.write_text(shop.learnings_file.read_text().replace("house\n", "flat\n"))
    assert states(run(shop, "jsonl", lines_of(shop, *rules))) == ["present", "present"]


def test_the_second_of_two_such_learnings_comes_later(shop):
    base = lesson(1, tags=["house"], timestamp="2026-02-10")
    one, other = (
        base
        | {
            "summary": f"Rule number {number} of the house",
            "detail": f"The house rule {number} says that item {number * 7919} has its own drawer.",
        }
        for number in (18058, 19284)
    )
    assert states(run(shop, "jsonl", lines_of(shop, one))) == ["imported"]
    assert states(run(shop, "jsonl", lines_of(shop, other))) == ["imported"]
    assert states(run(shop, "jsonl", lines_of(shop, one, other))) == ["present", "present"]


def test_the_schema_refuses_and_says_how_to_mend(shop):
    path = lines_of(shop, lesson(1, summary="short"), lesson(2, detail="d"), lesson(3, tags=["?"]))
    document = run(shop, "jsonl", path, code=1)
    assert [one["field"] for one in document["entries"]] == ["summary", "detail", "tags"]
    assert "give 10 to 200" in document["entries"][0]["reason"]


def test_what_is_cleaned_is_named(shop):
    path = lines_of(
        shop, lesson(1, summary="Module1.run()\u202e needs\nits step", tags=["Mod One"])
    )
    (one,) = run(shop, "jsonl", path)["entries"]
    assert one["summary"] == "Module1.run() needs its step"
    assert any("invisible characters were removed" in note for note in one["notes"])
    assert any("mod-one" in note for note in one["notes"])


def test_the_write_gate_refuses_no_import(shop):
    path = lines_of(
        shop, lesson(1, summary="Always write good tests", detail="Tests are good to have.")
    )
    assert run(shop, "jsonl", path)["counts"]["imported"] == 1


def test_duplicates_are_named_with_what_is_there(shop):
    shop.learning("cl_20300102_aaaaaa", lesson(1)["summary"])
    path = lines_of(shop, lesson(1), lesson(2), lesson(2, detail="Other words say it: step two."))
    document = run(shop, "jsonl", path)
    assert states(document) == ["duplicate", "imported", "duplicate"]
    first, second, third = document["entries"]
    assert first["existing_id"] == "cl_20300102_aaaaaa"
    assert first["existing_id"] in first["reason"]
    assert third["existing_id"] == second["id"]


def test_what_is_put_away_is_no_duplicate_and_stays_put_away(shop):
    shop.learning("cl_20300102_aaaaaa", lesson(1)["summary"])
    path = lines_of(shop, lesson(1, id="cl_20260101_bbbbbb", status="archived"))
    assert run(shop, "jsonl", path)["counts"]["imported"] == 1
    shown = shop.grove("show", "cl_20260101_bbbbbb", "--json").json
    assert shown["status"] == "archived"


def test_an_id_that_is_another_learning_s_is_refused(shop):
    shop.learning("cl_20300102_aaaaaa", "Something that has nothing to do with it")
    path = lines_of(shop, lesson(1, id="cl_20300102_aaaaaa"))
    (one,) = run(shop, "jsonl", path, code=1)["entries"]
    assert (one["state"], one["field"]) == ("refused", "id")
    assert "take the id out" in one["reason"]


def test_a_learning_that_was_edited_here_is_still_there_already(shop):
    path = lines_of(shop, lesson(1), lesson(2, id="cl_20260101_bbbbbb"))
    run(shop, "jsonl", path)
    text = shop.learnings_file.read_text()
    shop.learnings_file.write_text(text.replace("**Tags:** module", "**Tags:** changed, module"))
    assert states(run(shop, "jsonl", path)) == ["present", "present"]


def test_an_undated_note_keeps_its_id_from_day_to_day(shop):
    path = lines_of(shop, lesson(1))
    run(shop, "jsonl", path)
    text = shop.learnings_file.read_text()
    shop.learnings_file.write_text(re.sub(r"cl_\d{8}_", "cl_20260101_", text))
    assert states(run(shop, "jsonl", path)) == ["present"]


def test_ephemeral_ones_have_no_place_here(shop):
    document = run(shop, "jsonl", lines_of(shop, lesson(1, scope="ephemeral")), code=1)
    assert document["entries"][0]["stage"] == "routing"
    assert "daily log" in document["entries"][0]["reason"]


def test_a_project_without_grove_is_told_to_begin(world):
    done = world.grove("import", "jsonl", lines_of(world, lesson(1)))
    assert done.code == 1
    assert "grove init" in done.stderr
    assert not (world.project / ".grove").exists()


def test_a_project_without_grove_is_told_so_once(world):
    path = lines_of(world, *(lesson(number) for number in range(30)))
    done = world.grove("import", "jsonl", path)
    assert len(done.stderr.splitlines()) == 1
    assert "30 refused (routing): " in done.stderr
    assert "grove init" in done.stderr
    assert done.stdout == "30 refused.\n"
    older = world.grove("import", "older-grove", SAMPLES / "older-grove" / "stats.log")
    assert [line.count("grove init") for line in older.stderr.splitlines()] == [1]


def test_what_several_entries_are_refused_for_is_said_once_with_their_places(shop):
    path = lines_of(shop, lesson(1, tags=["?"]), lesson(2), lesson(3, tags=["?"]))
    done = shop.grove("import", "jsonl", path)
    assert "2 refused (schema), at some.jsonl:1, some.jsonl:3: tags" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_a_plugin_objects_to_is_refused(shop):
    shop.install_plugin(
        "strict",
        "import grove_core as grove\n\n"
        "@grove.hookimpl\n"
        "def grove_check_candidate(candidate, context):\n"
        "    if 'Module2' in candidate.summary:\n"
        "        return grove.Rejection(reason='no second modules', field='summary')\n",
    )
    document = run(shop, "jsonl", lines_of(shop, lesson(1), lesson(2)), code=1)
    assert states(document) == ["imported", "refused"]
    assert document["entries"][1]["stage"] == "plugin"


# --- what takes another one's place -------------------------------------------------------------

OLD, NEW, NEWER = "cl_20260101_aaaaaa", "cl_20260102_bbbbbb", "cl_20260103_cccccc"


def status_of(world, learning_id):
    return world.grove("show", learning_id, "--json").json["status"]


def notes_of(document, learning_id):
    return next(one["notes"] for one in document["entries"] if one["id"] == learning_id)


@pytest.mark.parametrize("order", [1, -1])
def test_what_an_imported_learning_corrects_is_superseded(shop, order):
    both = [lesson(1, id=OLD), lesson(2, id=NEW, supersedes=[OLD])][::order]
    path = lines_of(shop, *both)
    dry = run(shop, "jsonl", path, "--dry-run")
    assert f"{OLD} would be superseded by {NEW}" in notes_of(dry, NEW)
    assert shop.learning_ids() == []
    assert f"{OLD} is now superseded by {NEW}" in notes_of(run(shop, "jsonl", path), NEW)
    assert (status_of(shop, OLD), status_of(shop, NEW)) == ("superseded", "active")
    (event,) = shop.events("corrected")
    assert (event["learning_id"], event["superseded_by"]) == (OLD, NEW)
    before = shop.learnings_file.read_text()
    assert states(run(shop, "jsonl", path)) == ["present", "present"]
    assert shop.learnings_file.read_text() == before
    assert len(shop.events("corrected")) == 1


def test_what_is_here_already_is_superseded_by_what_is_imported(shop):
    shop.learning(OLD, "Something that does not hold any more")
    run(shop, "jsonl", lines_of(shop, lesson(2, id=NEW, supersedes=[OLD])))
    assert status_of(shop, OLD) == "superseded"


def test_what_is_imported_is_superseded_by_what_is_here_already(shop):
    run(shop, "jsonl", lines_of(shop, lesson(2, id=NEW, supersedes=[OLD])))
    document = run(shop, "jsonl", lines_of(shop, lesson(1, id=OLD)))
    assert f"{OLD} is now superseded by {NEW}" in notes_of(document, OLD)
    assert status_of(shop, OLD) == "superseded"


def test_an_import_that_ended_before_it_superseded_is_finished_by_the_next(shop):
    path = lines_of(shop, lesson(1, id=OLD), lesson(2, id=NEW, supersedes=[OLD]))
    run(shop, "jsonl", path)
    text = shop.learnings_file.read_text()
    shop.learnings_file.write_text(re.sub(r"superseded \(.*\)", "active", text))
    assert status_of(shop, OLD) == "active"
    assert states(run(shop, "jsonl", path)) == ["present", "present"]
    assert status_of(shop, OLD) == "superseded"
    assert len(shop.events("corrected")) == 1


def test_of_learnings_that_name_each_other_the_newest_stays(shop):
    path = lines_of(
        shop,
        lesson(1, id=OLD, date="2026-01-01", supersedes=[NEWER, OLD]),
        lesson(2, id=NEW, date="2026-01-02", supersedes=[OLD, NEW]),
        lesson(3, id=NEWER, date="2026-01-03", supersedes=[NEW, NEWER]),
    )
    run(shop, "jsonl", path)
    assert [status_of(shop, one) for one in (OLD, NEW, NEWER)] == [
        *["superseded"] * 2,
        "active",
    ]


def test_a_personal_learning_retires_nothing_of_the_project(shop):
    shop.learning(OLD, "Something that does not hold any more")
    path = lines_of(shop, lesson(2, id=NEW, supersedes=[OLD], scope="personal"))
    for words in (["--dry-run"], []):
        (note,) = notes_of(run(shop, "jsonl", path, *words), NEW)
        assert "could not read it" in note
    assert status_of(shop, OLD) == "active"


def test_what_is_superseded_and_not_here_is_named(shop):
    document = run(shop, "jsonl", lines_of(shop, lesson(2, id=NEW, supersedes=[OLD])))
    assert notes_of(document, NEW) == [
        f"{OLD} was not marked as superseded: no learning has this id"
    ]


# --- whose an event is --------------------------------------------------------------------------


def log_and_learnings(shop):
    """A log whose events are about a personal learning and one that nobody knows."""
    source = shop.project / "old" / "alone"
    source.mkdir()
    about = {"event": "surfaced", "session_id": "s1"}
    lines_of(
        shop,
        old_event(**about, learning_id="cl_20260209_001"),
        old_event(**about, learning_id="cl_20260101_gone"),
        name="old/alone/stats.log",
    )
    return source / "stats.log"


def test_a_log_that_comes_before_its_learnings_waits_for_them(shop):
    log = log_and_learnings(shop)
    done = shop.grove("import", "older-grove", log)
    assert done.code == 1
    assert done.stderr.count("nobody can tell") == 1
    assert "old/alone/stats.log:1, old/alone/stats.log:2" in done.stderr
    assert shop.events() == shop.events(personal=True) == []
    run(shop, "older-grove", "old/older-grove/personal-learnings.md")
    events = run(shop, "older-grove", log, code=1)["events"]
    assert (events["imported"], [one["line"] for one in events["refused"]]) == (1, [2])
    assert shop.events("surfaced") == []
    assert [one["learning_id"] for one in shop.events("surfaced", personal=True)] == [
        "cl_20260209_001"
    ]


def test_learnings_beside_a_log_tell_whose_its_events_are(shop):
    log = log_and_learnings(shop)
    shutil.copy(SAMPLES / "older-grove" / "personal-learnings.md", log.parent)
    assert run(shop, "older-grove", log, code=1)["events"]["imported"] == 1
    assert shop.events("surfaced") == []
    assert len(shop.events("surfaced", personal=True)) == 1
    assert not (shop.grove_home / "personal-learnings.md").exists()


def test_events_that_cannot_be_written_do_not_count_as_imported(shop):
    (shop.project / ".grove" / "config.toml").write_text('[storage]\nlayout = "spread"\n')
    in_the_way = shop.project / ".grove" / "stats"
    in_the_way.write_text("")
    done = shop.grove("import", "older-grove", "old/older-grove/stats.log", "--json")
    events = done.json["events"]
    assert (done.code, events["imported"], len(events["refused"])) == (1, 1, 4)
    assert "not written" in events["refused"][0]["reason"]
    in_the_way.unlink()
    again = run(shop, "older-grove", "old/older-grove/stats.log")["events"]
    assert (again["imported"], again["present"]) == (4, 1)


# --- storing ------------------------------------------------------------------------------------


def test_an_old_learning_is_not_archived_by_the_next_session(shop):
    old = (datetime.now(UTC) - timedelta(days=400)).strftime("%Y-%m-%d")
    path = lines_of(shop, lesson(1, date=old), lesson(2))
    document = run(shop, "jsonl", path)
    (event,) = shop.events("restored")
    assert event["learning_id"] == document["entries"][0]["id"]
    assert event["reason"] == "imported from jsonl"
    shop.grove("maintain", "decay")
    assert all(
        one["status"] == "active" for one in shop.grove("list", "--all", "--json").json["learnings"]
    )


def test_what_the_backend_cannot_take_waits_and_is_there_already_next_time(shop):
    shop.learnings_file.mkdir()
    path = lines_of(shop, lesson(1))
    (one,) = run(shop, "jsonl", path)["entries"]
    assert (one["state"], one["waits"]) == ("imported", True)
    assert states(run(shop, "jsonl", path)) == ["present"]
    shop.learnings_file.rmdir()
    assert states(run(shop, "jsonl", path)) == ["present"]
    assert shop.learning_ids() == [one["id"]]


def test_a_run_that_is_killed_is_finished_by_the_next(shop):
    objects = [lesson(number) for number in range(400)]
    path = lines_of(shop, *objects)
    process = shop.start("import", "jsonl", str(path))
    until = time.monotonic() + 60
    while len(shop.learning_ids()) < 20 and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    there = len(shop.learning_ids())
    document = run(shop, "jsonl", path)
    assert document["counts"]["present"] in (there, there - 1)
    assert document["counts"]["imported"] + document["counts"]["present"] == 400
    assert len(shop.learning_ids()) == len(set(shop.learning_ids())) == 400


def test_a_run_that_is_interrupted_says_that_it_can_be_finished(shop):
    path = lines_of(shop, *(lesson(number) for number in range(400)))
    process = shop.start("import", "jsonl", str(path))
    until = time.monotonic() + 60
    while len(shop.learning_ids()) < 20 and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 1
    assert said.decode().strip().startswith("grove: interrupted; what has been stored stays")
    assert run(shop, "jsonl", path)["counts"]["refused"] == 0
    assert len(shop.learning_ids()) == len(set(shop.learning_ids())) == 400


def test_two_at_once_import_everything_once(shop):
    path = lines_of(shop, *(lesson(number) for number in range(40)))
    both = [shop.start("import", "jsonl", str(path), "--json") for _ in range(2)]
    done = [json.loads(process.communicate()[0]) for process in both]
    assert sum(one["counts"]["imported"] for one in done) == 40
    assert len(shop.learning_ids()) == len(set(shop.learning_ids())) == 40


def test_what_is_imported_is_shown_to_the_next_session(shop):
    run(shop, "notes", "old/CLAUDE.md")
    assert "mock the clock" in shop.agent().asks("How do I mock the clock in an export test?")


def test_everything_of_this_project_in_a_spread_layout(shop):
    (shop.project / ".grove" / "config.toml").write_text('[storage]\nlayout = "spread"\n')
    run(shop, "solutions", "old/solutions")
    assert len(list((shop.project / ".grove" / "learnings").iterdir())) == 4


def test_into_total_recall_with_statuses_and_again(total_recall):
    path = lines_of(
        total_recall,
        lesson(1, id="cl_20260101_aaaaaa", status="archived", date="2026-01-01"),
        lesson(2, id="cl_20260101_bbbbbb", scope="ephemeral"),
        lesson(3),
    )
    document = run(total_recall, "jsonl", path)
    assert {one["backend"] for one in document["entries"]} == {"total-recall"}
    shown = total_recall.grove("show", "cl_20260101_aaaaaa", "--json").json
    assert (shown["status"], shown["backend"]) == ("archived", "total-recall")
    assert states(run(total_recall, "jsonl", path)) == ["present"] * 3


def test_a_secret_in_what_is_ignored_is_not_shown(shop):
    done = shop.grove("import", "jsonl", lines_of(shop, lesson(1, **{KEY: 1})), "--json")
    assert done.json["entries"][0]["stage"] == "secret"
    assert KEY not in done.stdout + done.stderr


# --- files --------------------------------------------------------------------------------------


def test_a_path_outside_of_the_project(shop):
    path = shop.others / "notes.md"
    path.parent.mkdir()
    path.write_text("- Run the tests with `make test`, since pytest alone misses the database.\n")
    (one,) = run(shop, "notes", path)["entries"]
    assert one["path"] == str(path)


def test_the_name_of_a_file_cannot_write_to_the_terminal(shop):
    folder = shop.project / "notes"
    folder.mkdir()
    (folder / "a\x1b[31m\nb\u202e.md").write_text("- A rule of more than five words here.\n")
    (folder / "c\x1b[31m\nd.md").write_text(f"- The rule of {KEY} and other things.\n")
    done = shop.grove("import", "notes", "notes")
    assert "notes/a[31m b.md:1" in done.stdout
    assert "notes/c[31m d.md:1: refused" in done.stderr
    assert not {"\x1b", "\u202e"} & {*done.stdout, *done.stderr}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe- \x00", "not UTF-8"),
        ("- äöü".encode("latin-1"), "not UTF-8"),
        (b"- a\n<<<<<<< HEAD\n- b\n=======\n- c\n>>>>>>> x\n", "conflict marker"),
    ],
)
def test_files_that_cannot_be_read_are_named(shop, content, said):
    (shop.project / "n.md").write_bytes(content)
    (one,) = run(shop, "notes", "n.md", code=1)["entries"]
    assert said in one["reason"]


def test_a_file_of_zeros_is_no_text(shop):
    (shop.project / "n.md").write_bytes("- Ein Satz aus mehr als fünf Wörtern".encode("utf-16-le"))
    (shop.project / "z.jsonl").write_bytes(b"\0" * 100)
    for form, name in (("notes", "n.md"), ("jsonl", "z.jsonl")):
        (one,) = run(shop, form, name, code=1)["entries"]
        assert one["state"] == "refused"
        assert "UTF-8" in one["reason"]


def test_windows_line_ends_are_no_part_of_a_text(shop):
    text = "# Rules\r\n\r\n- A rule of more than five words\r\n  that goes on here.\r\n"
    (shop.project / "n.md").write_bytes(text.encode())
    (one,) = run(shop, "notes", "n.md")["entries"]
    assert one["notes"] == []
    assert "\r" not in shop.learnings_file.read_bytes().decode()


CURRENT = """### [cl_20260206_k3f9a2] A learning of grove's own
- **Category:** pitfall

> Its detail is here.
"""


@pytest.mark.parametrize(
    ("form", "path", "looks", "mend"),
    [
        ("notes", "older-grove/learnings.md", "older grove", "grove import older-grove"),
        ("solutions", "older-grove/learnings.md", "older grove", "grove import older-grove"),
        ("notes", "basic.jsonl", "JSON Lines", "grove import jsonl"),
        ("older-grove", "basic.jsonl", "JSON Lines", "grove import jsonl"),
        ("jsonl", "older-grove/stats.log", "log of events", "grove import older-grove"),
        ("jsonl", "CLAUDE.md", "text", "grove import notes"),
        ("jsonl", "array.json", "one JSON document", "an object a line"),
        ("notes", "current.md", "grove's own", "grove export"),
        ("jsonl", "current.md", "grove's own", "grove export"),
        *(
            (
                form,
                "solutions/performance-issues/order-list-asks-once-a-row.md",
                "solved problem",
                "grove import solutions",
            )
            for form in ("notes", "jsonl", "older-grove")
        ),
    ],
)
def test_a_file_of_another_format_says_which_it_looks_like(shop, form, path, looks, mend):
    (shop.project / "old" / "array.json").write_text(json.dumps([lesson(1), lesson(2)], indent=2))
    (shop.project / "old" / "current.md").write_text(CURRENT)
    (one,) = run(shop, form, f"old/{path}", code=1)["entries"]
    assert one["reason"].startswith("it looks like ")
    assert looks in one["reason"]
    assert mend in one["reason"]


def test_a_file_without_anything_of_the_older_grove_says_so(shop):
    (one,) = run(shop, "older-grove", "old/CLAUDE.md")["entries"]
    assert one["state"] == "left_out"
    assert "grove import notes" in one["reason"]


def test_a_folder_of_another_format_says_which_it_looks_like(shop):
    wrong = shop.grove("import", "older-grove", "old/solutions").stderr
    assert "`grove import solutions`" in wrong
    assert "old/basic.jsonl" in shop.grove("import", "older-grove", "old").stderr
    assert "old/basic.jsonl" in shop.grove("import", "jsonl", "old").stderr


def test_progress_is_shown_on_a_terminal_only(shop):
    path = lines_of(shop, *(lesson(number) for number in range(120)))
    assert shop.grove("import", "jsonl", path, "--dry-run").stderr == ""
    ours, theirs = pty.openpty()
    environment = {**shop.environment, "TERM": "xterm"}
    done = subprocess.run(
        [*GROVE, "import", "jsonl", str(path), "--dry-run"],
        cwd=shop.project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
    )
    assert "entries checked" in os.read(ours, 10_000).decode()
    assert b"entries checked" not in done.stdout


def test_an_underline_of_equals_signs_is_no_conflict(shop):
    (shop.project / "n.md").write_text(
        "Heading\n=======\n\n- A rule of more than five words here.\n"
    )
    assert run(shop, "notes", "n.md")["counts"]["imported"] == 1


def test_links_and_pipes_in_a_folder_are_not_followed(shop):
    folder = shop.project / "notes"
    folder.mkdir()
    (folder / "real.md").write_text("- A rule of more than five words here.\n")
    (folder / "link.md").symlink_to(shop.project / "old" / "CLAUDE.md")
    (folder / "folder").symlink_to(shop.project / "old")
    os.mkfifo(folder / "pipe.md")
    document = run(shop, "notes", "notes", code=1)
    assert document["counts"]["imported"] == 1
    reasons = {Path(one["path"]).name: one["reason"] for one in entries(document, "refused")}
    assert "symbolic link" in reasons["link.md"]
    assert "symbolic link" in reasons["folder"]
    assert "no regular file" in reasons["pipe.md"]


def test_a_linked_folder_of_the_older_program_is_not_followed(shop):
    other = shop.project / "other"
    other.mkdir()
    (other / ".grove").symlink_to(SAMPLES / "older-grove")
    (one,) = run(shop, "older-grove", "other", code=1)["entries"]
    assert "symbolic link" in one["reason"]
    assert shop.learning_ids() == []


def test_a_folder_that_cannot_be_read_is_named(shop, monkeypatch):
    folder = shop.project / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("- A rule of more than five words here.\n")
    walked = os.walk

    def walk(top, onerror):
        yield from walked(top)
        # As root, who may run these tests, every folder can be read.
        onerror(PermissionError(errno.EACCES, "Permission denied", str(folder / "b")))

    monkeypatch.setattr(import_sources.os, "walk", walk)
    first, second = find_sources(ImportFormat.NOTES, folder, shop.project)
    assert (first.path.name, second.path.name) == ("a.md", "b")
    assert "Permission denied" in second.problem.reason
    assert second.problem.is_fault


def test_hidden_folders_and_those_of_package_managers_are_passed_over(shop):
    for name in (".git", "node_modules/x", ".venv"):
        folder = shop.project / "n" / name
        folder.mkdir(parents=True)
        (folder / "a.md").write_text("- A rule of more than five words here.\n")
    assert shop.grove("import", "notes", "n").code == 1


def test_a_file_that_is_too_large_is_not_read(shop):
    path = shop.project / "n.md"
    with path.open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    (one,) = run(shop, "notes", "n.md", code=1)["entries"]
    assert "64 are the limit" in one["reason"]


def test_wrong_command_lines(shop):
    assert shop.grove("import", "notes", "nothing.md").code == 2
    assert shop.grove("import", "word", "old/CLAUDE.md").code == 2
    folder = shop.grove("import", "jsonl", "old")
    assert (folder.code, "is a folder" in folder.stderr) == (1, True)
    (shop.project / "empty").mkdir()
    assert "nothing to import" in shop.grove("import", "older-grove", "empty").stderr


def test_what_people_read(shop):
    done = shop.grove("import", "notes", "old/CLAUDE.md")
    assert re.search(r"^old/CLAUDE\.md:20  cl_\d{8}_[a-z2-7]{6}$", done.stdout, re.MULTILINE)
    assert "old/CLAUDE.md:9  left out: code without a word of explanation" in done.stdout
    assert done.stdout.endswith("4 imported, 5 left out.\n")
    dry = shop.grove("import", "notes", "old/CLAUDE.md", "--dry-run")
    expected = "Dry run, nothing was written: 4 there already, 5 left out.\n"
    assert dry.stdout.endswith(expected)
    assert shop.grove("import", "jsonl", lines_of(shop, lesson(1)), "-q").stdout.startswith("cl_")


# --- without loss -------------------------------------------------------------------------------


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(learnings(Scope.PROJECT, Scope.TEAM, Scope.PERSONAL), max_size=5), st.data())
def test_an_export_is_imported_without_any_loss(tmp_path_factory, some, data):
    folder = tmp_path_factory.mktemp("exchange")
    project = folder / "project"
    (project / ".grove").mkdir(parents=True)
    by_id = {}
    for one in some:
        status = data.draw(st.sampled_from(LearningStatus))
        changed = {"status": status, "supersedes": _without(one.supersedes, some)}
        by_id[one.id] = type(one)(**{name: getattr(one, name) for name in FIELDS} | changed)
    path = folder / "export.jsonl"
    path.write_text(write_jsonl(by_id.values()), encoding="utf-8")
    environment = {"HOME": str(folder), "GROVE_HOME": str(folder / "home"), "PATH": os.defpath}
    workspace = Workspace(project, environment, datetime(2030, 1, 1, tzinfo=UTC))
    report = import_from(
        workspace,
        ImportFormat.JSONL,
        path,
        scope=Scope.PROJECT,
        dry_run=False,
        progress=lambda *_: None,
    )
    assert {one.state for one in report.outcomes} <= {ImportState.IMPORTED}, report
    stored = {one.hit.learning.id: one.hit.learning for one in workspace.library.iterate()}
    # What any command gets of a learning: a library folds blanks of all kinds in paths.
    assert stored == {
        key: cleaned(Hit(learning=one, relevance=1.0)).learning for key, one in by_id.items()
    }


def _without(ids, learnings):
    """Leaves out what is in the import: the import would retire it, which is no loss."""
    return tuple(name for name in ids if name not in {one.id for one in learnings})


FIELDS = (
    "id category summary detail session_id timestamp scope confidence criteria_met tags"
    " context_files ticket_id supersedes"
).split()

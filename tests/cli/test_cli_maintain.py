"""`grove maintain`, `list --stale`, `list --rejected` and `show`, as a person and a script see them."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

OLD = "cl_20300102_oooooo"
SOON = "cl_20300102_ssssss"
NEW = "cl_20300102_nnnnnn"
MINE = "cl_20300102_mmmmmm"
TODAY = datetime.now(UTC)


def days_ago(days):
    return (TODAY - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


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


def show_nothing(world):
    """Lets sessions start without making any learning younger."""
    (world.project / ".grove" / "config.toml").write_text("[retrieval]\nmax_injections = 0\n")


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


# --- archive ------------------------------------------------------------------------------------


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


def test_archive_with_a_reason(shop):
    maintain(shop, "archive", OLD, NEW, "--reason", "gone since\n httpx (0.28)")
    assert status_line(shop, OLD) == f"archived (gone since httpx (0.28) {day()})"
    assert [one["reason"] for one in shop.events("archived")] == ["gone since httpx (0.28)"] * 2
    assert shop.grove("show", OLD, "--json").json["status"] == "archived"


def test_archiving_twice_says_that_it_is_done(shop):
    maintain(shop, "archive", OLD)
    text = shop.learnings_file.read_bytes()
    done = maintain(shop, "archive", OLD)
    assert done.stdout == f"{OLD} is archived already\n"
    assert shop.learnings_file.read_bytes() == text
    assert len(shop.events("archived")) == 1
    assert ids(in_json(shop, "archive", OLD)["unchanged"]) == [OLD]


def test_a_personal_learning_stays_personal(shop):
    maintain(shop, "archive", MINE)
    maintain(shop, "restore", MINE)
    assert shop.events() == []
    named = [(one["event"], one["learning_id"]) for one in shop.events(personal=True)]
    assert named == [("archived", MINE), ("restored", MINE)]
    assert status_line(shop, MINE, personal=True) == "active"


def test_one_wrong_id_does_not_keep_the_others(shop):
    done = maintain(shop, "archive", "cl_nothing", OLD, code=1)
    assert "no learning has the id cl_nothing" in done.stderr
    assert status_line(shop, OLD).startswith("archived")
    document = in_json(shop, "archive", "cl_nothing", code=1)
    assert "cl_nothing" in document["error"]
    assert ids(document["refused"]) == ["cl_nothing"]


@pytest.mark.parametrize(
    ("words", "said"), [([], "say what to archive"), ([OLD, "--stale"], "not both")]
)
def test_nothing_is_archived_without_being_named(shop, words, said):
    before = shop.learnings_file.read_bytes()
    assert said in maintain(shop, "archive", *words, code=2).stderr
    assert shop.learnings_file.read_bytes() == before


def test_archive_stale_takes_what_list_stale_names(shop):
    listed = shop.grove("list", "--stale", "-q").stdout.split()
    assert listed == [OLD, SOON]
    assert maintain(shop, "archive", "--stale", "-q").stdout.split() == listed
    assert status_line(shop, SOON) == f"archived (going stale {day()})"
    assert "86 days ago" in shop.events("archived")[1]["reason"]
    assert shop.grove("list", "--stale", "-q").stdout == ""
    assert "No learning is due" in maintain(shop, "archive", "--stale").stdout


def test_archived_learnings_are_out_of_sight_and_found(shop):
    maintain(shop, "archive", OLD)
    assert OLD not in shop.grove("list", "-q").stdout
    assert OLD not in shop.grove("search", "slow", "-q").stdout
    assert OLD in shop.grove("search", "slow", "--status", "archived", "-q").stdout
    assert OLD not in shop.agent().starts()


@pytest.mark.parametrize("verb", ["archive", "restore"])
def test_a_reason_with_a_secret_is_refused(shop, verb):
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    before = shop.learnings_file.read_bytes()
    done = maintain(shop, verb, OLD, "--reason", f"the token {token} is revoked", code=1)
    assert "secret" in done.stderr.lower() or "token" in done.stderr.lower()
    assert token not in done.stderr
    assert shop.learnings_file.read_bytes() == before
    assert shop.events() == []


# --- restore ------------------------------------------------------------------------------------


def test_restore_takes_it_back_as_it_was(shop):
    before = shop.learnings_file.read_bytes()
    maintain(shop, "archive", OLD)
    assert maintain(shop, "restore", OLD, "-q").stdout == f"{OLD}\n"
    assert shop.learnings_file.read_bytes() == before
    assert [one["event"] for one in shop.events()] == ["archived", "restored"]
    assert maintain(shop, "restore", OLD).stdout == f"{OLD} is active already\n"
    assert len(shop.events("restored")) == 1


def test_what_was_restored_is_not_archived_again(shop):
    show_nothing(shop)
    maintain(shop, "decay")
    maintain(shop, "restore", OLD)
    shop.agent().starts()
    assert maintain(shop, "decay").stdout == "No learning is due.\n"
    assert status_line(shop, OLD) == "active"
    assert "last restored" in shop.grove("show", OLD).stdout


def test_superseded_is_final(shop):
    maintain(shop, "supersede", OLD, "--by", NEW)
    before = shop.learnings_file.read_bytes()
    done = maintain(shop, "restore", OLD, code=1)
    assert f"{OLD} is superseded, which is final" in done.stderr
    assert maintain(shop, "archive", OLD).stdout == f"{OLD} is superseded already\n"
    assert shop.learnings_file.read_bytes() == before


# --- supersede ----------------------------------------------------------------------------------


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


def test_only_one_learning_takes_another_ones_place(shop):
    maintain(shop, "supersede", OLD, "--by", NEW)
    before = shop.learnings_file.read_bytes()
    done = maintain(shop, "supersede", OLD, "--by", SOON, code=1)
    assert f"{OLD} is superseded already, by {NEW}; {SOON} was not put there" in done.stderr
    assert shop.learnings_file.read_bytes() == before
    assert len(shop.events()) == 1


def test_a_learning_that_was_superseded_without_a_word_keeps_its_place(shop):
    text = shop.learnings_file.read_text()
    shop.learnings_file.write_text(text.replace("active", "superseded", 1))
    done = maintain(shop, "supersede", OLD, "--by", SOON, code=1)
    assert f"{OLD} is superseded already; {SOON} was not put there" in done.stderr


def test_curation_needs_no_place_for_its_lock(shop):
    (shop.grove_home / "cache").write_text("in the way")
    maintain(shop, "archive", OLD)
    assert status_line(shop, OLD) == f"archived (by hand {day()})"


def test_supersede_names_the_session_it_runs_in(shop):
    shop.agent().grove("maintain", "supersede", OLD, "--by", NEW)
    assert shop.events("corrected")[0]["session_id"] == "session-1"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (OLD, OLD, "cannot take its own place"),
        (OLD, "cl_nothing", "no learning has the id cl_nothing"),
        ("cl_nothing", NEW, "no learning has the id cl_nothing"),
        (OLD, MINE, "is personal"),
    ],
)
def test_what_cannot_be_superseded(shop, old, new, words):
    before = shop.learnings_file.read_bytes()
    assert words in maintain(shop, "supersede", old, "--by", new, code=1).stderr
    assert shop.learnings_file.read_bytes() == before
    assert shop.events() == []


def test_only_an_active_learning_takes_another_ones_place(shop):
    maintain(shop, "archive", NEW)
    assert "is archived itself" in maintain(shop, "supersede", OLD, "--by", NEW, code=1).stderr
    maintain(shop, "restore", NEW)
    maintain(shop, "supersede", NEW, "--by", SOON)
    assert "is superseded itself" in maintain(shop, "supersede", SOON, "--by", NEW, code=1).stderr


# --- decay --------------------------------------------------------------------------------------


def test_decay_archives_what_is_due_and_nothing_else(shop):
    assert ids(in_json(shop, "decay")["changed"]) == [OLD]
    assert status_line(shop, OLD) == f"archived (decayed {day()})"
    assert status_line(shop, SOON) == "active"
    reason = shop.events("archived")[0]["reason"]
    assert reason.startswith("decayed: written ")
    assert reason.endswith("120 days ago, and 90 days are the limit")
    assert maintain(shop, "decay").stdout == "No learning is due.\n"


def test_the_configuration_decides_about_the_project_alone(shop):
    (shop.project / ".grove" / "config.toml").write_text("[decay]\npassive_duration_days = 1\n")
    assert ids(in_json(shop, "decay")["changed"]) == [OLD, SOON, NEW]
    assert status_line(shop, MINE, personal=True) == "active"
    (shop.grove_home / "config.toml").write_text("[decay]\npassive_duration_days = 2\n")
    assert ids(in_json(shop, "decay")["changed"]) == [MINE]
    assert [one["learning_id"] for one in shop.events("archived", personal=True)] == [MINE]


@pytest.mark.parametrize("words", [["decay"], ["archive", "--stale"], ["decay", "--dry-run"]])
def test_without_the_log_nothing_is_archived_as_unused(shop, words):
    (shop.project / ".grove" / "stats.log").mkdir()
    before = shop.learnings_file.read_bytes()
    done = maintain(shop, *words, code=1)
    assert "stats.log cannot be read, and what is used would seem unused" in done.stderr
    assert shop.learnings_file.read_bytes() == before


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


def test_a_dry_run_of_restoring_changes_nothing(shop):
    maintain(shop, "archive", OLD)
    before = shop.learnings_file.read_bytes()
    assert "would be restored" in maintain(shop, "restore", OLD, "--dry-run").stdout
    assert shop.learnings_file.read_bytes() == before
    assert shop.events("restored") == []


def test_decay_of_many_processes_archives_once(shop):
    running = [shop.start("maintain", "decay", "-q") for _ in range(4)]
    said = [process.communicate(timeout=60)[0].decode() for process in running]
    assert sorted(said) == ["", "", "", f"{OLD}\n"]
    assert len(shop.events("archived")) == 1


# --- flush --------------------------------------------------------------------------------------


def test_flush_delivers_what_waits(shop, candidate):
    agent = shop.agent()
    agent.starts()
    (shop.project / ".grove" / "aside").mkdir()
    shop.learnings_file.rename(shop.project / ".grove" / "aside" / "learnings.md")
    shop.learnings_file.mkdir()
    stored = agent.reflects(candidate()).json["accepted"][0]
    assert stored["status"] == "queued"
    done = maintain(shop, "flush", code=1)
    assert f"waits  {stored['id']}" in done.stdout
    assert "could not be delivered" in done.stderr
    assert ids(in_json(shop, "flush", "--dry-run")["waiting"]) == [stored["id"]]
    shop.learnings_file.rmdir()
    document = in_json(shop, "flush")
    assert [one["learning_id"] for one in document["delivered"]] == [stored["id"]]
    assert document["waiting"] == []
    assert shop.learning_ids() == [stored["id"]]
    assert maintain(shop, "flush").stdout == "Nothing waits.\n"


def test_flush_names_what_cannot_be_read(shop):
    broken = shop.grove_home / "outbox" / "cl_20300101_xxxxxx.json"
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    assert str(broken) in maintain(shop, "flush", code=1).stdout
    assert broken.exists()


# --- list ---------------------------------------------------------------------------------------


def use(world, learning_id, shown, used=0, days=10):
    """Writes what so many sessions did with a learning."""
    lines = []
    for number in range(shown):
        fields = {"v": 1, "ts": days_ago(days + number), "grove": "0.1.0"}
        fields |= {"learning_id": learning_id, "session_id": f"past-{number}"}
        lines.append({**fields, "event": "surfaced"})
        if number < used:
            lines.append({**fields, "event": "referenced"})
    with (world.project / ".grove" / "stats.log").open("a") as file:
        file.write("".join(f"{json.dumps(line)}\n" for line in lines))


def test_maintain_alone_lists_what_curation_would_look_at(shop):
    show_nothing(shop)
    shop.learning("cl_20300102_uuuuuu", "Shown in vain, again and again", created=days_ago(40))
    shop.learning("cl_20300102_wwwwww", "Said to be wrong by somebody", created=days_ago(4))
    shop.learning("cl_20300102_pppppp", "Superseded by the new one", created=days_ago(5))
    shop.learning("cl_20300102_aaaaaa", "Archived by a person", created=days_ago(5))
    use(shop, "cl_20300102_uuuuuu", shown=6)
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
    for title in ("Going stale", "Archived within 30 days", "Superseded within", "Often shown"):
        assert title in text
    assert "shown in 6 sessions, used in none" in text
    assert "`grove maintain list --explain` says" in text


def test_each_learning_is_printed_once(shop):
    text = maintain(shop).stdout
    assert text.count(f"{OLD}  ") == text.count(f"{SOON}  ") == 1
    assert "never shown (2)\n  … 2 named above\n" in text
    for number in range(21):
        created = days_ago(100 + number)
        shop.learning(f"cl_20300102_dddd{number:02}", f"Number {number}", created=created)
    text = maintain(shop).stdout
    assert "and 3 more" in text
    assert "never shown (23)" in text
    assert "… 20 named above" in text
    # Those for which there was no room above are named here.
    assert text.count("  Number ") == 21


def test_days_left_are_told_where_the_rule_applies(shop):
    use(shop, NEW, shown=4, used=4)
    maintain(shop, "archive", OLD)
    maintain(shop, "supersede", SOON, "--by", NEW)
    explained = {one["id"]: one for one in in_json(shop, "list", "--explain")["explained"]}
    left = {one["id"]: one["days_left"] for one in explained.values()}
    assert left == {one["id"]: one["decay"]["days_left"] for one in explained.values()}
    assert left[OLD] is left[SOON] is left[NEW] is None
    assert left[MINE] == pytest.approx(87, abs=0.1)


def test_never_shown(shop):
    assert ids(in_json(shop)["never_shown"]) == [OLD, SOON]
    use(shop, SOON, shown=1)
    assert ids(in_json(shop)["never_shown"]) == [OLD]


def test_an_empty_project_needs_nothing(world):
    world.initialise()
    assert maintain(world).stdout.startswith("Nothing needs curation.")
    assert in_json(world)["total"] == 0


def test_explain_says_of_each_how_it_stands(shop):
    use(shop, NEW, shown=4, used=4)
    use(shop, SOON, shown=6)
    maintain(shop, "archive", OLD)
    explained = {one["id"]: one for one in in_json(shop, "list", "--explain")["explained"]}
    assert explained.keys() == {OLD, SOON, NEW, MINE}
    assert explained[NEW]["decay"]["state"] == "immune"
    assert "immune: shown in 4 sessions, used in 4 (100 %," in explained[NEW]["reason"]
    assert explained[SOON]["decay"]["fast_track"] is True
    assert explained[SOON]["decay"]["verified_by"] == "written"
    assert explained[OLD]["reason"] == f"archived {day()}: by hand"
    assert explained[MINE]["decay"]["days_left"] == pytest.approx(87, abs=0.1)
    text = maintain(shop, "list", "--explain").stdout
    assert "shown 6, used 0, hit rate 0 %" in text
    assert "fast track yes" in text
    assert maintain(shop, "list", "--explain", "-q").stdout.split() == list(explained)


def test_what_a_person_archived_in_the_file_is_explained_as_far_as_it_can_be(shop):
    text = shop.learnings_file.read_text()
    shop.learnings_file.write_text(text.replace("active", "archived (by me)", 1))
    explained = {one["id"]: one for one in in_json(shop, "list", "--explain")["explained"]}
    assert explained[OLD]["reason"] == "archived; no event says when and why"


def test_a_log_cannot_drive_the_terminal(shop):
    maintain(shop, "archive", OLD)
    log = shop.project / ".grove" / "stats.log"
    log.write_text(log.read_text().replace("by hand", "\\u001b[2J\\nfree"))
    for words in (["maintain"], ["maintain", "list", "--explain"], ["show", OLD]):
        out = shop.grove(*words).stdout
        assert "\x1b" not in out
        assert "[2J free" in out


def test_list_stale(shop):
    use(shop, NEW, shown=1, days=85)
    out = shop.grove("list", "--stale").stdout
    assert "120 days ago, and 90 days are the limit" in out
    assert "archived in 4 days unless it is shown or used" in out
    assert NEW not in out
    found = shop.grove("list", "--stale", "--json").json["learnings"]
    assert [one["decay"]["state"] for one in found] == ["due", "fresh"]
    assert shop.grove("list", "--stale", "--limit", "1", "-q").stdout == f"{OLD}\n"
    assert shop.grove("list", "--stale", "--sort", "created", "-q").stdout == f"{SOON}\n{OLD}\n"
    assert shop.grove("list", "--stale", "--all").code == 2


def test_list_rejected(shop, candidate):
    agent = shop.agent()
    agent.starts()
    agent.reflects({"summary": "too short"}, candidate(1))
    agent.reflects(candidate(1, summary="OrderStore.report() runs many queries", category="odd"))
    found = shop.grove("list", "--rejected", "--json").json
    assert (found["count"], found["total"]) == (2, 2)
    newest, oldest = found["rejected"]
    assert newest["summary"] == "OrderStore.report() runs many queries"
    assert oldest["summary"] == "too short"
    assert {one["stage"] for one in found["rejected"]} == {"schema"}
    assert "category" in newest["reason"]
    assert newest["session_id"] == "session-1"
    one = shop.grove("list", "--rejected", "--limit", "1")
    assert "1 of 2 refusals shown." in one.stdout
    assert newest["reason"] in one.stdout
    assert shop.grove("list", "--rejected", "--since", "1d", "--json").json["total"] == 2
    assert shop.grove("list", "--rejected", "--since", "2100-01-01", "--json").json["total"] == 0
    assert shop.grove("list", "--rejected", "--tag", "orders").code == 2


@pytest.mark.parametrize("is_pipe", [True, False])
@pytest.mark.parametrize("words", [["list", "--rejected"], ["maintain", "list"], ["show", NEW]])
def test_a_log_that_is_no_plain_file_keeps_nobody_waiting(shop, words, is_pipe):
    log = shop.project / ".grove" / "stats.log"
    log.unlink(missing_ok=True)
    if is_pipe:
        os.mkfifo(log)
    else:
        log.symlink_to("/dev/full")
    process = shop.start(*words)
    try:
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert f"the event log cannot be read: {log}" in shop.log()


def test_repair_does_not_wait_for_a_pipe(shop):
    log = shop.project / ".grove" / "stats.log"
    log.unlink(missing_ok=True)
    os.mkfifo(log)
    process = shop.start("maintain", "repair", "--dry-run")
    try:
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 1
    assert b"it is no plain file" in errors


def test_nothing_was_rejected(shop):
    assert shop.grove("list", "--rejected").stdout == "No candidate was refused.\n"


# --- show ---------------------------------------------------------------------------------------


def test_show_tells_what_has_become_of_it(shop):
    use(shop, OLD, shown=1, used=1, days=30)
    maintain(shop, "archive", OLD, "--reason", "seemed gone")
    maintain(shop, "restore", OLD)
    maintain(shop, "supersede", OLD, "--by", NEW)
    found = shop.grove("show", OLD, "--json").json
    assert [one["event"] for one in found["history"]] == [
        "referenced",
        "archived",
        "restored",
        "corrected",
    ]
    assert found["superseded_by"] == NEW
    out = shop.grove("show", OLD).stdout
    assert f"by {NEW}  OrderStore.rows() is slow unless prefetched" in out
    assert "archived  seemed gone" in out
    assert shop.grove("show", NEW, "--json").json["superseded_by"] is None


def test_show_finds_the_successor_by_its_own_words(shop):
    text = shop.learnings_file.read_text().replace(
        "- **Status:** active", "- **Status:** superseded", 1
    )
    shop.learnings_file.write_text(text)
    shop.learning("cl_20300103_bbbbbb", "The better one", created=days_ago(1), supersedes=OLD)
    assert shop.grove("show", OLD, "--json").json["superseded_by"] == "cl_20300103_bbbbbb"


# --- the group ----------------------------------------------------------------------------------


def test_the_help_names_every_command(world):
    out = world.grove("maintain", "--help").stdout
    for name in ("list", "archive", "restore", "supersede", "decay", "flush", "migrate", "repair"):
        assert re.search(rf"\b{name}\b", out)
    assert world.grove("maintain", "archiv").code == 2


def completed(world, *words):
    done = subprocess.run(
        [sys.executable, "-m", "grove_core._entry"],
        cwd=world.project,
        env={
            **world.environment,
            "_GROVE_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(("grove", "maintain", *words)),
            "COMP_CWORD": str(len(words) + 1),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return set(re.findall(r"cl_\w+", done.stdout))


def test_ids_are_completed(shop):
    assert completed(shop, "archive", "cl_20300102_o") == {OLD}
    assert os.listdir(shop.project) == [".grove"]


def test_only_ids_of_which_something_can_be_made_are_completed(shop):
    maintain(shop, "archive", OLD)
    assert completed(shop, "restore", "cl_") == {OLD}
    assert completed(shop, "archive", "cl_") == {SOON, NEW, MINE}
    assert completed(shop, "supersede", OLD, "--by", "cl_") == {SOON, NEW, MINE}
    maintain(shop, "supersede", OLD, "--by", NEW)
    assert completed(shop, "restore", "cl_") == set()
    assert completed(shop, "supersede", "cl_") == {SOON, NEW, MINE}

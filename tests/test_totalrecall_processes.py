"""The real `grove` where Total Recall's memory cannot be written, is not there, or is not shared."""

import fcntl
import json
import os
import subprocess
import sys
from datetime import datetime

import pytest

HUGE = 16 * 1024 * 1024 + 1
DISK = 1024 * 1024  # bytes
GROVE = (sys.executable, "-m", "grove_core._entry")
LIMITED = ("/bin/sh", "-c", f"trap '' XFSZ; ulimit -f {DISK // 512}; exec \"$@\"", "sh", *GROVE)


def today(world):
    return world.project / "memory" / "daily" / f"{datetime.now():%Y-%m-%d}.md"


def dangle(log):
    log.symlink_to("nowhere")


def be_folder(log):
    log.mkdir()


def be_huge(log):
    log.touch()
    os.truncate(log, HUGE)


def fill_disk(log):
    """No file may grow beyond the size that this log has: the kernel itself cuts the write."""
    log.write_text("# A long day\n" + "[09:00] and more to say about it\n" * 40_000)
    with log.open("rb+") as file:
        file.truncate(DISK - 1)
        file.seek(-1, os.SEEK_END)
        file.write(b"\n")


def remove(log):
    log.rmdir() if log.is_dir() else log.unlink()


HINDRANCES = {
    "dangling link": (dangle, "leads nowhere", "flush"),
    "a folder": (be_folder, "is no file", "reflect"),
    "too large": (be_huge, "16 MiB", "flush"),
    "disk full": (fill_disk, "cannot append", "reflect"),
}


def state(folder):
    """Every byte below a folder, and where links lead; nothing of large files but their size."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[path] = os.readlink(path)
        elif path.is_file():
            size = path.stat().st_size
            found[path] = size if size >= HUGE else path.read_bytes()
        else:
            found[path] = "folder"
    return found


def reflects(world, candidate, *, program=GROVE, cwd=None, session="session-1"):
    """`grove reflect` with one candidate; gives what became of it, and what was told on stderr."""
    done = subprocess.run(
        [*program, "reflect", "--json", "--session-id", session],
        input=json.dumps({"candidates": [candidate]}),
        cwd=cwd or world.project,
        env=world.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(done.stdout)["accepted"]
    return {**one, "told": done.stderr}


def watched(world, candidate, **fields):
    """The same, where nothing but logs and grove's own files may change."""
    with world.watched():
        return reflects(world, candidate, **fields)


def found(world, *words):
    """Where `grove search` finds learnings, by id."""
    results = world.grove("search", "--json", *words).json["results"]
    assert len(results) == len({one["id"] for one in results})
    return {one["id"]: one["backend"] for one in results}


def waiting(world):
    outbox = world.grove_home / "outbox"
    return sorted(one.stem for one in outbox.glob("*.json"))


@pytest.fixture
def reflecting(total_recall):
    """A project whose agent has closed a ticket, and owes a reflection."""
    agent = total_recall.agent()
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    return total_recall


@pytest.mark.parametrize("name", HINDRANCES)
def test_what_cannot_be_written_is_kept_in_markdown_until_it_can(reflecting, candidate, name):
    spoil, words, way_home = HINDRANCES[name]
    world, log = reflecting, today(reflecting)
    spoil(log)
    before = state(world.project / "memory")
    one = watched(world, candidate(1), program=LIMITED if spoil is fill_disk else GROVE)
    # Honest: it says where the learning is, and why it is there.
    assert (one["status"], one["backend"]) == ("stored", "markdown")
    assert one["notes"] == ["total-recall could not take it: it is kept in markdown until that can"]
    assert words in one["told"]
    assert world.gate() == "reflected"
    assert state(world.project / "memory") == before
    assert world.learning_ids() == waiting(world) == [one["id"]]
    assert found(world, "export", "orders") == {one["id"]: "markdown"}

    remove(log)
    if way_home == "flush":
        flushed = world.grove("maintain", "flush")
        assert (flushed.code, f"stored in total-recall  {one['id']}" in flushed.stdout) == (0, True)
    else:
        assert watched(world, candidate(2))["backend"] == "total-recall"
    assert log.read_text().count(f"(grove:{one['id']}):") == 1
    assert (world.learning_ids(), waiting(world)) == ([], [])
    assert found(world, "export", "orders")[one["id"]] == "total-recall"

    # Once, and no more.
    home = log.read_bytes()
    assert world.grove("maintain", "flush").stdout == "Nothing waits.\n"
    assert log.read_bytes() == home
    listed = world.grove("list", "--json").json["learnings"]
    assert [each["id"] for each in listed].count(one["id"]) == 1


@pytest.mark.parametrize("config", ["", '[backends]\nprimary = "total-recall"\n'])
@pytest.mark.parametrize("name", ["memory", "memory/daily"])
def test_a_file_in_the_memorys_place_is_told_and_waited_out(reflecting, candidate, config, name):
    project = reflecting.project
    (project / ".grove" / "config.toml").write_text(config)
    # What else tells of Total Recall.
    (project / ".claude" / "rules").mkdir(parents=True)
    (project / ".claude" / "rules" / "total-recall.md").write_text("# Total Recall\n")
    place, away = project / name, reflecting.others / "away"
    reflecting.others.mkdir()
    place.rename(away)
    place.write_text("in the way\n")
    one = reflects(reflecting, candidate())
    assert (one["status"], one["backend"]) == ("stored", "markdown")
    assert ["total-recall" in note and "is kept in markdown" in note for note in one["notes"]] == [
        True
    ]
    assert waiting(reflecting) == [one["id"]]
    assert place.read_text() == "in the way\n"
    assert f"{name} is no folder" in reflecting.grove("backends").stdout
    assert found(reflecting, "export", "orders") == {one["id"]: "markdown"}

    place.unlink()
    away.rename(place)
    assert f"stored in total-recall  {one['id']}" in reflecting.grove("maintain", "flush").stdout
    assert found(reflecting, "export", "orders") == {one["id"]: "total-recall"}
    assert (reflecting.learning_ids(), waiting(reflecting)) == ([], [])


def test_nothing_moves_while_another_process_stores_learnings(reflecting, candidate):
    log = today(reflecting)
    dangle(log)
    one = reflects(reflecting, candidate())
    log.unlink()
    (lock,) = (reflecting.grove_home / "cache").glob("*/reflect.lock")
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        flushed = reflecting.grove("maintain", "flush")
        assert (flushed.code, "locked by another process" in flushed.stderr) == (1, True)
    assert (reflecting.learning_ids(), waiting(reflecting)) == ([one["id"]], [one["id"]])
    assert not log.exists()


def test_it_is_told_which_backend_learnings_wait_for(reflecting, candidate):
    dangle(today(reflecting))
    reflects(reflecting, candidate())
    assert "1 waiting for total-recall" in reflecting.grove("status").stdout
    assert "wait for their backend: 1 (total-recall)" in reflecting.grove("doctor").stdout


def test_what_was_changed_while_it_was_lent_goes_home_changed(reflecting, candidate):
    log = today(reflecting)
    dangle(log)
    one = reflects(reflecting, candidate())
    reflecting.grove("maintain", "archive", one["id"])
    # A field that grove does not know would be lost on the way.
    other = reflects(reflecting, candidate(2))
    text = reflecting.learnings_file.read_text()
    above, below = text.split(other["id"])
    below = below.replace("- **Confidence", "- **Owner:** Ada\n- **Confidence", 1)
    reflecting.learnings_file.write_text(f"{above}{other['id']}{below}")
    log.unlink()
    told = reflecting.grove("maintain", "flush").stdout
    assert told.count("it stays in markdown as well, since it was changed there") == 1
    assert reflecting.learning_ids() == [other["id"]]
    assert reflecting.grove("show", one["id"], "--json").json["status"] == "archived"
    assert waiting(reflecting) == []


def test_a_learning_waits_where_no_backend_can_keep_it_meanwhile(reflecting, candidate):
    (reflecting.project / ".grove" / "config.toml").write_text(
        "[backends.overrides]\nmarkdown = false\n"
    )
    log = today(reflecting)
    dangle(log)
    one = watched(reflecting, candidate())
    assert (one["status"], waiting(reflecting)) == ("queued", [one["id"]])
    assert not reflecting.learnings_file.exists()
    log.unlink()
    assert f"stored in total-recall  {one['id']}" in reflecting.grove("maintain", "flush").stdout
    assert log.read_text().count(f"(grove:{one['id']}):") == 1


def test_a_hook_fails_open_where_the_memory_cannot_be_read(reflecting):
    """A session starts, and stops are answered, whatever became of the memory."""
    daily = reflecting.project / "memory" / "daily"
    be_folder(today(reflecting))
    (daily / "2030-01-02.md").symlink_to("2030-01-02.md")
    os.mkfifo(daily / "2030-01-03.md")
    (daily / "2030-01-04.md").write_bytes(
        b"[10:00] caf\xe9 \xff\xfe\n[10:01] pumps of the harbour\n"
    )
    agent = reflecting.agent()
    agent.starts("resume")
    agent.asks("where were we with the export of orders?")
    assert "grove reflect" in agent.is_blocked()
    (backend,) = found(reflecting, "pumps", "harbour").values()
    assert backend == "total-recall"


# --- who gets to see it -------------------------------------------------------------------------


def ignore(world, text):
    (world.project / ".gitignore").write_text(text)
    world.make_git()


TEAM = "git ignores what total-recall writes here, so the team does not see it"


def test_a_team_learning_that_git_ignores_is_kept_in_markdown_as_well(reflecting, candidate):
    ignore(reflecting, "memory/\n")
    one = watched(reflecting, candidate(scope="team"))
    assert one["backend"] == "total-recall"
    copy = f"{TEAM}: it is kept in markdown as well ({reflecting.learnings_file})"
    assert one["notes"] == [copy]
    assert reflecting.learning_ids() == [one["id"]]
    assert f"(grove:{one['id']}):" in today(reflecting).read_text()
    assert set(found(reflecting, "export", "orders")) == {one["id"]}
    # What the team shares is in git's sight, and of what is kept out of it no word is.
    seen = reflecting.git("status", "--porcelain", "-uall")
    assert ".grove/learnings.md" in seen
    assert "memory/" not in seen
    record = (reflecting.project / ".grove" / "total-recall.jsonl").read_text()
    assert one["id"] in record
    assert "OrderStore" not in record


def test_without_copies_the_team_is_only_spoken_of(reflecting, candidate):
    (reflecting.project / ".grove" / "config.toml").write_text("[backends]\nteam_copies = false\n")
    ignore(reflecting, "memory/\n")
    one = watched(reflecting, candidate(scope="team"))
    (note,) = one["notes"]
    assert note.startswith(TEAM)
    assert "backends.team_copies" in note
    assert not reflecting.learnings_file.exists()
    assert found(reflecting, "export", "orders") == {one["id"]: "total-recall"}


@pytest.mark.parametrize(("scope", "ignored"), [("team", ""), ("project", "memory/\n")])
def test_there_is_nothing_to_say_of_others(reflecting, candidate, scope, ignored):
    """A team learning that git tracks, and one that is the project's own."""
    ignore(reflecting, ignored)
    one = watched(reflecting, candidate(scope=scope))
    assert (one["backend"], one["notes"]) == ("total-recall", [])
    assert not reflecting.learnings_file.exists()


def test_a_team_learning_that_the_fallback_kept_stays_in_the_shared_backend(reflecting, candidate):
    ignore(reflecting, "memory/\n")
    log = today(reflecting)
    dangle(log)
    one = watched(reflecting, candidate(scope="team"))
    assert one["backend"] == "markdown"
    log.unlink()
    assert f"stored in total-recall  {one['id']}" in reflecting.grove("maintain", "flush").stdout
    assert reflecting.learning_ids() == [one["id"]]
    assert log.read_text().count(f"(grove:{one['id']}):") == 1
    assert waiting(reflecting) == []


@pytest.mark.parametrize("scope", ["personal", "ephemeral"])
def test_scopes_go_where_they_belong(reflecting, candidate, scope):
    one = watched(reflecting, candidate(scope=scope))
    log = today(reflecting)
    if scope == "personal":
        assert one["backend"] == "markdown"
        assert one["id"] in (reflecting.grove_home / "personal-learnings.md").read_text()
        assert not log.exists()
    else:
        assert one["backend"] == "total-recall"
        assert "Scope: Ephemeral" in log.read_text()
    assert not reflecting.learnings_file.exists()


# --- where the memory is ------------------------------------------------------------------------


def test_a_work_tree_without_the_memory_uses_markdown(reflecting, candidate):
    """The memory is in no commit, so that another work tree does not have it."""
    ignore(reflecting, "memory/\nCLAUDE.local.md\n")
    folder = reflecting.others / "second"
    reflecting.git("worktree", "add", "-q", folder / "project", "-b", "second")
    second = type(reflecting)(folder)
    before = state(reflecting.project / "memory")
    agent = second.agent()
    agent.starts()
    agent.closes("bd-2")
    agent.is_blocked()
    one = watched(second, candidate())
    assert (one["status"], one["backend"], one["notes"]) == ("stored", "markdown", [])
    assert second.learning_ids() == [one["id"]]
    assert not (second.project / "memory").exists()
    assert state(reflecting.project / "memory") == before


def test_what_a_work_tree_has_left_moves_home_from_the_main_one(reflecting, candidate):
    (reflecting.project / ".grove" / "config.toml").write_text(
        '[backends]\nprimary = "total-recall"\n'
    )
    ignore(reflecting, "memory/\nCLAUDE.local.md\n")
    folder = reflecting.others / "second"
    reflecting.git("worktree", "add", "-q", folder / "project", "-b", "second")
    mine = {name: reflecting.environment[name] for name in ("HOME", "GROVE_HOME")}
    second = type(reflecting)(folder, mine)
    second.agent("session-2").starts()
    one = reflects(second, candidate(), session="session-2")
    assert one["location"] == str(second.learnings_file)
    assert reflecting.grove("maintain", "flush").stdout == "Nothing waits.\n"
    assert waiting(reflecting) == [one["id"]]
    # Its branch is merged, or is not: here the learning is where it belongs.
    reflecting.git("worktree", "remove", "--force", second.project)
    assert f"stored in total-recall  {one['id']}" in reflecting.grove("maintain", "flush").stdout
    assert found(reflecting, "export", "orders") == {one["id"]: "total-recall"}
    assert waiting(reflecting) == []


def test_learnings_of_a_project_that_has_moved_are_named(reflecting, candidate):
    log = today(reflecting)
    dangle(log)
    one = reflects(reflecting, candidate())
    (entry,) = (reflecting.grove_home / "outbox").iterdir()
    document = {**json.loads(entry.read_text()), "root": "/no/longer/there"}
    entry.write_text(json.dumps(document))
    doctor = reflecting.grove("doctor").stdout
    assert f"{entry} waits for /no/longer/there, which is gone" in doctor
    document["root"] = str(reflecting.project)
    entry.write_text(json.dumps(document))
    log.unlink()
    assert f"stored in total-recall  {one['id']}" in reflecting.grove("maintain", "flush").stdout


def test_a_subfolder_writes_to_the_memory_of_its_root(reflecting, candidate):
    inner = reflecting.project / "shop" / "inner"
    inner.mkdir(parents=True)
    one = watched(reflecting, candidate(), cwd=inner)
    assert one["backend"] == "total-recall"
    assert one["location"].startswith(f"{today(reflecting)}:")
    assert sorted(inner.rglob("*")) == []


def test_a_folder_called_memory_is_nobodys(beads, candidate):
    for name in ("daily", "registers"):
        (beads.project / "memory" / name).mkdir(parents=True)
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    # `World.grove` watches: nothing below `memory` may change.
    assert watched(beads, candidate())["backend"] == "markdown"

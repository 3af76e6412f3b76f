"""``grove maintain migrate`` and ``repair``, and the merge driver, as a person runs them."""

import json
import os
import subprocess

import pytest

from grove_core.flow.log_layout import relocate_events
from grove_core.flow.merge_driver import MARKERS_WRITTEN
from grove_core.flow.repairing import mend_log
from grove_core.model.memory import StorageLayout
from grove_core.paths import ProjectPaths

IDS = [f"cl_20260206_{letter * 6}" for letter in "abc"]
EVENTS = [
    json.dumps({"v": 1, "ts": f"2026-02-0{day}T10:00:00Z", "event": "skip", "grove": "1",
                "session_id": f"s{day}", "reason": "nothing to keep", "decider": "agent"})
    for day in (1, 2, 3)
]  # fmt: skip


PROSE = "\nA word between entries.\n\n"


@pytest.fixture
def project(world):
    world.make_git()
    world.grove("init")
    for number, one in enumerate(IDS):
        world.learning(one, f"Number {number} of the learnings here")
        if one == IDS[0]:
            with world.learnings_file.open("a") as file:
                file.write(PROSE)
    (world.project / ".grove" / "stats.log").write_text("".join(f"{line}\n" for line in EVENTS))
    return world


def shown(project):
    done = project.grove("list", "--json")
    return sorted(
        ({key: one[key] for key in ("id", "summary", "status")} for one in done.json["learnings"]),
        key=lambda one: one["id"],
    )


def lines_of_events(project):
    paths = ProjectPaths(project.project).event_files()
    return sorted(line for path in paths for line in path.read_text().splitlines())


def test_moving_there_and_back_loses_nothing(project):
    before = shown(project)
    config = project.project / ".grove" / "config.toml"
    text = config.read_text()
    dry = project.grove("maintain", "migrate", "--layout", "spread", "--dry-run", "--json")
    assert [line.partition(":")[0] for line in dry.json["learnings"]] == IDS
    assert config.read_text() == text
    assert shown(project) == before
    done = project.grove("maintain", "migrate", "--layout", "spread", "--json")
    assert done.json["learnings"] == dry.json["learnings"]
    assert done.json["events"][0]["lines"] == len(EVENTS)
    folder = project.project / ".grove" / "learnings"
    assert sorted(path.name for path in folder.iterdir()) == [f"{one}.md" for one in IDS]
    assert (project.project / ".grove" / "stats.log").read_bytes() == b""
    assert PROSE.strip() in project.learnings_file.read_text()
    assert config.read_text() == text.replace('# layout = "single"', 'layout = "spread"')
    assert (shown(project), lines_of_events(project)) == (before, EVENTS)
    again = project.grove("maintain", "migrate", "--layout", "spread", "--json").json
    assert (again["learnings"], again["events"], again["setting_changed"]) == ([], [], False)

    project.grove("maintain", "migrate", "--layout", "single")
    assert not folder.exists()
    assert (project.project / ".grove" / "stats.log").read_text().splitlines() == EVENTS
    assert PROSE.strip() in project.learnings_file.read_text()
    assert shown(project) == before


def test_what_is_written_in_the_spread_layout_gets_its_own_file(project, candidate):
    project.grove("maintain", "migrate", "--layout", "spread")
    agent = project.agent()
    agent.starts()
    done = agent.grove("reflect", "--json", stdin=json.dumps(candidate(1)))
    (accepted,) = done.json["accepted"]
    folder = project.project / ".grove"
    assert (folder / "learnings" / f"{accepted['id']}.md").is_file()
    assert (folder / "stats.log").read_bytes() == b""
    assert len(list((folder / "stats").iterdir())) == 2
    project.grove("maintain", "archive", IDS[0], "--reason", "no longer so")
    assert "- **Status:** archived" in (folder / "learnings" / f"{IDS[0]}.md").read_text()


def test_the_short_way_of_hooks_knows_the_layout(project):
    """A session's end with nothing to do loads no configuration."""
    project.grove("maintain", "migrate", "--layout", "spread")
    agent = project.agent()
    agent.starts()
    agent.stops()
    agent.ends()
    written = [json.loads(line) for line in lines_of_events(project) if line not in EVENTS]
    assert {one["event"] for one in written} >= {"surfaced", "dismissed"}
    assert (project.project / ".grove" / "stats.log").read_bytes() == b""


@pytest.mark.parametrize("layout", list(StorageLayout))
def test_an_interrupted_move_is_finished_by_the_next(project, layout):
    """Whatever stands in both places afterwards counts once, and is in one place then."""
    before = shown(project)
    folder = project.project / ".grove"
    other = "spread" if layout is StorageLayout.SINGLE else "single"
    project.grove("maintain", "migrate", "--layout", other)
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    project.grove("maintain", "migrate", "--layout", layout.value)
    for path, content in kept.items():  # as though nothing had been taken away yet
        if path.name not in {"config.toml", ".gitattributes"} and path.suffix != ".log":
            path.parent.mkdir(exist_ok=True)
            if layout is StorageLayout.SINGLE or path.name == "learnings.md":
                path.write_bytes(content)
    assert shown(project) == before
    project.grove("maintain", "migrate", "--layout", layout.value)
    assert shown(project) == before
    entries = [path.read_text().count("### [") for path in folder.rglob("*.md")]
    assert sum(entries) == len(IDS)
    assert set(lines_of_events(project)) == set(EVENTS)


@pytest.mark.parametrize("layout", list(StorageLayout))
def test_what_a_killed_move_has_left_half_written_goes_with_the_next(project, layout):
    process = subprocess.Popen(["true"])
    process.wait()
    folders = [project.project / ".grove", project.project / ".grove" / "learnings"]
    folders[1].mkdir(exist_ok=True)
    left = [one / f".learnings.md.{process.pid}.17.tmp" for one in folders]
    running = folders[0] / f".learnings.md.{os.getpid()}.18.tmp"
    own = folders[0] / ".notes.tmp"
    for path in (*left, running, own):
        path.write_text("half")
        os.utime(path, (1e9, 1e9))
    project.grove("maintain", "migrate", "--layout", layout.value, "--dry-run")
    assert all(path.exists() for path in left)
    project.grove("maintain", "migrate", "--layout", layout.value)
    assert not any(path.exists() for path in left)
    assert running.exists()
    assert own.exists()


@pytest.mark.parametrize("command", [("migrate", "--layout", "single"), ("repair",)])
def test_a_folder_that_leads_out_of_the_project_is_not_read(project, command):
    outside = project.others / "learnings"
    outside.mkdir(parents=True)
    entry = f"### [{IDS[0][:-6]}secret] A secret\n\n> Of somebody else\n"
    (outside / "secret.md").write_text(f"<<<<<<< a\n=======\n{entry}>>>>>>> b\n")
    (outside / "other.md").write_text(entry)
    (project.project / ".grove" / "learnings").symlink_to(outside)
    before = project.learnings_file.read_bytes()
    done = project.grove("maintain", *command, "--json")
    assert done.code != 0
    assert "secret" not in done.stdout
    assert project.learnings_file.read_bytes() == before
    assert (outside / "other.md").read_text() == entry


def test_lines_of_the_log_are_moved_byte_for_byte(tmp_path):
    project = ProjectPaths(tmp_path)
    project.grove_directory.mkdir()
    odd = b"<<<<<<< x\n\xff torn\n" + EVENTS[0].encode() + b"\n" + EVENTS[0].encode()
    project.events_file.write_bytes(odd)
    relocate_events(project, StorageLayout.SPREAD, dry_run=False)
    (moved,) = project.events_folder.iterdir()
    assert moved.read_bytes() == odd + b"\n"
    relocate_events(project, StorageLayout.SINGLE, dry_run=False)
    assert sorted(project.events_file.read_bytes().split(b"\n")) == sorted(
        (odd + b"\n").split(b"\n")
    )
    assert not project.events_folder.exists()


def merged_without_driver(project, strategy):
    """Two branches append to one file, and git merges it as it does by itself."""
    attributes = project.project / ".grove" / ".gitattributes"
    attributes.write_text("stats.log merge=union\n" + strategy)
    project.git("add", "-A")
    project.git("commit", "-qm", "all")
    for branch, one in (("ours", "cl_20260206_oooooo"), ("theirs", "cl_20260206_tttttt")):
        project.git("checkout", "-q", "-b", branch, "main")
        project.learning(one, f"A learning of {branch}", tags=f"of-{branch}")
        project.git("commit", "-qam", branch)
    subprocess.run(["git", "merge", "-q", "ours"], cwd=project.project, check=False, capture_output=True,
                   env={**project.environment, "GIT_CONFIG_GLOBAL": "/dev/null",
                        "GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", "GIT_COMMITTER_NAME": "n",
                        "GIT_COMMITTER_EMAIL": "e"})  # fmt: skip


@pytest.mark.parametrize("strategy", ["", "learnings.md merge=union\n"])
def test_repair_mends_what_git_has_made_of_two_appends(project, strategy):
    merged_without_driver(project, strategy)
    spoilt = project.learnings_file.read_text()
    assert shown(project) != []
    dry = project.grove("maintain", "repair", "--dry-run", "--json")
    assert dry.json["files"][0]["mended"]
    assert project.learnings_file.read_text() == spoilt
    done = project.grove("maintain", "repair", "--json")
    assert done.json["files"] == dry.json["files"]
    assert done.code == 0
    (kept,) = [path for path in (project.grove_home / "backups").rglob("*") if path.is_file()]
    assert kept.read_text() == spoilt
    text = project.learnings_file.read_text()
    assert "<<<<<<<" not in text
    assert PROSE in text
    for branch in ("ours", "theirs"):
        learning = project.grove("show", f"cl_20260206_{branch[0] * 6}", "--json").json
        assert f"of-{branch}" in json.dumps(learning)
        assert f"A learning of {branch}: that is all there is to say about it." in json.dumps(
            learning
        )
    assert project.grove("maintain", "repair", "--json").json["files"] == []


def test_repair_names_what_it_does_not_understand(project):
    with project.learnings_file.open("a") as file:
        file.write("\n>>>>>>> theirs\nwhat is this\n")
    before = project.learnings_file.read_bytes()
    done = project.grove("maintain", "repair", "--json")
    assert done.code == 1
    assert "do not fit together" in done.json["files"][0]["left"][0]
    assert project.learnings_file.read_bytes() == before


def test_lines_that_are_left_are_named_where_they_stand(project):
    log = project.project / ".grove" / "stats.log"
    log.write_text("\n".join(["<<<<<<< HEAD", EVENTS[0], "=======", ">>>>>>> x", "odd", ""]))
    dry = project.grove("maintain", "repair", "--dry-run").stdout
    assert "left to mend by hand: in the mended file .grove/stats.log line 2: is no event" in dry
    done = project.grove("maintain", "repair").stdout
    assert "\nleft to mend by hand: .grove/stats.log line 2: is no event\n" in done
    assert log.read_text().split("\n")[1] == "odd"
    assert "the mended file" not in project.grove("maintain", "repair", "--dry-run").stdout


def test_a_log_loses_markers_and_nothing_else(tmp_path):
    glued = EVENTS[1] + EVENTS[2]
    torn = EVENTS[0][:20]
    text = "\n".join(["<<<<<<< HEAD", EVENTS[0], "=======", glued, torn, ">>>>>>> x", ""])
    repair = mend_log(tmp_path, text)
    assert repair.after.split("\n") == [*EVENTS, torn, ""]
    assert len(repair.mended) == 4
    assert repair.left == ("line 4: is no event",)


def test_the_driver_merges_as_git_does_what_is_nobodys(project):
    folder = project.others
    folder.mkdir()
    for name, text in (("base", "a\n"), ("ours", "b\n"), ("theirs", "c\n")):
        (folder / name).write_text(text)
    words = ("base", "ours", "theirs")
    files = [str(folder / name) for name in words]
    assert project.grove("merge-driver", *files, "notes.txt").code == MARKERS_WRITTEN
    assert (folder / "ours").read_text() == "<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n"
    (folder / "ours").write_text("a\n")
    assert project.grove("merge-driver", *files, "notes.txt").code == 0
    assert (folder / "ours").read_text() == "c\n"

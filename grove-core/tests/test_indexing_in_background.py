"""Indexing what a hook has no time for: one process of its own, which ends."""

import os
import shutil
import subprocess
import time

import pytest

from grove_core import files
from grove_core.clock import now_utc
from grove_core.finder import FILE_NAME
from grove_core.flow import daily_decay
from grove_core.flow.daily_decay import decay_daily
from grove_core.flow.indexing_in_background import index_in_background, index_now
from grove_core.learning_index.index import LearningIndex
from grove_core.workspace import Workspace

ENTRY = """
### [cl_{name}] {name} needs {name}tuning
- **Category:** pitfall
- **Status:** {status}
- **Created:** 2020-01-02T10:00:00Z

> What there is to say about {name}.
"""
STATUSES = {"redis": "active", "kafka": "active", "oauth": "archived"}
LATER = 301


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "project"
    (folder / ".grove").mkdir(parents=True)
    entries = [ENTRY.format(name=name, status=status) for name, status in STATUSES.items()]
    (folder / ".grove" / "learnings.md").write_text("".join(entries))
    return folder


@pytest.fixture
def open_project(tmp_path, root):
    """Opens the project as a new process does: a hook with a deadline, a command without."""

    def opened(*, is_hook=True):
        environment = {
            "HOME": str(tmp_path),
            "GROVE_HOME": str(tmp_path / "home"),
            "GROVE_HOOKS_DEADLINE_MS": "30000",
            "PATH": os.environ["PATH"],
        }
        workspace = Workspace(root, environment, now_utc())
        workspace.deadline = time.monotonic() + 30 if is_hook else None
        return workspace

    return opened


@pytest.fixture
def cached(open_project):
    """A hook in a project for which something was kept before."""
    workspace = open_project()
    workspace.project_cache.mkdir(parents=True)
    return workspace


@pytest.fixture
def started(monkeypatch):
    """The processes that were begun; all of them are waited for."""
    found = []

    class Recorded(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            found.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    yield found
    for process in found:
        process.wait(timeout=60)


def held(workspace):
    """How many learnings the index holds, and whether these are said to be all."""
    index = LearningIndex(str(workspace.project_cache / FILE_NAME))
    return len(index), bool(index.stamp)


# --- in this process ----------------------------------------------------------------------------


@pytest.mark.parametrize("rebuild", [False, True])
def test_all_learnings_are_counted(open_project, cached, rebuild):
    indexed = index_now(open_project(is_hook=False), rebuild=rebuild)
    assert (indexed.learnings, indexed.complete) == (3, True)
    assert indexed.path == str(cached.project_cache / FILE_NAME)
    assert held(cached) == (3, True)
    assert cached.numbers.learnings_are_current


def test_a_rebuild_forgets_what_the_index_holds(open_project, cached):
    index_now(open_project(is_hook=False), rebuild=False)
    path = cached.project_cache / FILE_NAME
    before = path.stat().st_ino
    index_now(open_project(is_hook=False), rebuild=False)
    assert path.stat().st_ino == before
    with path.open("rb") as held_open:  # lest the new file is given the old one's number
        assert os.fstat(held_open.fileno()).st_ino == before
        assert index_now(open_project(is_hook=False), rebuild=True).learnings == 3
        assert path.stat().st_ino != before
    assert held(cached) == (3, True)


def test_nothing_is_done_while_another_process_is_at_it(open_project, cached):
    with files.locked(cached.project_cache / "index.lock"):
        assert index_now(open_project(is_hook=False), rebuild=True) is None
    assert not (cached.project_cache / FILE_NAME).exists()
    assert index_now(open_project(is_hook=False), rebuild=True).learnings == 3


def test_counting_makes_no_home(open_project):
    workspace = open_project(is_hook=False)
    assert index_now(workspace, rebuild=False).learnings == 3
    assert not workspace.paths.home.exists()


# --- in another one -----------------------------------------------------------------------------


def test_one_process_completes_the_index_and_ends(cached, started):
    index_in_background(cached)
    (process,) = started
    assert process.wait(timeout=60) == 0
    assert held(cached) == (3, True)


def test_it_is_not_begun_again_within_five_minutes(open_project, cached, started):
    index_in_background(cached)
    index_in_background(cached)
    index_in_background(open_project())
    assert len(started) == 1
    past = time.time() - LATER
    os.utime(cached.project_cache / "index.begun", (past, past))
    index_in_background(cached)
    assert len(started) == 2


def test_a_clock_that_was_wrong_does_not_stop_it_for_ever(cached, started):
    mark = cached.project_cache / "index.begun"
    mark.write_bytes(b"")
    future = time.time() + 10 * LATER
    os.utime(mark, (future, future))
    index_in_background(cached)
    assert len(started) == 1


def test_two_of_them_do_the_work_once(cached, started):
    with files.locked(cached.project_cache / "index.lock"):
        index_in_background(cached)
        assert started[0].wait(timeout=60) == 0
    assert not (cached.project_cache / FILE_NAME).exists()


def test_a_command_takes_the_time_that_it_needs(open_project, cached, started):
    index_in_background(open_project(is_hook=False))
    assert started == []
    assert not (cached.project_cache / "index.begun").exists()


def test_nothing_is_begun_without_a_place_to_keep_it(open_project, started):
    workspace = open_project()
    index_in_background(workspace)
    assert started == []
    assert not workspace.paths.home.exists()


def test_a_project_that_was_removed(cached, started):
    shutil.rmtree(cached.root)
    index_in_background(cached)
    for process in started:
        process.wait(timeout=60)
    assert not cached.root.exists()
    assert not (cached.project_cache / FILE_NAME).exists()


def test_a_project_that_is_removed_while_it_is_indexed(cached, started):
    index_in_background(cached)
    shutil.rmtree(cached.root)
    started[0].wait(timeout=60)
    assert not cached.root.exists()


# --- decay, which goes by what was counted ------------------------------------------------------


@pytest.mark.parametrize(
    "config", ["", "[decay]\npassive_days = 30\n"], ids=["", "a rule of its own"]
)
def test_decay_of_very_many_waits_until_they_are_counted(
    open_project, cached, started, monkeypatch, config
):
    (cached.root / ".grove" / "config.toml").write_text(config)
    monkeypatch.setattr(daily_decay, "MOST_LISTED", 2)
    decay_daily(cached, "session-1")
    assert len(started) == 1
    assert started[0].wait(timeout=60) == 0
    text = (cached.root / ".grove" / "learnings.md").read_text()
    assert text.count("**Status:** active") == 2
    log = (cached.paths.home / "grove.log").read_text()
    assert "decay waits for the next start: much has to be counted" in log

    decay_daily(open_project(), "session-2")
    assert len(started) == 1
    text = (cached.root / ".grove" / "learnings.md").read_text()
    assert text.count("**Status:** active") == 0


def test_decay_of_fewer_does_not_wait(cached, started):
    decay_daily(cached, "session-1")
    assert started == []
    text = (cached.root / ".grove" / "learnings.md").read_text()
    assert text.count("**Status:** active") == 0

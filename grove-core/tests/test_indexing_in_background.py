"""Indexing what a hook has no time for: one process of its own, which ends."""

import os
import subprocess
import time

import pytest

from grove_core.clock import now_utc
from grove_core.project import Project
from grove_core.retrieval.index import LearningIndex
from grove_core.services.decay import decay_daily
from grove_core.services.sync import index_in_background
from grove_core.storage.cache import FILE_NAME, Cache

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
        own = {"HOME": str(tmp_path), "GROVE_HOME": str(tmp_path / "home")}
        environment = {**own, "GROVE_HOOKS_DEADLINE_MS": "30000", "PATH": os.environ["PATH"]}
        project = Project(root, environment, now_utc())
        project.deadline = time.monotonic() + 30 if is_hook else None
        return project

    return opened


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


@pytest.fixture
def cached(open_project):
    """A hook in a project for which something was kept before."""
    project = open_project()
    project.project_cache.mkdir(parents=True)
    return project


def held(project):
    """How many learnings the index holds, and whether these are said to be all."""
    index = LearningIndex(Cache(str(project.project_cache / FILE_NAME)))
    return len(index), bool(index.fingerprint("sources"))


def test_one_process_completes_the_index_and_ends(cached, started):
    index_in_background(cached)
    (process,) = started
    assert process.wait(timeout=60) == 0
    assert held(cached) == (3, True)


def test_it_is_not_begun_again_within_five_minutes(open_project, cached, started):
    mark = cached.project_cache / "index.begun"
    mark.write_bytes(b"")
    index_in_background(open_project())
    index_in_background(open_project(is_hook=False))  # a command takes the time that it needs
    assert started == []
    for moment in (time.time() - LATER, time.time() + 10 * LATER):  # a clock that was wrong
        os.utime(mark, (moment, moment))
        index_in_background(cached)
    assert len(started) == 2


def test_decay_waits_until_all_are_indexed(open_project, cached, started):
    assert len(cached.finder.index) == 3
    cached.finder._complete = False
    decay_daily(cached)
    assert len(started) == 1
    assert started[0].wait(timeout=60) == 0
    log = (cached.paths.home / "grove.log").read_text()
    assert "decay waits for the next start: not all learnings are indexed" in log
    assert cached.hidden == {}

    decay_daily(open_project())
    assert len(started) == 1
    assert open_project().hidden.keys() == {"cl_redis", "cl_kafka"}

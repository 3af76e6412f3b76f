"""Which file events go to in the layout ``spread``: never one that git may have to merge."""

import os
from datetime import UTC, datetime
from functools import partial

import core_worlds
import pytest
from core_worlds import own_git_only

from grove_core.errors import StorageError
from grove_core.log_identity import events_target
from grove_core.model.events import Skip
from grove_core.paths import ProjectPaths
from grove_core.stats.log import ProjectLog


@pytest.fixture
def git(tmp_path, monkeypatch):
    own_git_only(monkeypatch, tmp_path)
    run = partial(core_worlds.git, cwd=tmp_path / "p")
    (tmp_path / "p").mkdir()
    run("init", "-q", "-b", "main", "--template=")
    return run


@pytest.fixture
def target(tmp_path):
    def ask(root="p", *, write=True):
        path = events_target(str(tmp_path / root), str(tmp_path / "home"), spread=True)
        if write:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "a") as file:
                file.write("x\n")
        return path

    return ask


def commit(git):
    git("add", "-A")
    git("commit", "-qm", "work")


def test_the_single_log_has_one_name(tmp_path):
    target = events_target(str(tmp_path), "/nowhere", spread=False)
    assert target == str(tmp_path / ".grove" / "stats.log")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_appended_to_until_it_may_be_committed(git, target):
    first = target()
    assert first == target()
    commit(git)
    second = target()
    assert second != first
    assert second == target()


def test_branches_never_share_a_file(git, target):
    of_main = target()
    commit(git)
    on_main = target()
    commit(git)
    git("checkout", "-qb", "topic")
    on_topic = target()
    git("stash", "-qu")
    git("checkout", "-q", "main")
    later_on_main = target()
    # A branch of an old name gets a new file.
    git("stash", "-qu")
    git("branch", "-qD", "topic")
    git("checkout", "-qb", "topic")
    on_new_topic = target()
    assert len({of_main, on_main, on_topic, later_on_main, on_new_topic}) == 5


def test_packed_references_and_work_trees_are_read(git, target, tmp_path):
    target()
    commit(git)
    before = target()
    git("pack-refs", "--all")
    assert target() == before
    git("worktree", "add", "-q", "--detach", "../w")
    detached = target("w")
    assert detached != before
    assert target("w") == detached
    assert not (tmp_path / "w" / ".git").is_dir()
    assert (tmp_path / "p" / ".git" / "grove" / "log-ids").is_file()


def test_without_git_the_id_is_kept_at_home(target, tmp_path):
    (tmp_path / "plain").mkdir()
    (tmp_path / "other").mkdir()
    assert target("plain") == target("plain") != target("other")
    assert (tmp_path / "home" / "log-ids").is_file()


def test_several_files_read_as_one_log(git, tmp_path):
    project = ProjectPaths(tmp_path / "p")
    project.grove_directory.mkdir()
    events = [
        Skip(
            ts=datetime(2026, 1, day, tzinfo=UTC), session_id="s", reason="r" * 12, decider="agent"
        )
        for day in (1, 2, 3)
    ]
    single = ProjectLog(project, tmp_path / "home", "1", spread=False)
    spread = ProjectLog(project, tmp_path / "home", "1", spread=True)
    single.append(events[2:])
    spread.append(events[1:2])
    commit(git)
    spread.append(events[:1])
    copied = project.event_files()[1].read_bytes()
    (project.events_folder / "copy.jsonl").write_bytes(copied + b"<<<<<<< x\n")
    (project.events_folder / "notes.txt").write_text("no log")
    assert len(project.event_files()) == 4
    content = spread.read()
    assert list(content.events) == events
    assert content.unreadable == (2,)
    assert single.read().events == content.events


def test_a_link_out_of_the_project_is_not_followed(git, target, tmp_path):
    (tmp_path / "p" / ".grove").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "p" / ".grove" / "stats").symlink_to(tmp_path / "outside")
    log = ProjectLog(ProjectPaths(tmp_path / "p"), tmp_path / "home", "1", spread=True)
    event = Skip(ts=datetime(2026, 1, 1, tzinfo=UTC), session_id="s", reason="r", decider="agent")
    with pytest.raises(StorageError, match="outside"):
        log.append([event])
    assert list((tmp_path / "outside").iterdir()) == []


def test_where_nothing_can_be_written_to_git_the_id_is_kept_at_home(git, target, tmp_path):
    """A sandbox may let a project be written to, and not its repository."""
    target()
    commit(git)
    git("branch", "topic")
    ids = tmp_path / "p" / ".git" / "grove"
    ids.rename(tmp_path / "before")
    ids.write_text("in the way, as root may write everywhere")
    first = target()
    assert target() == first
    assert (tmp_path / "home" / "log-ids").is_file()
    commit(git)
    assert target() != first
    git("checkout", "-qf", "topic")
    assert target() != first

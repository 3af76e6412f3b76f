"""Which file events go to in the layout ``spread``: never one that git may have to merge."""

import os
import subprocess
from datetime import UTC, datetime

import pytest

from grove_core.log_identity import events_target
from grove_core.model.events import Skip
from grove_core.paths import ProjectPaths
from grove_core.stats.log import ProjectLog

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "n",
    "GIT_AUTHOR_EMAIL": "e",
    "GIT_COMMITTER_NAME": "n",
    "GIT_COMMITTER_EMAIL": "e",
}


@pytest.fixture
def git(tmp_path):
    def run(*words, cwd=tmp_path / "p"):
        subprocess.run(["git", *words], cwd=cwd, env=ENVIRONMENT, check=True, capture_output=True)

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
    commit_of_main = target()
    commit(git)
    on_main = target()
    commit(git)
    git("checkout", "-qb", "topic")
    on_topic = target()
    git("stash", "-qu")
    git("checkout", "-q", "main")
    later_on_main = target()
    assert len({commit_of_main, on_main, on_topic, later_on_main}) == 4


def test_a_branch_of_an_old_name_gets_a_new_file(git, target):
    commit_ = target()
    commit(git)
    git("checkout", "-qb", "topic")
    first = target()
    git("stash", "-qu")
    assert target() not in {first, commit_}


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


@pytest.mark.parametrize(
    "content", [b"", b"garbage\n", b"\xff\t\t\n", b"0123456789abcdef\tx", b"\0" * 50]
)
def test_ids_that_cannot_be_read_are_made_anew(git, target, tmp_path, content):
    first = target()
    ids = tmp_path / "p" / ".git" / "grove" / "log-ids"
    ids.write_bytes(content)
    assert target() != first
    assert target() == target()


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
    from grove_core.errors import StorageError

    (tmp_path / "p" / ".grove").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "p" / ".grove" / "stats").symlink_to(tmp_path / "outside")
    log = ProjectLog(ProjectPaths(tmp_path / "p"), tmp_path / "home", "1", spread=True)
    event = Skip(ts=datetime(2026, 1, 1, tzinfo=UTC), session_id="s", reason="r", decider="agent")
    with pytest.raises(StorageError, match="outside"):
        log.append([event])
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("detached", [False, True])
def test_where_nothing_can_be_written_to_git_the_id_is_kept_at_home(
    git, target, tmp_path, detached
):
    """A sandbox may let a project be written to, and not its repository."""
    target()
    commit(git)
    git("branch", "topic")
    if detached:
        git("checkout", "-q", "--detach")
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


def test_reference_tables_tell_whether_a_commit_was_made(git, target, tmp_path):
    """With ``reftable`` neither HEAD nor files of references say where a branch is."""
    folder = tmp_path / "p" / ".git"
    (folder / "HEAD").write_text("ref: refs/heads/.invalid\n")
    (folder / "reftable").mkdir()
    tables = folder / "reftable" / "tables.list"
    tables.write_text("0x000000000001-0x000000000001-aaaaaaaa.ref\n")
    first = target()
    assert target() == first
    fresh = tmp_path / "fresh"
    fresh.write_text("0x000000000001-0x000000000002-bbbbbbbb.ref\n")
    fresh.rename(tables)
    second = target()
    assert second != first
    assert target() == second


def test_a_work_tree_has_reference_tables_of_its_own(git, target, tmp_path):
    """What another work tree commits, or this one checks out, is seen."""
    target()
    commit(git)
    git("worktree", "add", "-q", "--detach", "../w")
    common = tmp_path / "p" / ".git"
    for folder in (common, common / "worktrees" / "w"):
        (folder / "HEAD").write_text("ref: refs/heads/.invalid\n")
        (folder / "reftable").mkdir()
        (folder / "reftable" / "tables.list").write_text("a\n")
    in_main, first = target(), target("w")
    assert in_main != first == target("w")
    (common / "worktrees" / "w" / "reftable" / "tables.list").write_text("a\nb\n")
    second = target("w")
    assert second != first
    (common / "reftable" / "tables.list").write_text("a\nb\n")
    assert target("w") != second

"""Where grove finds its own directory and the project's root."""

import os
import subprocess
from pathlib import Path

import pytest

from grove_core.errors import StorageError
from grove_core.paths import Paths, ProjectPaths, grove_home, project_key, project_root


@pytest.fixture
def home(tmp_path):
    return tmp_path / "user" / ".grove"


def make(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"GROVE_HOME": "/a/grove", "HOME": "/h"}, "/a/grove"),
        ({"GROVE_HOME": "/a/b/../grove"}, "/a/grove"),
        ({"GROVE_HOME": "", "HOME": "/h"}, "/h/.grove"),
        ({"HOME": "/h"}, "/h/.grove"),
        ({"GROVE_HOME": "~/elsewhere", "HOME": "/h"}, "/h/elsewhere"),
        ({"GROVE_HOME": "~", "HOME": "/h"}, "/h"),
    ],
)
def test_home_follows_the_environment(environment, expected):
    assert grove_home(environment) == Path(expected)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"GROVE_HOME": "state", "HOME": "/h"}, "GROVE_HOME is state"),
        ({"GROVE_HOME": "./state"}, "GROVE_HOME is ./state"),
        ({"GROVE_HOME": "~someone/state"}, "GROVE_HOME is ~someone/state"),
        ({"HOME": "h"}, "HOME is h"),
        ({"GROVE_HOME": "~/state", "HOME": "h"}, "HOME is h"),
    ],
)
def test_a_relative_home_is_an_error_in_words(environment, words):
    """It would be another directory wherever a hook happens to run."""
    with pytest.raises(StorageError, match=f"^{words}, .* must be absolute"):
        grove_home(environment)


def test_home_comes_from_the_password_database_without_an_environment():
    import pwd

    assert grove_home({}) == Path(pwd.getpwuid(os.getuid()).pw_dir) / ".grove"


def test_unknown_user_without_environment_is_an_error_in_words(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 3_999_999_999)
    with pytest.raises(StorageError, match="GROVE_HOME"):
        grove_home({"HOME": ""})


def test_root_is_the_nearest_grove_directory(tmp_path, home):
    make(tmp_path / "outer" / ".grove")
    make(tmp_path / "outer" / "inner" / ".grove")
    start = make(tmp_path / "outer" / "inner" / "src" / "deep")
    assert project_root(start, home) == tmp_path / "outer" / "inner"


def test_grove_directory_above_wins_over_a_nearer_git(tmp_path, home):
    make(tmp_path / "outer" / ".grove")
    make(tmp_path / "outer" / "vendored" / ".git")
    assert project_root(tmp_path / "outer" / "vendored", home) == tmp_path / "outer"


def test_grove_file_is_no_project(tmp_path, home):
    start = make(tmp_path / "project" / "src")
    (tmp_path / "project" / ".grove").write_text("not a directory")
    assert project_root(start, home) == start


def test_groves_own_directory_makes_no_project_of_the_users_home(tmp_path, home):
    make(home)
    start = make(tmp_path / "user" / "work")
    assert project_root(start, home) == start
    assert project_root(home.parent, home) == home.parent


def test_groves_own_directory_is_known_through_a_link(tmp_path, home):
    real = make(tmp_path / "disk" / "state")
    home.parent.mkdir()
    home.symlink_to(real)
    start = make(tmp_path / "user" / "work")
    assert project_root(start, real) == start
    assert project_root(start, home) == start


@pytest.mark.parametrize(
    ("directories", "files", "is_project"),
    [
        (["sessions"], [], False),
        (["cache"], ["grove.log"], False),
        (["sessions", "cache", "outbox"], ["personal-learnings.md", "trust.json"], False),
        ([], [], True),
        (["outbox"], [], True),
        (["sessions"], ["config.toml"], True),
        (["cache"], ["learnings.md"], True),
        (["sessions", "learnings"], [], True),
        (["sessions"], ["stats.log"], True),
        ([], ["sessions", "cache"], True),
    ],
)
def test_a_home_left_behind_makes_no_project(tmp_path, home, directories, files, is_project):
    old = make(tmp_path / "person" / ".grove")
    start = make(tmp_path / "person" / "work")
    for name in directories:
        make(old / name)
    for name in files:
        (old / name).write_text("")
    assert project_root(start, home) == (old.parent if is_project else start)
    assert ProjectPaths(old.parent, home).initialised is is_project


def test_a_home_elsewhere_leaves_the_nearest_grove_directory_alone(tmp_path):
    make(tmp_path / "project" / ".grove")
    assert project_root(tmp_path / "project", tmp_path / "state") == tmp_path / "project"


@pytest.mark.parametrize(
    ("content", "is_root"),
    [
        (b"gitdir: ../.git/modules/x\n", True),
        (b"gitdir:/abs", True),
        (b"notes", False),
        (b"", False),
    ],
)
def test_git_file_counts_when_it_names_a_directory(tmp_path, home, content, is_root):
    start = make(tmp_path / "work" / "src")
    (tmp_path / "work" / ".git").write_bytes(content)
    assert project_root(start, home) == (tmp_path / "work" if is_root else start)


def test_real_worktree_and_its_subdirectory(tmp_path, home):
    def git(*arguments, cwd):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)

    main = make(tmp_path / "main")
    git("init", "-q", cwd=main)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=main)
    git("worktree", "add", "-q", str(tmp_path / "side"), cwd=main)
    start = make(tmp_path / "side" / "src")
    assert project_root(start, home) == tmp_path / "side"
    assert project_root(main, home) == main


def test_start_without_any_marker_is_its_own_root(tmp_path, home):
    start = make(tmp_path / "plain")
    assert project_root(start, home) == start


def test_linked_start_is_resolved(tmp_path, home):
    make(tmp_path / "project" / ".grove")
    source = make(tmp_path / "project" / "src")
    (tmp_path / "link").symlink_to(source)
    assert project_root(tmp_path / "link", home) == tmp_path / "project"


def test_deleted_directory_does_not_raise(tmp_path, home, monkeypatch):
    make(tmp_path / "project" / ".grove")
    gone = make(tmp_path / "project" / "gone")
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert project_root(gone, home) == tmp_path / "project"
    assert project_root(Path("relative"), home) == Path("relative")


@pytest.mark.parametrize("start", ["/nowhere/at/all", "/nul\0byte", "/" + "x" * 5000])
def test_impossible_directories_do_not_raise(start, home):
    assert project_root(Path(start), home) == Path(start)


def test_link_loop_does_not_raise(tmp_path, home):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert isinstance(project_root(loop, home), Path)


def test_project_key_tells_projects_of_one_name_apart(tmp_path):
    one, two = make(tmp_path / "a" / "My App!"), make(tmp_path / "b" / "My App!")
    assert project_key(one) != project_key(two)
    assert project_key(one).startswith("My-App-")
    assert project_key(one) == project_key(one)


def test_project_key_follows_links_and_is_a_plain_file_name(tmp_path):
    real = make(tmp_path / ("ä" * 100))
    (tmp_path / "link").symlink_to(real)
    key = project_key(real)
    assert project_key(tmp_path / "link") == key
    assert key.isascii()
    assert len(key) < 64
    assert project_key(Path("/")).startswith("root-")


def test_files_of_home(tmp_path):
    paths = Paths(tmp_path)
    assert {
        paths.config_file.name,
        paths.sessions.name,
        paths.personal_learnings.name,
        paths.personal_events.name,
        paths.outbox.name,
        paths.cache.name,
        paths.crash_log.name,
        paths.log_file.name,
    } == {
        "config.toml",
        "sessions",
        "personal-learnings.md",
        "personal-stats.log",
        "outbox",
        "cache",
        "crash.log",
        "grove.log",
    }
    assert list(tmp_path.iterdir()) == []


def test_files_of_a_project(tmp_path):
    project = ProjectPaths(tmp_path)
    assert not project.initialised
    project.grove_directory.mkdir()
    assert project.initialised
    assert project.config_file == tmp_path / ".grove" / "config.toml"
    assert project.learnings_file == tmp_path / ".grove" / "learnings.md"
    assert project.events_file == tmp_path / ".grove" / "stats.log"


def test_groves_own_directory_initialises_no_project(home):
    make(home)
    assert ProjectPaths(home.parent).initialised
    assert not ProjectPaths(home.parent, home).initialised

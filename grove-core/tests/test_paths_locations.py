"""Where grove finds its own directory and the project's root."""

import os
from pathlib import Path

import pytest

from grove_core.storage.paths import (
    ProjectPaths,
    foreign_directory,
    grove_home,
    project_key,
    project_root,
)


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
    ],
)
def test_home_follows_the_environment(environment, expected):
    assert grove_home(environment) == Path(expected)


ROOTS = {
    # what there is (files as well as directories), where the work begins, the root
    "the nearest .grove": ("outer/.grove/ outer/inner/.grove/", "outer/inner/src", "outer/inner"),
    "not above a work tree": ("outer/.grove/ outer/in/.git/", "outer/in/src", "outer/in"),
    "below its top": ("outer/.git/ outer/in/.grove/", "outer/in/src", "outer/in"),
    "no .grove but a .git": ("outer/.git/", "outer/src", "outer"),
    "a file of that name is none": ("project/.grove", "project/src", "project/src"),
    "grove's own directory is none": ("user/.grove/", "user/work", "user/work"),
}


@pytest.mark.parametrize(("there", "start", "root"), ROOTS.values(), ids=ROOTS)
def test_where_the_root_of_a_project_is(tmp_path, home, there, start, root):
    (tmp_path / start).mkdir(parents=True)
    for one in there.split():
        path = tmp_path / one
        path.mkdir(parents=True, exist_ok=True) if one.endswith("/") else path.write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / start)
    for begin in (tmp_path / start, tmp_path / "link"):
        assert project_root(begin, home) == tmp_path / root


def test_a_grove_of_another_user_is_none(tmp_path, home, monkeypatch):
    shared, start = make(tmp_path / "shared" / ".grove"), make(tmp_path / "shared" / "work")
    if os.geteuid() == 0:
        os.chown(shared, 65534, 65534)
    other = shared.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: other + 1)
    assert project_root(start, home) == start
    assert foreign_directory(start, start) == shared
    assert not ProjectPaths(shared.parent, home).initialised
    monkeypatch.setenv("SUDO_UID", str(other))
    assert project_root(start, home) == shared.parent
    assert foreign_directory(start, shared.parent) is None
    monkeypatch.delenv("SUDO_UID")
    make(start / ".git")
    assert foreign_directory(start, start) is None


@pytest.mark.parametrize(
    ("directories", "files", "is_project"),
    [
        (["cache"], ["grove.log"], False),
        (["sessions", "cache", "outbox"], ["personal-learnings.md", "trust.json"], False),
        ([], [], True),
        (["cache"], ["learnings.md"], True),
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


def test_project_key_tells_projects_of_one_name_apart_and_is_a_plain_file_name(tmp_path):
    one, two = make(tmp_path / "a" / "My App!"), make(tmp_path / "b" / "My App!")
    assert project_key(one) != project_key(two)
    assert project_key(one).startswith("My-App-")
    real = make(tmp_path / ("ä" * 100))
    (tmp_path / "link").symlink_to(real)
    key = project_key(real)
    assert project_key(tmp_path / "link") == key
    assert key.isascii()
    assert len(key) < 64

"""The name under which a project's learnings lie on a server that several people share."""

import hashlib
import os
import subprocess

import pytest

from grove_backend_mcp.discovery.repository import main_work_tree, project_name
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext


def name_of(root, **settings):
    context = BackendContext(root=root, home=root / "grove", settings=McpSettings(**settings))
    return project_name(context)


def named_by_folder(root):
    """Many folders have the same name."""
    digest = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:8]
    return f"{root.name.lower().replace(' ', '-')}-{digest}"


def git(place, *words):
    subprocess.run(["git", *words], cwd=place, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "My Project"
    root.mkdir()
    git(root, "init", "-q")
    return root


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://example.com/Owner/Repo.git", "owner/repo"),
        ("https://example.com/owner/repo", "owner/repo"),
        ("https://user:pw@example.com/owner/repo.git", "owner/repo"),
        ("git@example.com:Owner/repo.git", "owner/repo"),
        ("ssh://git@example.com:2222/owner/repo.git", "owner/repo"),
        ("https://example.com/group/sub/repo.git", "sub/repo"),
        ("/srv/git/repo.git", "repo"),
        ("https://example.com/own er/..%2f/r$e.git", "2f/r-e"),
        ("https://example.com/../../x", "x"),
        ("..", ""),
    ],
)
def test_the_remote_names_the_project(repository, address, expected):
    git(repository, "remote", "add", "other", "https://example.com/not/this")
    git(repository, "remote", "add", "origin", address)
    expected = expected or named_by_folder(repository)
    assert name_of(repository) == expected
    inside = repository / "a/b"
    inside.mkdir(parents=True)
    assert name_of(inside) == expected


def test_a_linked_work_tree_is_the_same_project(repository, tmp_path):
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    git(repository, *identity, "commit", "-q", "--allow-empty", "-m", "first")
    git(repository, "worktree", "add", "-q", tmp_path / "linked")
    assert main_work_tree(tmp_path / "linked") == repository
    assert name_of(tmp_path / "linked") == named_by_folder(repository)
    git(repository, "remote", "add", "origin", "https://example.com/owner/repo")
    assert name_of(tmp_path / "linked") == "owner/repo"

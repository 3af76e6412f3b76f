"""What can be configured, and what a project is called on a server."""

import hashlib
import os

import pytest
from core_worlds import git

from grove_backend_mcp.discovery.repository import main_work_tree, project_name
from grove_backend_mcp.settings import McpSettings, exposed_variables, option_values
from grove_core import BackendContext


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"headers": {"Authorization": "Bearer abc"}}, '"${AUTHORIZATION}"'),
        ({"headers": {"Authorization": "Bearer ${TOKEN:-abc}"}}, '"${AUTHORIZATION}"'),
        ({"env": {"OPENAI_API_KEY": "sk-abc"}}, '"${OPENAI_API_KEY}"'),
        ({"args": ["--key", "${API_KEY}"]}, "refers to API_KEY"),
        ({"args": ["--url=postgres://u:${DB_PASSWORD:-}@h/db"]}, "refers to DB_PASSWORD"),
        ({"connect_seconds": 0.0}, "connect_seconds must be from 0.1 to 600.0"),
        ({"search": {"tool": "x", "arguments": {"q": "{content}"}}}, "placeholder {content}"),
        ({"project": "../up"}, "project must be letters"),
    ],
)
def test_what_is_refused(section, words):
    with pytest.raises(ValueError) as caught:
        McpSettings(**section)
    assert words in str(caught.value)
    # The message begins with the key, by which `grove config validate` finds its place.
    assert str(caught.value).startswith(f"{next(iter(section))} ")
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    "section",
    [
        {"headers": {"Authorization": "Bearer ${TOKEN}", "X-Team": "${TEAM:-}"}},
        {"env": {"MODE": "fast", "AUTH_MODE": "basic", "API_KEY_FILE": "/run/key", "KEY": ""}},
        {"env": {"TOKENIZERS_PARALLELISM": "false", "MONKEY": "see", "USE_AUTH": "0"}},
        {"args": ["${HOME}", "--max-tokens", "5"]},
        {"write": {"tool": "add", "arguments": {"text": "{content}"}}},
        {"search": {"tool": "find", "arguments": {"q": "{query}"}, "items": "$.results[*]"}},
    ],
)
def test_what_is_taken(section):
    McpSettings(**section)


@pytest.mark.parametrize(
    ("args", "variables", "options"),
    [
        ((), (), ()),
        (("--token", "${MY_TOKEN}"), ("MY_TOKEN",), ("${MY_TOKEN}",)),
        (("--token=${MY_TOKEN:-}",), ("MY_TOKEN",), ("${MY_TOKEN:-}",)),
        (("--api-key", "abc"), (), ("abc",)),
        (("--api-key=abc",), (), ("abc",)),
        (("--token=${MY_TOKEN:-abc}",), ("MY_TOKEN",), ("${MY_TOKEN:-abc}",)),
        (("--token", "--verbose"), (), ()),
        (("--token",), (), ()),
        (("--key-file", "k", "--max-tokens", "5"), (), ()),
    ],
)
def test_secrets_in_a_process_list(args, variables, options):
    assert exposed_variables(args) == variables
    assert tuple(option_values(args)) == options


def name_of(root, **settings):
    context = BackendContext(root=root, home=root / "grove", settings=McpSettings(**settings))
    return project_name(context)


def named_by_folder(root):
    """Many folders have the same name."""
    digest = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:8]
    return f"{root.name.lower().replace(' ', '-')}-{digest}"


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "My Project"
    root.mkdir()
    git("init", "-q", cwd=root)
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
    git("remote", "add", "other", "https://example.com/not/this", cwd=repository)
    git("remote", "add", "origin", address, cwd=repository)
    expected = expected or named_by_folder(repository)
    assert name_of(repository) == expected
    inside = repository / "a/b"
    inside.mkdir(parents=True)
    assert name_of(inside) == expected


def test_a_linked_work_tree_is_the_same_project(repository, tmp_path):
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    git(*identity, "commit", "-q", "--allow-empty", "-m", "first", cwd=repository)
    git("worktree", "add", "-q", tmp_path / "linked", cwd=repository)
    assert main_work_tree(tmp_path / "linked") == repository
    assert name_of(tmp_path / "linked") == named_by_folder(repository)
    git("remote", "add", "origin", "https://example.com/owner/repo", cwd=repository)
    assert name_of(tmp_path / "linked") == "owner/repo"

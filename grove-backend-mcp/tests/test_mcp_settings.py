"""The section ``[backends.mcp]``: what it takes, and secrets that are not written into it."""

import tomllib

import pytest

from grove_backend_mcp.secrecy import exposed_options, exposed_variables, says_secret
from grove_backend_mcp.settings import McpSettings


def test_an_empty_section_says_nothing():
    settings = McpSettings()
    assert (settings.server, settings.command, settings.url, settings.project) == ("", "", "", "")
    assert settings.profile == "auto"
    assert settings.write == {}


def test_a_whole_section():
    section = tomllib.loads(
        """
        command = "mem"
        args = ["--store", "${HOME}/x"]
        env = { API_KEY = "${API_KEY}", MODE = "fast", USE_AUTH = "false" }
        url = "https://memory.example/mcp"
        headers = { Authorization = "Bearer ${TOKEN}" }
        pass_environment = ["HF_HOME"]
        project = "owner/repo"
        connect_seconds = 5.0
        [write]
        tool = "store"
        arguments = { text = "{content}", meta = { a = [1, 2.5, true] } }
        """
    )
    settings = McpSettings(**section)
    assert settings.write["arguments"]["meta"] == {"a": [1, 2.5, True]}
    assert settings.connect_seconds == 5.0


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"headers": {"Authorization": "Bearer abc"}}, '"${AUTHORIZATION}"'),
        ({"headers": {"X-Api-Key": "abc"}}, '"${X_API_KEY}"'),
        ({"headers": {"X-Team": "abc"}}, '"${X_TEAM}"'),
        ({"headers": {"Authorization": "Bearer ${TOKEN:-abc}"}}, '"${AUTHORIZATION}"'),
        ({"env": {"OPENAI_API_KEY": "sk-abc"}}, '"${OPENAI_API_KEY}"'),
        ({"env": {"DB_PASSWORD": "abc"}}, '"${DB_PASSWORD}"'),
        ({"env": {"sessionCookie": "abc"}}, '"${SESSIONCOOKIE}"'),
        ({"args": ["--key", "${API_KEY}"]}, "refers to API_KEY"),
        ({"args": ["--url=postgres://u:${DB_PASSWORD:-}@h/db"]}, "refers to DB_PASSWORD"),
        ({"pass_environment": ["A=b"]}, "names of variables"),
        ({"connect_seconds": 0.0}, "connect_seconds must be from 0.1 to 600.0"),
        ({"call_seconds": 601.0}, "call_seconds must be from 0.1 to 600.0"),
        ({"profile": "nosuch"}, "there is no profile 'nosuch'"),
        ({"profile": "qdrannt"}, "did you mean 'qdrant'?"),
        ({"write": {"tool": 3}}, "write.tool must be the name of a tool"),
        ({"write": {"tool": "x", "longest_text": -1}}, "write.longest_text must be a whole number"),
        ({"search": {"tool": "x", "arguments": {"q": "{content}"}}}, "placeholder {content}"),
        ({"listing": {"arguments": {}}}, "listing.tool must be the name of a tool"),
        ({"update": {"tool": "x", "then": [{"tool": ""}]}}, "update.then.tool must be"),
        ({"delete": {"tool": "x", "items": "$"}}, "unknown key 'items'"),
        ({"project": "../up"}, "project must be letters"),
        ({"project": "a b"}, "project must be letters"),
        ({"project": "a" * 101}, "project must be letters"),
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
        {"profile": "none"},
        {"profile": "qdrant"},
        {"write": {"tool": "add", "arguments": {"text": "{content}"}}},
        {"search": {"tool": "find", "arguments": {"q": "{query}"}, "items": "$.results[*]"}},
    ],
)
def test_what_is_taken(section):
    McpSettings(**section)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TOKEN", True),
        ("token", True),
        ("GITHUB_TOKEN", True),
        ("apiKey", True),
        ("API-KEY", True),
        ("X-Auth", True),
        ("TOKEN1", True),
        ("DB_PASS", True),
        ("SECRET_KEY_BASE", True),
        ("monkey", False),
        ("TOKENS", False),
        ("PATH", False),
        ("API_KEY_FILE", False),
        ("AUTHOR", False),
        ("", False),
        ("123", False),
    ],
)
def test_names_of_secrets(name, expected):
    assert says_secret(name) == expected


@pytest.mark.parametrize(
    ("args", "variables", "options"),
    [
        ((), (), ()),
        (("--token", "${MY_TOKEN}"), ("MY_TOKEN",), ()),
        (("--token=${MY_TOKEN:-}",), ("MY_TOKEN",), ()),
        (("--api-key", "abc"), (), ("api-key",)),
        (("--api-key=abc",), (), ("api-key",)),
        (("--token=${MY_TOKEN:-abc}",), ("MY_TOKEN",), ("token",)),
        (("--token", "--verbose"), (), ()),
        (("--token",), (), ()),
        (("--auth", "none", "--key-file", "k", "--max-tokens", "5"), (), ()),
    ],
)
def test_secrets_in_a_process_list(args, variables, options):
    assert exposed_variables(args) == variables
    assert exposed_options(args) == options

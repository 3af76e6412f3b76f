"""The section ``[backends.mcp]``: what it takes, and secrets that are not written into it."""

import pytest

from grove_backend_mcp.settings import McpSettings, exposed_variables, option_values


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

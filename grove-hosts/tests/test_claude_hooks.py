"""grove's hooks in the client's settings: merged in, and taken out, without touching the rest."""

import json
from fnmatch import fnmatchcase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.errors import CodecError
from grove_hosts.claude_code.checks import lets_in
from grove_hosts.claude_code.hooks import MOST_CONDITIONS, conditions_for, hook_groups, own_hook
from grove_hosts.claude_code.settings import parse_settings, with_own, without_own

NARROWED = hook_groups("/opt/new place/grove", conditions_for(["bd"]))


def read(text):
    return json.loads(text.removeprefix("\ufeff"))


def test_nothing_of_grove_is_left_and_nothing_else_is_lost():
    foreign = {"type": "command", "command": "grove status"}
    old = {"type": "command", "command": "/old/grove", "args": ["hook", "stop"], "timeout": 99}
    older = {"type": "command", "command": "grove hook pre-tool-use"}
    stop = [{"hooks": [foreign, old]}, {"matcher": "Bash", "hooks": [older]}, {"hooks": [foreign]}]
    text = json.dumps({"hooks": {"Stop": stop, "PreToolUse": [{"hooks": [older]}]}})
    assert read(without_own(text)) == {"hooks": {"Stop": [{"hooks": [foreign]}] * 2}}
    merged = read(with_own(text, hooks=NARROWED))["hooks"]
    assert merged["Stop"] == [{"hooks": [foreign]}, {"hooks": [foreign]}, *NARROWED["Stop"]]
    assert merged["PreToolUse"] == NARROWED["PreToolUse"]


def test_a_server_goes_in_and_out_and_another_of_that_name_is_refused():
    text = '{"mcpServers": {"docs": {"command": "docs"}}}\n'
    once = with_own(text, server="/opt/grove")
    assert read(once)["mcpServers"]["grove"] == {"command": "/opt/grove", "args": ["serve"]}
    assert read(without_own(once)) == read(text)
    with pytest.raises(CodecError, match="another server"):
        with_own('{"mcpServers": {"grove": {"command": "grove-maps"}}}', server="/opt/grove")


@pytest.mark.parametrize(
    ("hook", "is_own"),
    [
        ({"type": "command", "command": "/a b/grove", "args": ["hook", "stop"]}, True),
        ({"type": "command", "command": "'/a b/grove' hook stop"}, True),
        ({"type": "command", "command": "${X}/bin/grove-hook", "args": ["stop"]}, True),
        ({"type": "command", "command": "grove", "args": ["hook", "deploy"]}, False),
        ({"type": "command", "command": "mygrove hook stop"}, False),
        ({"type": "command", "command": "echo grove hook stop"}, False),
        ({"type": "command", "command": "grove", "args": "hook stop"}, False),
        ({"type": "http", "url": "grove hook stop"}, False),
        ({"type": "mcp_tool", "server": "grove", "tool": "hook"}, True),
        ({"type": "mcp_tool", "server": "docs", "tool": "hook"}, False),
        (None, False),
    ],
)
def test_a_hook_of_groves_is_known_by_its_program_and_event(hook, is_own):
    assert bool(own_hook(hook)) is is_own


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "must be an object"),
        ('{"hooks": null}', "hooks must be an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop must be a list"),
        ('{"a" 1}', "line 1, column 6"),
        ('{"a": NaN}', "NaN is no JSON"),
        ('{"mcpServers": []}', "mcpServers must be an object"),
        ('{"permissions": []}', "permissions must be an object"),
        ('{"permissions": {"allow": "Read"}}', "permissions.allow must be a list"),
    ],
)
def test_settings_that_cannot_hold_hooks_or_rules_are_refused(text, words):
    with pytest.raises(CodecError, match=words):
        parse_settings(text)


@pytest.mark.parametrize(
    ("words", "conditions"),
    [
        ([], ()),
        (["bd"], ("Bash(*bd*)", "Bash(*bash*)", "Bash(sh *)")),
        (["git-bug", "bug status"], ("Bash(*bug*)", "Bash(*bash*)", "Bash(sh *)")),
        (["bd", "issue_id", "tissue"], ()),
        # What looks for a word finds longer ones as well.
        (["bd", "bd-tool", "xbd"], ("Bash(*bd*)", "Bash(*bash*)", "Bash(sh *)")),
        (["tissue", "bd-tool", "bd"], ("Bash(*bd*)", "Bash(*tissue*)", "Bash(*sh*)")),
        (["make close", "make done", "just close"], ("Bash(*just*)", "Bash(*make*)", "Bash(*sh*)")),
        (["sh", "bd"], ("Bash(*bd*)", "Bash(*sh*)")),
    ],
)
def test_hooks_are_narrowed_by_at_most_three_conditions(words, conditions):
    assert conditions_for(words) == conditions


LITERAL_WORDS = st.sampled_from(
    ["bd", "bd-tool", "git-bug", "bug", "status", "sh", "bash", "gh", "tk"]
)
LITERALS = st.lists(st.lists(LITERAL_WORDS, min_size=1, max_size=3).map(" ".join), max_size=5)


@settings(max_examples=40, deadline=None)
@given(LITERALS)
def test_conditions_let_in_every_command_that_holds_a_literal(literals):
    conditions = conditions_for(literals)
    assert len(conditions) <= MOST_CONDITIONS
    assert len(set(conditions)) == len(conditions)
    patterns = [one.removeprefix("Bash(").removesuffix(")") for one in conditions]
    commands = [f"x {literal} x" for literal in literals]
    for command in (*commands, "bash -s", "sh -s") if conditions else ():
        assert any(fnmatchcase(command, pattern) for pattern in patterns)


@pytest.mark.parametrize(
    ("condition", "words", "is_let_in"),
    [
        ("Bash(*bd*)", "bd", True),
        ("Bash(*bd*)", "bd-tool close", True),
        ("Bash(*bd*)", "tissue", False),
        ("Bash(bd close *)", "bd", False),
        ("Bash", "anything", True),
    ],
)
def test_what_a_condition_of_a_hook_lets_in(condition, words, is_let_in):
    assert lets_in(condition, words) is is_let_in

"""grove's hooks in the client's settings: merged in, and taken out, without touching the rest."""

import json
from fnmatch import fnmatchcase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.errors import CodecError
from grove_core.hosts.claude_hooks import (
    MOST_CONDITIONS,
    conditions_for,
    hook_groups,
    own_hook,
)
from grove_core.hosts.claude_merge import (
    with_hooks,
    with_rule,
    without_hooks,
    without_rule,
)

GROUPS = hook_groups("/opt/grove/bin/grove", ())
NARROWED = hook_groups("/opt/new place/grove", conditions_for(["bd"]))
RULE = "Bash(grove *)"
foreign_hooks = st.fixed_dictionaries(
    {
        "type": st.just("command"),
        "command": st.sampled_from(["echo grüße", "./check.sh", "grove status"]),
    }
)
old_hooks = st.sampled_from(
    [
        {"type": "command", "command": "/old/grove", "args": ["hook", "stop"], "timeout": 99},
        {"type": "command", "command": "grove hook pre-tool-use"},
    ]
)


def groups(hooks):
    return st.lists(
        st.fixed_dictionaries(
            {"hooks": st.lists(hooks, min_size=1, max_size=3)},
            optional={"matcher": st.just("Bash")},
        ),
        min_size=1,
        max_size=3,
    )


def documents(hooks):
    events = st.sampled_from(["Stop", "PreToolUse", "Notification"])
    return st.fixed_dictionaries(
        {},
        optional={
            "model": st.text(max_size=5),
            "env": st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
            "permissions": st.fixed_dictionaries(
                {"deny": st.just(["Read(.env)"])},
                optional={"allow": st.lists(st.sampled_from(["Bash(ls)", "Read"]), min_size=1)},
            ),
            "hooks": st.dictionaries(events, groups(hooks), min_size=1, max_size=3),
            "größe": st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.just([]),
        },
    )


@st.composite
def texts(draw, hooks=foreign_hooks):
    """Settings in a layout of some editor."""
    text = json.dumps(
        draw(documents(hooks)),
        indent=draw(st.sampled_from([None, 0, 1, 2, 4, "\t"])),
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([(",", ":"), None])),
    )
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return (
        draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n", "\r\n\n"]))
    )


def read(text):
    return json.loads(text.removeprefix("\ufeff"))


def hooks_in(text, *, own):
    """(event, matcher, hook) of grove's hooks, or of all others, in their order."""
    return [
        (event, group.get("matcher"), hook)
        for event, found in read(text).get("hooks", {}).items()
        for group in found
        for hook in group["hooks"]
        if (own_hook(hook) is not None) is own
    ]


def rest_of(text):
    return {key: value for key, value in read(text).items() if key != "hooks"}


@settings(max_examples=50, deadline=None)
@given(texts())
def test_hooks_and_rule_go_in_and_come_out_again_to_the_same_bytes(text):
    hooked = with_hooks(text, GROUPS)
    both = with_rule(hooked, RULE)
    assert RULE in read(both)["permissions"]["allow"]
    assert without_rule(both, RULE) == hooked
    if read(text):
        assert without_hooks(hooked) == text
    else:
        assert read(without_hooks(hooked)) == {}


@settings(max_examples=50, deadline=None)
@given(texts(foreign_hooks | old_hooks))
def test_merging_keeps_what_is_not_groves_and_replaces_what_an_older_grove_wrote(text):
    merged = with_hooks(text, NARROWED)
    assert rest_of(merged) == rest_of(text)
    foreign = hooks_in(text, own=False)
    assert [one for one in hooks_in(merged, own=False) if one in foreign] == foreign
    wanted = json.dumps({"hooks": NARROWED})
    for event in NARROWED:
        found = [one for one in hooks_in(merged, own=True) if one[0] == event]
        assert found == [one for one in hooks_in(wanted, own=True) if one[0] == event]
    assert len(hooks_in(merged, own=True)) == len(hooks_in(wanted, own=True))


@settings(max_examples=40, deadline=None)
@given(texts(foreign_hooks | old_hooks))
def test_merging_twice_is_merging_once(text):
    once = with_hooks(text, NARROWED)
    assert with_hooks(once, NARROWED) == once
    assert with_rule(with_rule(once, RULE), RULE) == with_rule(once, RULE)


@settings(max_examples=40, deadline=None)
@given(texts(foreign_hooks | old_hooks))
def test_nothing_of_grove_is_left_and_nothing_else_is_lost(text):
    bare = without_hooks(text)
    assert hooks_in(bare, own=True) == []
    assert hooks_in(bare, own=False) == hooks_in(text, own=False)
    assert rest_of(bare) == rest_of(text)


def test_an_older_entry_is_replaced_where_it_stands():
    first = {"hooks": [{"type": "command", "command": "first"}]}
    last = {"hooks": [{"type": "command", "command": "last"}]}
    old = {"hooks": [{"type": "command", "command": "/old/grove", "args": ["hook", "stop"]}]}
    text = json.dumps({"hooks": {"Stop": [first, old, last]}}, indent=2)
    found = read(with_hooks(text, GROUPS))["hooks"]["Stop"]
    assert found == [first, *GROUPS["Stop"], last]


def test_a_hook_of_an_event_that_is_not_used_any_more_goes():
    old = {"hooks": [{"type": "command", "command": "grove hook stop"}]}
    text = json.dumps({"hooks": {"SubagentStop": [old]}})
    assert "SubagentStop" not in read(with_hooks(text, GROUPS))["hooks"]


@pytest.mark.parametrize(
    ("hook", "is_own"),
    [
        ({"type": "command", "command": "/a b/grove", "args": ["hook", "stop"]}, True),
        ({"type": "command", "command": "grove", "args": ["hook", "session-start"]}, True),
        ({"type": "command", "command": "'/a b/grove' hook stop"}, True),
        (
            {
                "type": "command",
                "command": "${CLAUDE_PLUGIN_ROOT}/bin/grove-hook",
                "args": ["stop"],
            },
            True,
        ),
        ({"type": "command", "command": "grove status"}, False),
        ({"type": "command", "command": "grove", "args": ["hook", "deploy"]}, False),
        ({"type": "command", "command": "mygrove hook stop"}, False),
        ({"type": "command", "command": "echo grove hook stop"}, False),
        ({"type": "command", "command": "grove hook 'stop"}, False),
        ({"type": "command", "command": "grove", "args": "hook stop"}, False),
        ({"type": "command", "command": 5}, False),
        ({"type": "http", "url": "grove hook stop"}, False),
        ("grove hook stop", False),
        (None, False),
    ],
)
def test_a_hook_of_groves_is_known_by_its_program_and_event(hook, is_own):
    assert (own_hook(hook) is not None) is is_own


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "one JSON object"),
        ('{"hooks": []}', "hooks must be an object"),
        ('{"hooks": null}', "hooks must be an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop must be a list"),
        ('{"hooks": {"Other": 1}}', "hooks.Other must be a list"),
        ('{"a" 1}', "line 1, column 6"),
    ],
)
def test_settings_that_cannot_hold_hooks_are_refused(text, words):
    for change in (lambda: with_hooks(text, GROUPS), lambda: without_hooks(text)):
        with pytest.raises(CodecError, match=words):
            change()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"permissions": []}', "permissions must be an object"),
        ('{"permissions": {"allow": "Read"}}', "permissions.allow must be a list"),
    ],
)
def test_settings_that_cannot_hold_rules_are_refused(text, words):
    with pytest.raises(CodecError, match=words):
        with_rule(text, RULE)


def test_odd_groups_of_others_are_left_alone():
    text = '{"hooks": {"Stop": [1, null, {}, {"hooks": 3}, {"hooks": []}, {"hooks": [7]}]}}'
    assert without_hooks(text) == text
    assert read(with_hooks(text, GROUPS))["hooks"]["Stop"][:6] == read(text)["hooks"]["Stop"]


def test_settings_of_nothing_become_settings():
    for text in ("", "\n", "{}\n"):
        assert read(with_hooks(text, GROUPS)) == {"hooks": GROUPS}


@pytest.mark.parametrize(
    ("words", "conditions"),
    [
        ([], ()),
        (["bd"], ("Bash(*bd*)", "Bash(*bash*)", "Bash(sh *)")),
        (["git-bug", "bug status"], ("Bash(*bug*)", "Bash(*bash*)", "Bash(sh *)")),
        (["bd", "bd", "tissue"], ("Bash(*bd*)", "Bash(*tissue*)", "Bash(*sh*)")),
        (["bd", "issue_id", "tissue"], ()),
        # What looks for a word finds longer ones as well.
        (["bd", "bd-tool", "xbd"], ("Bash(*bd*)", "Bash(*bash*)", "Bash(sh *)")),
        (["tissue", "bd-tool", "bd"], ("Bash(*bd*)", "Bash(*tissue*)", "Bash(*sh*)")),
        # All words of a literal stand in the command, so the first one is enough.
        (["make close TICKET"], ("Bash(*make*)", "Bash(*bash*)", "Bash(sh *)")),
        (["make close", "make done", "just close"], ("Bash(*just*)", "Bash(*make*)", "Bash(*sh*)")),
        (["bash"], ("Bash(*bash*)", "Bash(sh *)")),
        (["bash", "bd"], ("Bash(*bash*)", "Bash(*bd*)", "Bash(*sh*)")),
        (["sh", "bd"], ("Bash(*bd*)", "Bash(*sh*)")),
    ],
)
def test_hooks_are_narrowed_by_at_most_three_conditions(words, conditions):
    assert conditions_for(words) == conditions


LITERAL_WORDS = st.sampled_from(
    ["bd", "bd-tool", "git-bug", "bug", "status", "sh", "bash", "gh", "tk"]
)
LITERALS = st.lists(st.lists(LITERAL_WORDS, min_size=1, max_size=3).map(" ".join), max_size=5)


@given(LITERALS)
def test_conditions_let_in_every_command_that_holds_a_literal(literals):
    conditions = conditions_for(literals)
    assert len(conditions) <= MOST_CONDITIONS
    assert len(set(conditions)) == len(conditions)
    patterns = [one.removeprefix("Bash(").removesuffix(")") for one in conditions]
    commands = [f"x {literal} x" for literal in literals]
    for command in (*commands, "bash -s", "sh -s") if conditions else ():
        assert any(fnmatchcase(command, pattern) for pattern in patterns)


def test_only_shell_commands_are_narrowed():
    before, others = hook_groups("/g/grove", ("Bash(*bd*)", "Bash(*sh*)"))["PreToolUse"]
    assert before["matcher"] == "Bash"
    assert [hook["if"] for hook in before["hooks"]] == ["Bash(*bd*)", "Bash(*sh*)"]
    assert others["matcher"] == "TaskUpdate|TodoWrite|mcp__.*"
    assert all("if" not in hook for hook in others["hooks"])

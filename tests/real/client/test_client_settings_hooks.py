"""Hooks of the settings, beside the plugin's and beside results of tools, in the real client."""

import json
import shlex
import sys

import pytest
import recorder
from core_worlds import write_file
from hosts import Call
from scenario import (
    CLOSE,
    FINISHED,
    REFLECT,
    STATUS,
    agent,
    assert_ended_well,
    bash,
    held,
    statuses,
    stops,
)

from grove_hosts.claude_code.hooks import hook_groups

# Every way to close that grove recognises must start the hook.
CLOSING = [
    "bd close bd-1",
    "true && bd close bd-1 | cat",
    "xargs bd close < ids",
    "echo close bd-1 | xargs bd",
    'bash -c "bd close bd-1"',
    "env A=1 bd close bd-1",
    '"bd" close bd-1',
    "for id in bd-1; do bd close $id; done",
    "bash <<'EOF'\ntrue\nbd close bd-1\nEOF",
    "bash -s <<'EOF'\nbd close bd-1\nEOF",
    "sh <<< 'bd close bd-1'",
    "echo 'bd close bd-1' | sh",
    "cat <(bd close bd-1)",
    "cat <<'EOF' | bd batch\nclose bd-1\nEOF",
    "/bin/bash <<'EOF'\nbd close bd-1\nEOF",
    "FOO=1 sh <<'EOF'\nbd close bd-1\nEOF",
    "true | sh -s now <<'EOF'\nbd close bd-1\nEOF",
    "cat <<'EOF' | /bin/sh\nbd close bd-1\nEOF",
    "bd close bd-1 2>&1 | tail -1",
    "cd reports && ../tools/bd close bd-1; cd ..",
    "timeout 30 npx bd close bd-1 || true",
    "git commit --allow-empty -m 'Finish' && bd close bd-1 --reason 'Finished'",
    'X=$(date) && bd close bd-1 --reason "$X"',
]
# Calls of an agent's day that close nothing; that some fail here makes no difference. Not among
# them is what the client cannot resolve: loops over variables, `X=$(date) && …`, `echo $(date)`,
# `( … )`, functions, braces, here-documents with an unquoted end. By a rule of its own it then starts
# every hook that has a condition, whatever the condition says, and grove's look for themselves.
UNRELATED = [
    "git status",
    "git status --short && git diff --stat",
    "git stash && git stash pop",
    "git push --force-with-lease 2>&1 | tail -3",
    "git add reports/orders.py && git commit -m 'Close the cursor, fix the report'",
    "git commit --allow-empty -F - <<'EOF'\nFinish the export\n\nCloses the issue with bd close bd-1.\nEOF",
    "git commit --allow-empty -m \"$(cat <<'EOF'\nFinish the export\n\nIt's done (all of it).\nEOF\n)\"",
    "cat reports/orders.py",
    "grep -rn 'class OrderReport' --include='*.py' .",
    "sed -n '1,40p' reports/orders.py",
    "find . -type f -name '*.orig' -exec rm {} +",
    "cat <<'EOF'\nbd\nEOF",
    "cat >> .gitignore << 'EOF'\n*.orig\nEOF",
    "make -j4 lint typecheck",
    "python3 -c 'import sys; print(sys.version_info[:2])'",
    "timeout 10 python3 -m json.tool < .beads/metadata.json",
    "docker ps --format '{{.Names}}'",
]


@pytest.fixture
def connected(project):
    """A project that `grove init --hooks` has connected."""
    project.command("grove", "init", "--hooks", "--allow-grove", "--quiet")
    return project


def test_the_gate_holds_by_the_settings_alone(connected):
    transcript = connected.play([CLOSE, FINISHED, REFLECT, FINISHED], plugin_dir=None)
    assert transcript["exit_code"] == 0
    assert len(held(transcript)) == 1
    assert stops(transcript) == [2, 0]
    assert json.loads(connected.command("grove", "list", "--json"))["count"] == 1


def test_no_close_is_hidden_and_an_unrelated_call_starts_nothing(connected):
    settings = connected.root / ".claude" / "settings.local.json"
    document = json.loads(settings.read_text())
    for event, groups in document["hooks"].items():
        words = [sys.executable, recorder.__file__, connected.out / "run-1" / "recorded", event]
        for group in groups:
            for hook in group["hooks"]:
                hook["command"] = shlex.join(map(str, words))
    settings.write_text(json.dumps(document))
    (connected.root / "ids").write_text("bd-1\n")

    commands = [*CLOSING, *UNRELATED]
    turns = [*(bash(command) for command in commands), FINISHED]
    transcript = connected.play(turns, plugin_dir=None, timeout=300)
    assert transcript["exit_code"] == 0
    seen = {}
    for each in transcript["recorded"]:
        command = each["stdin"].get("tool_input", {}).get("command")
        seen.setdefault(command, set()).add(each["event"])
    for command in CLOSING:
        assert "PreToolUse" in seen.get(command, ()), command
        assert {"PostToolUse", "PostToolUseFailure"} & seen[command], command
    assert [command for command in UNRELATED if command in seen] == []


def test_a_close_that_two_conditions_let_in_leaves_one_intent_and_one_cycle(connected):
    """Each condition starts the hook again, side by side."""
    closing = bash('bash -c "bd close bd-1 --reason done"')
    transcript = connected.play([closing, FINISHED, REFLECT, FINISHED], plugin_dir=None)
    assert transcript["exit_code"] == 0
    events = [hook["hook_event"] for hook in transcript["hooks"]]
    before_the_stop = events[: events.index("Stop")]
    assert (before_the_stop.count("PreToolUse"), before_the_stop.count("PostToolUse")) == (2, 2)
    (session_id,) = transcript["session_ids"]
    trace = json.loads(connected.command("grove", "trace", session_id, "--json"))
    types = [event["event_type"] for event in trace["events"]]
    assert types.count("ticket_close_detected") == 1
    assert types.count("ticket_closed") == 1
    assert stops(transcript) == [2, 0]
    assert connected.outcomes() == [("reflected", 1)]


def test_after_uninstall_no_hook_runs(connected):
    connected.command("grove", "init", "--uninstall", "--quiet")
    transcript = connected.play([CLOSE, FINISHED], plugin_dir=None)
    assert transcript["exit_code"] == 0
    assert transcript["hooks"] == []
    assert not (connected.root / ".claude").exists()


@pytest.fixture
def twice(shop, grove_folder):
    """A project with the plugin's hooks in its local settings, too, and one learning."""
    hooks = hook_groups(str(grove_folder / "grove"), ())
    write_file(shop.root / ".claude" / "settings.local.json", json.dumps({"hooks": hooks}))
    shop.play([REFLECT, FINISHED])
    return shop


def of(transcript, event):
    return [hook for hook in transcript["hooks"] if hook["hook_event"] == event]


def test_each_stop_counts_once_and_three_blocks_are_given(twice):
    turns = [CLOSE, FINISHED, STATUS, FINISHED, STATUS, FINISHED, STATUS, FINISHED]
    transcript = twice.play(turns)
    assert_ended_well(transcript)
    assert stops(transcript) == [2, 2, 2, 0]  # whichever of the hooks has answered
    assert [each["blocks"] for each in statuses(transcript)] == [1, 2, 3]
    assert [each["gate"] for each in statuses(transcript)] == ["blocked"] * 3
    reasons = held(transcript)
    assert len(reasons) == 3
    for count, reason in enumerate(reasons[:2], start=1):
        assert f"this is {count} of 3" in reason
    said = [hook["stderr"] + hook["stdout"] for hook in of(transcript, "Stop")]
    warned = [each for each in said if "asked for 3 times" in each]
    assert len(warned) == 1
    assert twice.outcomes() == [("breaker", 3)]


FILE = "reports/orders.py"
SUMMARY = "OrderReport.rows() runs one query per order unless items are prefetched"
LEARNING = f"""\
### [cl_20300102_aaaaaa] {SUMMARY}
- **Category:** pitfall
- **Scope:** project
- **Confidence:** high
- **Status:** active
- **Criteria:** stable_fact
- **Tags:** orders
- **Files:** {FILE}
- **Origin:** ticket bd-7 | session earlier
- **Created:** 2030-01-02T10:00:00Z

> Call prefetch_related('items') first.
"""
# Else it is shown at the start, and then not again.
QUIET = {"GROVE_RETRIEVAL_MAX_INJECTIONS": "0"}


@pytest.fixture
def noted(shop):
    """A project in which a learning names a file."""
    (shop.root / ".grove" / "learnings.md").write_text(LEARNING)
    return shop


def read(project, path=FILE):
    return Call("Read", {"file_path": str(project.root / path)})


def edit(project):
    change = {"old_string": "pass", "new_string": "rows = None"}
    return Call("Edit", {"file_path": str(project.root / FILE), **change})


def lines_in(transcript):
    """The lines that stand beside results, with the request in which the model read them."""
    return [
        (each["request"], line)
        for each in transcript["injected"]
        for line in each["text"].splitlines()
        if "names this file" in line
    ]


def test_the_line_stands_beside_the_result_of_the_first_tool_that_touches_the_file(noted):
    turns = [read(noted, ".beads/metadata.json"), read(noted), edit(noted), FINISHED]
    transcript = noted.play(turns, environment=QUIET)
    assert_ended_well(transcript)
    ((request, line),) = lines_in(transcript)
    assert request == 2
    assert "PostToolUse:Read hook additional context: grove: a pitfall" in line
    assert line.count(SUMMARY) == 1
    assert f"> {FILE}: {SUMMARY}" in line
    (surfaced,) = noted.events("surfaced")
    assert (surfaced["session_id"], surfaced["via"]) == (transcript["session_id"], "file")
    assert [one["learning_id"] for one in noted.events("dismissed")] == ["cl_20300102_aaaaaa"]


def test_a_subagent_is_told(noted):
    subagent = {"agents": {"SUBJOB": [read(noted), "Looked."]}}
    turns = [agent("SUBJOB: look at it"), read(noted), FINISHED]
    transcript = noted.play(turns, script=subagent, environment=QUIET)
    assert_ended_well(transcript)
    (told,) = [each for each in transcript["injected"] if "names this file" in each["text"]]
    assert told["conversation"] != "main"
    assert len(noted.events("surfaced")) == 1

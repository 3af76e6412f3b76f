"""What `grove init --hooks` writes, in the real client and without the plugin."""

import json
import sys

import pytest
from scenario import CLOSE, FINISHED, REFLECT, bash, held, stops

RECORDER = """\
#!/bin/sh
exec "{python}" -c '
import json, os, sys
payload = json.load(sys.stdin)
with open(os.path.join(os.environ["HOME"], "calls.jsonl"), "a") as file:
    file.write(json.dumps([payload["hook_event_name"], payload.get("tool_input", {{}})]) + "\\n")
' "$@"
"""
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
    transcript = connected.play([CLOSE, FINISHED, REFLECT, FINISHED], plugin_dir=())
    assert transcript["exit_code"] == 0
    assert len(held(transcript)) == 1
    assert stops(transcript) == [2, 0]
    assert json.loads(connected.command("grove", "list", "--json"))["count"] == 1


def test_no_close_is_hidden_and_an_unrelated_call_starts_nothing(connected):
    program = connected.home / "recorder"
    program.write_text(RECORDER.format(python=sys.executable))
    program.chmod(0o755)
    settings = connected.root / ".claude" / "settings.local.json"
    document = json.loads(settings.read_text())
    for groups in document["hooks"].values():
        for group in groups:
            for hook in group["hooks"]:
                hook["command"] = str(program)
    settings.write_text(json.dumps(document))
    (connected.root / "ids").write_text("bd-1\n")

    commands = [*CLOSING, *UNRELATED]
    turns = [*(bash(command) for command in commands), FINISHED]
    transcript = connected.play(turns, plugin_dir=(), timeout=300)
    assert transcript["exit_code"] == 0
    lines = (connected.home / "calls.jsonl").read_text().splitlines()
    seen = {}
    for event, tool_input in map(json.loads, lines):
        if "command" in tool_input:
            seen.setdefault(tool_input["command"], set()).add(event)
    for command in CLOSING:
        assert "PreToolUse" in seen.get(command, ()), command
        assert {"PostToolUse", "PostToolUseFailure"} & seen[command], command
    assert [command for command in UNRELATED if command in seen] == []


def test_a_close_that_two_conditions_let_in_leaves_one_intent_and_one_cycle(connected):
    """Each condition starts the hook again, side by side."""
    closing = bash('bash -c "bd close bd-1 --reason done"')
    transcript = connected.play([closing, FINISHED, REFLECT, FINISHED], plugin_dir=())
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
    transcript = connected.play([CLOSE, FINISHED], plugin_dir=())
    assert transcript["exit_code"] == 0
    assert transcript["hooks"] == []
    assert not (connected.root / ".claude").exists()

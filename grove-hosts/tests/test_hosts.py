"""The clients' adapters against the contract, with payloads that were recorded from them."""

import json
import tempfile
from pathlib import Path

import pytest

from grove_core import HookEvent, HookInput, HookReply
from grove_core.testing import HostContract
from grove_hosts import codex, copilot, cursor, gemini, qwen

DATA = Path(__file__).parents[2] / "tests" / "data"
START, PROMPT, BEFORE, AFTER, FAILURE, STOP, SUBAGENT, END = (
    HookEvent.SESSION_START,
    HookEvent.USER_PROMPT_SUBMIT,
    HookEvent.PRE_TOOL_USE,
    HookEvent.POST_TOOL_USE,
    HookEvent.POST_TOOL_USE_FAILURE,
    HookEvent.STOP,
    HookEvent.SUBAGENT_STOP,
    HookEvent.SESSION_END,
)


def one(folder):
    """Reads recordings that hold a payload each."""
    return lambda name: json.loads((DATA / folder / f"{name}.json").read_text())["stdin"]


def of(folder, name):
    """Finds in a recording of a session the payload of an event, the first that has some text."""
    recorded = json.loads((DATA / "hosts" / folder / f"{name}.json").read_text())
    payloads = recorded if isinstance(recorded, list) else recorded["events"]
    payloads = [each.get("stdin", each) for each in payloads]

    def find(event, text=""):
        return next(
            payload
            for payload in payloads
            if payload.get("hook_event_name") == event and text in json.dumps(payload)
        )

    return find


class TestClaudeCode(HostContract):
    plugin = "grove_hosts.claude_code"
    recorded = one("hook-payloads")
    payloads = {
        START: recorded("SessionStart-startup"),
        PROMPT: recorded("UserPromptSubmit"),
        BEFORE: recorded("PreToolUse-Bash"),
        AFTER: recorded("PostToolUse-Bash"),
        FAILURE: recorded("PostToolUseFailure-Bash"),
        STOP: recorded("Stop-first"),
        SUBAGENT: recorded("SubagentStop"),
        END: recorded("SessionEnd-other"),
    }
    succeeded, failed = payloads[AFTER], payloads[FAILURE]


def codex_transcript():
    lines = json.loads((DATA / "hosts/codex/transcript-CommandExecution.json").read_text())["lines"]
    path = Path(tempfile.mkdtemp()) / "rollout.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {"transcript_path": str(path)}


class TestCodex(HostContract):
    plugin = "grove_hosts.codex"
    recorded = one("hosts/codex")
    payloads = {
        START: recorded("SessionStart-startup"),
        PROMPT: recorded("UserPromptSubmit"),
        BEFORE: recorded("PreToolUse-Bash"),
        AFTER: recorded("PostToolUse-Bash"),
        STOP: recorded("Stop-first"),
        SUBAGENT: recorded("SubagentStop-first"),
        END: recorded("SessionEnd-other"),
    }
    succeeded = {**payloads[AFTER], **codex_transcript()}
    failed = {**recorded("PostToolUse-Bash-exit3"), **codex_transcript()}


class TestCopilot(HostContract):
    plugin = "grove_hosts.copilot"
    recorded = of("copilot", "session-both-styles")
    payloads = {
        START: recorded("SessionStart"),
        PROMPT: recorded("UserPromptSubmit"),
        BEFORE: recorded("PreToolUse", '"Bash"'),
        AFTER: recorded("PostToolUse", '"Bash"'),
        STOP: recorded("Stop"),
        END: recorded("SessionEnd"),
    }
    succeeded, failed = recorded("PostToolUse", "code 0"), recorded("PostToolUse", "code 5")


class TestOpenCode(HostContract):
    plugin = "grove_hosts.opencode"
    # What grove's own plugin in the client writes.
    shared = {"session_id": "ses_1", "cwd": "/p"}
    shell = {"tool_name": "Bash", "tool_input": {"command": "bd close b-1"}, "tool_use_id": "c1"}
    payloads = {
        START: {**shared, "hook_event_name": "SessionStart", "source": "startup"},
        PROMPT: {**shared, "hook_event_name": "UserPromptSubmit", "prompt": "Do it."},
        BEFORE: {**shared, **shell, "hook_event_name": "PreToolUse"},
        AFTER: {**shared, **shell, "hook_event_name": "PostToolUse", "tool_response": {"exit": 0}},
        STOP: {**shared, "hook_event_name": "Stop"},
    }
    succeeded, failed = payloads[AFTER], {**payloads[AFTER], "tool_response": {"exit": 3}}


class TestQwen(HostContract):
    plugin = "grove_hosts.qwen"
    recorded = of("qwen", "session")
    payloads = {
        START: recorded("SessionStart"),
        PROMPT: recorded("UserPromptSubmit", "Do the task."),
        BEFORE: recorded("PreToolUse", "run_shell_command"),
        AFTER: recorded("PostToolUse", "run_shell_command"),
        FAILURE: recorded("PostToolUseFailure", "run_shell_command"),
        STOP: recorded("Stop"),
        SUBAGENT: recorded("SubagentStop"),
    }
    succeeded, failed = payloads[AFTER], payloads[FAILURE]


class TestGemini(HostContract):
    plugin = "grove_hosts.gemini"
    recorded = one("hosts/gemini")
    payloads = {
        START: recorded("SessionStart-startup"),
        PROMPT: recorded("BeforeAgent"),
        BEFORE: recorded("BeforeTool-shell"),
        AFTER: recorded("AfterTool-shell"),
        STOP: recorded("AfterAgent-first"),
        END: recorded("SessionEnd-exit"),
    }
    succeeded, failed = payloads[AFTER], recorded("AfterTool-shell-exit3")


class TestCursor(HostContract):
    plugin = "grove_hosts.cursor"
    recorded = one("hosts/cursor")
    payloads = {
        START: recorded("step-sessionStart"),
        PROMPT: recorded("step-beforeSubmitPrompt"),
        BEFORE: recorded("step-preToolUse"),
        AFTER: recorded("step-postToolUse"),
        FAILURE: recorded("step-postToolUseFailure"),
        STOP: recorded("step-stop"),
        END: recorded("step-sessionEnd"),
    }
    succeeded, failed = payloads[AFTER], payloads[FAILURE]


def context(event, text="a", **more):
    return {**more, "hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def denied(**more):
    words = {"permissionDecision": "deny", "permissionDecisionReason": "No.", **more}
    return {"hookSpecificOutput": words} if more else words


DENIAL, WARNING, BOTH = {"deny": "No."}, {"warning": "Mind."}, {"context": "a", "message": "m"}
REPLIES = {
    codex: [
        (START, BOTH, context("SessionStart", systemMessage="m")),
        (PROMPT, {"context": "a"}, context("UserPromptSubmit")),
        (BEFORE, DENIAL, denied(hookEventName="PreToolUse")),
        (AFTER, {"context": "a"}, context("PostToolUse")),
        # There a block or a denial would take the place of what the tool has printed.
        (AFTER, {"block": "no", "deny": "no"}, None),
        (STOP, {"block": "On."}, {"decision": "block", "reason": "On."}),
        (STOP, WARNING, {"systemMessage": "Mind."}),
        # One key that it does not know, and the client drops the whole answer.
        (STOP, {"context": "a"}, None),
        (SUBAGENT, {"block": "On."}, {"decision": "block", "reason": "On."}),
    ],
    copilot: [
        (START, {"context": "a"}, {"additionalContext": "a"}),
        (BEFORE, {**DENIAL, **WARNING}, denied()),
        (BEFORE, WARNING, None),
    ],
    qwen: [
        (STOP, {"block": "On."}, {"decision": "block", "reason": "On."}),
        (STOP, WARNING, {"systemMessage": "Mind."}),
    ],
    gemini: [
        (PROMPT, {"context": "a"}, context("BeforeAgent")),
        (BEFORE, DENIAL, {"decision": "deny", "reason": "No."}),
        (BEFORE, {}, {}),
        (STOP, {"block": "On."}, {"decision": "deny", "reason": "On."}),
        (STOP, WARNING, {"systemMessage": "Mind."}),
    ],
    cursor: [
        (START, BOTH, {"additional_context": "a"}),
        (BEFORE, DENIAL, {"permission": "deny", "user_message": "No.", "agent_message": "No."}),
        (BEFORE, WARNING, None),
        (STOP, {"block": "On."}, {"followup_message": "On."}),
    ],
}


@pytest.mark.parametrize("client", REPLIES, ids=lambda module: module.__name__)
def test_a_reply_is_said_in_the_keys_that_the_client_knows(client):
    (host,) = client.grove_hosts()
    for event, reply, document in REPLIES[client]:
        answer = host.answer(HookInput(event=event, session_id="s"), HookReply(**reply))
        assert (answer.exit_code, answer.stderr) == (0, "")
        assert (json.loads(answer.stdout) if answer.stdout else None) == document, (event, reply)

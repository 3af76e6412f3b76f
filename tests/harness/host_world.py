"""A world whose hooks are those of another client: what Claude Code says, in that client's words."""

import json

from world import Finished

_GEMINI = {
    "UserPromptSubmit": "BeforeAgent",
    "PreToolUse": "BeforeTool",
    "PostToolUse": "AfterTool",
    "Stop": "AfterAgent",
}


def _codex(said, failed):
    said["turn_id"] = said["prompt_id"]
    return {**said, "tool_response": "printed"} if failed is not None else said


def _copilot(said, failed):
    text = f"printed\n<shellId: 0 completed with exit code {int(failed or 0)}>"
    result = {"result_type": "success", "text_result_for_llm": text}
    return {**said, "tool_result": result} if failed is not None else said


def _opencode(said, failed):
    return {**said, "tool_response": {"exit": int(failed)}} if failed is not None else said


def _qwen(said, failed):
    event = "PostToolUseFailure" if failed else said["hook_event_name"]
    return {**said, "tool_name": "run_shell_command", "hook_event_name": event}


def _gemini(said, failed):
    said["hook_event_name"] = _GEMINI.get(said["hook_event_name"], said["hook_event_name"])
    said["tool_name"] = "run_shell_command"
    trailer = "Exit Code: 1\n" if failed else ""
    printed = f"<untrusted_context>\nOutput: printed\n{trailer}</untrusted_context>"
    return {**said, "tool_response": {"llmContent": printed}} if failed is not None else said


WORDS = {
    "codex": _codex,
    "copilot": _copilot,
    "gemini": _gemini,
    "opencode": _opencode,
    "qwen": _qwen,
}


class HostWorld:
    """A world in which each hook is called as a client calls it; a block is exit code 2 again."""

    def __init__(self, world, host):
        self.world, self.host = world, host

    def __getattr__(self, name):
        return getattr(self.world, name)

    def hook(self, event, payload, **variables):
        failed = None
        if event.startswith("PostToolUse"):
            failed = event == "PostToolUseFailure"
        said = {**payload, "hook_event_name": "PostToolUse" if failed else event}
        said = WORDS[self.host]({"transcript_path": "", **said}, failed)
        data = json.dumps({**said, "transcript_path": ""})
        done = self.world.grove("hook", self.host, stdin=data, **variables)
        # Words for the person alone are no block, whatever the exit code that shows them.
        assert not done.stderr or (event == "Stop" and not done.stdout)
        answer = json.loads(done.stdout or "{}")
        reason = answer.get("block") or answer.get("reason")
        if reason is None:
            return Finished(0, "", "")
        assert event == "Stop"
        return Finished(2, "", reason)

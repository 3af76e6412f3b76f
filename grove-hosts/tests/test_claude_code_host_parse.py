"""Claude Code's payloads: whatever a field holds, a hook call can be read."""

import json

import pytest

from grove_core import CONTEXT_LIMIT, HookEvent, HookReply
from grove_hosts.claude_code import answer, edited_files, parse


def call(event, environment=None, **payload):
    return parse(event.value, {"session_id": "s-1", **payload}, environment or {})


@pytest.mark.parametrize(
    ("variable", "number"),
    [("123", 123), ("", None), ("-1", None), ("9" * 30, None), ("٣", None)],
)
def test_the_process_of_the_client(variable, number):
    made = call(HookEvent.SESSION_START, {"CLAUDE_PID": variable, "CLAUDE_ENV_FILE": ""})
    assert (made.process_id, made.environment_file) == (number, None)


@pytest.mark.parametrize("text", ["Two\nlines", "x" * 20_000, ""])
def test_context_is_one_json_object_without_a_word_on_permissions(text):
    given = answer(call(HookEvent.SESSION_START), HookReply(context=text))
    assert (given.exit_code, given.stderr) == (0, "")
    said = {"hookEventName": "SessionStart", "additionalContext": text[:CONTEXT_LIMIT]}
    assert json.loads(given.stdout or "{}") == ({"hookSpecificOutput": said} if text else {})
    assert CONTEXT_LIMIT <= 9_000


def used(name, **arguments):
    call = {"type": "tool_use", "name": name, "input": arguments}
    content = [{"type": "text", "text": "x"}, call]
    return json.dumps({"type": "assistant", "message": {"content": content}}) + "\n"


@pytest.mark.parametrize("name", ["Edit", "Write", "MultiEdit", "NotebookEdit"])
def test_edits_are_found(tmp_path, name):
    file = tmp_path / "t.jsonl"
    file.write_text(used("Read") + "broken {\n" + used(name))
    assert list(edited_files(str(file), 0)) == [""]
    assert list(edited_files(str(file), file.stat().st_size)) == []
    assert list(edited_files(str(file), len(used("Read")))) == [""]
    for field in ("file_path", "notebook_path"):
        file.write_text(used(name, **{field: "app.py"}))
        assert list(edited_files(str(file), 0)) == ["app.py"]


def test_what_is_no_edit(tmp_path):
    file = tmp_path / "t.jsonl"
    contents = ['a "tool_use" of Edit', ["tool_use", None, 7], None]
    lines = [json.dumps({"message": {"content": one}}) + "\n" for one in contents]
    file.write_text("".join([used("Bash"), *lines, '["tool_use"]\n', "[" * 100_000, '"tool_use"']))
    for path in (file, tmp_path / "none", tmp_path):
        assert list(edited_files(str(path), 0)) == []
    # An edit of a file that is not named may be one of the project.
    for arguments in (None, {"file_path": 7}):
        call = {"type": "tool_use", "name": "Edit", "input": arguments}
        file.write_text(json.dumps({"message": {"content": [call]}}))
        assert list(edited_files(str(file), 0)) == [""]

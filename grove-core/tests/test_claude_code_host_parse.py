"""Claude Code's payloads: whatever a field holds, a hook call can be read."""

import json

import pytest

from grove_core.hosts.claude_code import (
    CONTEXT_LIMIT,
    context_answer,
    has_edits,
    parse,
)
from grove_core.hosts.contract import HookEvent


def call(event, environment=None, **payload):
    data = json.dumps({"session_id": "s-1", **payload}).encode()
    return parse(event, data, environment or {})


@pytest.mark.parametrize(
    ("variable", "number"),
    [("123", 123), ("", None), ("-1", None), ("9" * 30, None), ("٣", None)],
)
def test_the_process_of_the_client(variable, number):
    made = call(HookEvent.SESSION_START, {"CLAUDE_PID": variable, "CLAUDE_ENV_FILE": ""})
    assert (made.process_id, made.environment_file) == (number, None)


@pytest.mark.parametrize("text", ["Two\nlines", "x" * 20_000, ""])
def test_context_is_one_json_object_without_a_word_on_permissions(text):
    answer = context_answer(HookEvent.SESSION_START, text)
    assert (answer.exit_code, answer.stderr) == (0, "")
    said = {"hookEventName": "SessionStart", "additionalContext": text[:CONTEXT_LIMIT]}
    assert json.loads(answer.stdout or "{}") == ({"hookSpecificOutput": said} if text else {})
    assert CONTEXT_LIMIT <= 9_000


def used(name, **arguments):
    call = {"type": "tool_use", "name": name, "input": arguments}
    content = [{"type": "text", "text": "x"}, call]
    return json.dumps({"type": "assistant", "message": {"content": content}}) + "\n"


@pytest.mark.parametrize("name", ["Edit", "Write", "MultiEdit", "NotebookEdit"])
def test_edits_are_found(tmp_path, name):
    file = tmp_path / "t.jsonl"
    file.write_text(used("Read") + "broken {\n" + used(name))
    assert has_edits(str(file), 0, tmp_path, ())
    assert not has_edits(str(file), file.stat().st_size, tmp_path, ())
    assert has_edits(str(file), len(used("Read")), tmp_path, ())


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("{root}/app.py", True),
        ("{root}/.groves", True),
        ("app.py", True),
        ("{root}/.grove/learnings.md", False),
        ("{root}/src/../.grove/x", False),
        ("{link}/.grove/x", False),
        ("{root}/memory/deep/x", False),
        ("{root}/../elsewhere.py", False),
        ("{root}-2/app.py", False),
    ],
)
def test_only_work_in_the_project_counts(tmp_path, path, counts):
    root, file = tmp_path / "project", tmp_path / "t.jsonl"
    root.mkdir()
    (tmp_path / "link").symlink_to("project")
    named = path.format(root=root, link=tmp_path / "link")
    for field in ("file_path", "notebook_path"):
        file.write_text(used("Edit", **{field: named}))
        assert has_edits(str(file), 0, root, (".grove", "memory/")) is counts
    assert has_edits(str(file), 0, tmp_path / "link", (".grove", "memory/")) is counts


def test_what_is_no_edit(tmp_path):
    file = tmp_path / "t.jsonl"
    contents = ['a "tool_use" of Edit', ["tool_use", None, 7], None]
    lines = [json.dumps({"message": {"content": one}}) + "\n" for one in contents]
    file.write_text("".join([used("Bash"), *lines, '["tool_use"]\n', "[" * 100_000, '"tool_use"']))
    for path in (file, tmp_path / "none", tmp_path):
        assert not has_edits(str(path), 0, tmp_path, ())
    # An edit of a file that is not named may be one of the project.
    for arguments in (None, {"file_path": 7}):
        call = {"type": "tool_use", "name": "Edit", "input": arguments}
        file.write_text(json.dumps({"message": {"content": [call]}}))
        assert has_edits(str(file), 0, tmp_path, (".grove",))

"""Claude Code's payloads: whatever a field holds, a hook call can be read."""

import json

import pytest

from grove_core.hosts.claude_code import (
    CONTEXT_LIMIT,
    context_answer,
    has_edits,
    parse,
)
from grove_core.hosts.contract import HookEvent, StartSource
from grove_core.model.ticket import BackgroundTask, ToolCall, ToolResult


def call(event, environment=None, **payload):
    data = json.dumps({"session_id": "s-1", **payload}).encode()
    return parse(event, data, environment or {})


BASH = {"tool_name": "Bash", "tool_input": {"command": "bd close x"}, "tool_use_id": "toolu_1"}
PRE, POST = HookEvent.PRE_TOOL_USE, HookEvent.POST_TOOL_USE
FAILED, DONE = HookEvent.POST_TOOL_USE_FAILURE, HookEvent.TASK_COMPLETED
START = HookEvent.SESSION_START
STOP, PROMPT = HookEvent.STOP, HookEvent.USER_PROMPT_SUBMIT
BACKGROUND = [
    {"id": "a", "type": "shell", "status": "running"},
    {"id": "b", "type": "subagent"},
    {"id": "c", "type": "shell", "status": "completed"},
    {"type": "shell", "status": "running"},
    "nonsense",
]


TASK = {"task_id": "1", "task_subject": "do"}
CALLED = ToolCall(name="Bash", input=BASH["tool_input"], use_id="toolu_1", cwd="/p")
RUNNING = (BackgroundTask(id="a", kind="shell"), BackgroundTask(id="b", kind="subagent"))


def succeeded(response, task=None):
    return ToolResult(succeeded=True, response=response, background_task_id=task)


@pytest.mark.parametrize(
    ("event", "payload", "field", "expected"),
    [
        (PRE, {"cwd": "/p", **BASH}, "tool", CALLED),
        (PRE, {"prompt_id": "p-1"}, "prompt_id", "p-1"),
        *(
            (POST, {**BASH, "tool_response": response}, "result", succeeded(response, task))
            for response, task in [
                ({"stdout": "x"}, None),
                ({"backgroundTaskId": "b1"}, "b1"),
                ({"backgroundTaskId": 7}, None),
                ("a text", None),
            ]
        ),
        (FAILED, {**BASH, "error": "x"}, "result", ToolResult(succeeded=False, error="x")),
        (
            DONE,
            {**TASK, "task_description": None},
            "tool",
            ToolCall(name="TaskCompleted", input=TASK),
        ),
        *((START, {"source": source.value}, "source", source) for source in StartSource),
        (START, {"source": "invented"}, "source", StartSource.STARTUP),
        (STOP, {"background_tasks": BACKGROUND}, "background", RUNNING),
        (STOP, {"stop_hook_active": True}, "stop_hook_active", True),
        (STOP, {"permission_mode": "plan"}, "plan_mode", True),
        (PROMPT, {"prompt": "<task-notification>done"}, "is_notification", True),
    ],
)
def test_what_a_field_says(event, payload, field, expected):
    assert getattr(call(event, **payload), field) == expected


@pytest.mark.parametrize(
    ("variable", "number"),
    [("123", 123), ("", None), ("-1", None), ("9" * 30, None), ("٣", None)],
)
def test_the_process_of_the_client(variable, number):
    made = call(START, {"CLAUDE_PID": variable, "CLAUDE_ENV_FILE": ""})
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

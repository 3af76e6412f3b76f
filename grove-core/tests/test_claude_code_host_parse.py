"""Claude Code's payloads: whatever a field holds, a hook call can be read."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.errors import CodecError
from grove_core.hosts.claude_code import (
    block_answer,
    context_answer,
    has_edits,
    parse,
)
from grove_core.hosts.claude_code_plain import CONTEXT_LIMIT
from grove_core.hosts.contract import HookEvent, HookInput, StartSource
from grove_core.model.ticket import BackgroundTask, ToolCall, ToolResult

FIELDS = [
    "cwd",
    "transcript_path",
    "prompt_id",
    "source",
    "prompt",
    "permission_mode",
    "tool_name",
    "tool_input",
    "tool_use_id",
    "tool_response",
    "error",
    "background_tasks",
    "stop_hook_active",
    "reason",
    "task_id",
    "task_subject",
    "task_description",
    "hook_event_name",
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=10),
    st.sampled_from(
        ["\0", "\ud800", "/\udcff", "plan", "running", "resume", "/tmp", "<task-notification>"]
    ),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["id", "type", "status", "backgroundTaskId", "x"]), inner),
    ),
    max_leaves=6,
)
EVENTS = st.sampled_from(HookEvent)


def call(event, environment=None, **payload):
    data = json.dumps({"session_id": "s-1", **payload}).encode()
    return parse(event, data, environment or {})


@given(
    event=EVENTS,
    payload=st.dictionaries(st.sampled_from(FIELDS), ANYTHING),
    pid=st.text(max_size=6) | st.sampled_from(["0", "9" * 5000, "-1", "²", "1e3"]),
)
def test_no_field_of_any_type_raises(event, payload, pid):
    data = json.dumps({"session_id": "s-1", **payload}).encode()
    made = parse(event, data, {"CLAUDE_PID": pid, "CLAUDE_ENV_FILE": pid})
    assert (made.event, made.session_id) == (event, "s-1")
    for path in (made.cwd, made.transcript_path):
        assert isinstance(path, str)
        assert "\0" not in path
        path.encode("utf-8", "surrogateescape")
    assert made.cwd == "" or made.cwd.startswith("/")
    assert isinstance(made.prompt, str)
    assert isinstance(made.prompt_id, str | None)
    assert isinstance(made.source, StartSource)
    assert isinstance(made.plan_mode, bool)
    assert isinstance(made.stop_hook_active, bool)
    assert isinstance(made.process_id, int | None)
    assert all(isinstance(one.id, str) and one.id for one in made.background)
    assert all(isinstance(one.kind, str) for one in made.background)
    if made.tool is not None:
        assert made.tool.name
        assert isinstance(made.tool.input, dict)
        assert isinstance(made.tool.use_id, str | None)
    if made.result is not None:
        assert isinstance(made.result.error, str)
        assert isinstance(made.result.background_task_id, str | None)


@given(data=st.binary(max_size=60), event=EVENTS)
def test_what_is_no_payload_is_a_codec_error_and_nothing_else(data, event):
    with pytest.raises(CodecError):
        parse(event, data, {})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"null",
        b'"text"',
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"session_id":' + b"9" * 5000 + b"}",
        b"{}",
        *(
            json.dumps({"session_id": name}).encode()
            for name in [None, 7, [], {}, "", "..", "a/b", "a\nb", "x" * 129, "é", "\ud800"]
        ),
    ],
    ids=lambda one: repr(one[:30]),
)
def test_input_without_a_usable_session_id(data):
    with pytest.raises(CodecError) as caught:
        parse(HookEvent.STOP, data, {})
    assert len(str(caught.value)) < 400


def test_an_empty_payload_gives_the_defaults():
    defaults = HookInput(event=HookEvent.STOP, session_id="s-1", set_of_hooks=sys.argv[0])
    assert call(HookEvent.STOP) == defaults
    nothing = dict.fromkeys(FIELDS)
    assert call(HookEvent.STOP, **nothing) == defaults


def test_a_tool_call():
    made = call(
        HookEvent.PRE_TOOL_USE,
        cwd="/p",
        tool_name="Bash",
        tool_input={"command": "bd close x"},
        tool_use_id="toolu_1",
        prompt_id="p-1",
    )
    assert made.tool == ToolCall(
        name="Bash", input={"command": "bd close x"}, use_id="toolu_1", cwd="/p"
    )
    assert (made.result, made.prompt_id) == (None, "p-1")


@pytest.mark.parametrize(
    ("response", "task"),
    [
        ({"stdout": "x"}, None),
        ({"backgroundTaskId": "b1"}, "b1"),
        ({"backgroundTaskId": ""}, None),
        ({"backgroundTaskId": 7}, None),
        ("a text", None),
        (None, None),
        ([1], None),
    ],
)
def test_a_tool_result(response, task):
    made = call(HookEvent.POST_TOOL_USE, tool_name="Bash", tool_response=response)
    assert made.result == ToolResult(succeeded=True, response=response, background_task_id=task)


def test_a_failed_tool_call():
    made = call(HookEvent.POST_TOOL_USE_FAILURE, tool_name="Bash", error="exit 1")
    assert made.result == ToolResult(succeeded=False, error="exit 1")


def test_a_completed_task_is_a_call_of_its_own():
    made = call(HookEvent.TASK_COMPLETED, task_id="1", task_subject="do", task_description=None)
    assert made.tool == ToolCall(name="TaskCompleted", input={"task_id": "1", "task_subject": "do"})


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
def test_sources(source):
    assert call(HookEvent.SESSION_START, source=source).source.value == source


def test_an_unknown_source_is_a_startup():
    assert call(HookEvent.SESSION_START, source="invented").source is StartSource.STARTUP


def test_background_work():
    tasks = [
        {"id": "a", "type": "shell", "status": "running"},
        {"id": "b", "type": "subagent"},
        {"id": "c", "type": "shell", "status": "completed"},
        {"type": "shell", "status": "running"},
        "nonsense",
    ]
    made = call(HookEvent.STOP, background_tasks=tasks, stop_hook_active=True)
    assert made.background == (
        BackgroundTask(id="a", kind="shell"),
        BackgroundTask(id="b", kind="subagent"),
    )
    assert made.stop_hook_active


@pytest.mark.parametrize(
    ("prompt", "notification"),
    [("<task-notification>done", True), (" <task-notification>", False), ("hello", False)],
)
def test_notices_of_the_client_are_no_prompts(prompt, notification):
    assert call(HookEvent.USER_PROMPT_SUBMIT, prompt=prompt).is_notification is notification


def test_plan_mode():
    assert call(HookEvent.STOP, permission_mode="plan").plan_mode
    assert not call(HookEvent.STOP, permission_mode="default").plan_mode


@pytest.mark.parametrize(
    ("variable", "number"),
    [
        ("123", 123),
        ("", None),
        ("x", None),
        ("-1", None),
        ("9" * 30, None),
        ("1.5", None),
        ("٣", None),
    ],
)
def test_the_process_of_the_client(variable, number):
    made = call(HookEvent.SESSION_START, {"CLAUDE_PID": variable, "CLAUDE_ENV_FILE": ""})
    assert (made.process_id, made.environment_file) == (number, None)


# Answers.


@given(st.text(min_size=1))
def test_context_is_one_json_object_without_a_word_on_permissions(text):
    answer = context_answer(HookEvent.SESSION_START, text)
    assert (answer.exit_code, answer.stderr) == (0, "")
    document = json.loads(answer.stdout)
    assert document == {
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": text[:CONTEXT_LIMIT],
        }
    }


def test_long_context_is_cut_and_no_context_is_silence():
    answer = context_answer(HookEvent.USER_PROMPT_SUBMIT, "x" * 20_000)
    assert len(json.loads(answer.stdout)["hookSpecificOutput"]["additionalContext"]) <= 9_000
    silence = context_answer(HookEvent.SESSION_START, "")
    assert (silence.exit_code, silence.stdout, silence.stderr) == (0, "", "")


def test_a_block_says_its_reason_on_stderr_alone():
    answer = block_answer("grove: wait")
    assert (answer.exit_code, answer.stdout, answer.stderr) == (2, "", "grove: wait\n")


# The transcript.


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


@pytest.mark.parametrize("field", ["file_path", "notebook_path"])
@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("{root}/app.py", True),
        ("{root}/src/.grove/x", True),
        ("{root}/.groves", True),
        ("{root}/memory.md", True),
        ("app.py", True),
        ("{root}/gone/../app.py", True),
        ("{link}/app.py", True),
        ("{root}/.grove/learnings.md", False),
        ("{root}/.grove", False),
        (".grove/x", False),
        ("{root}/src/../.grove/x", False),
        ("{link}/.grove/x", False),
        ("{root}/memory/deep/x", False),
        ("{root}/../elsewhere.py", False),
        ("{root}-2/app.py", False),
        ("/tmp-of-nobody/plan.md", False),
        ("{root}/..hidden", True),
    ],
)
def test_only_work_in_the_project_counts(tmp_path, field, path, counts):
    root, file = tmp_path / "project", tmp_path / "t.jsonl"
    root.mkdir()
    (tmp_path / "link").symlink_to("project")
    named = path.format(root=root, link=tmp_path / "link")
    file.write_text(used("Edit", **{field: named}))
    assert has_edits(str(file), 0, root, (".grove", "memory/")) is counts
    assert has_edits(str(file), 0, tmp_path / "link", (".grove", "memory/")) is counts


@pytest.mark.parametrize("arguments", [None, [], "x", {"file_path": 7}, {"file_path": ""}])
def test_an_edit_of_an_unnamed_file_counts(tmp_path, arguments):
    file = tmp_path / "t.jsonl"
    call = {"type": "tool_use", "name": "Edit", "input": arguments}
    own = {"type": "tool_use", "name": "Edit", "input": {"file_path": ".grove/x"}}
    file.write_text(json.dumps({"message": {"content": [own, call]}}))
    assert has_edits(str(file), 0, tmp_path, (".grove",))


def test_what_is_no_edit(tmp_path):
    file = tmp_path / "t.jsonl"
    lines = [
        used("Bash"),
        json.dumps({"message": {"content": 'a "tool_use" of Edit'}}) + "\n",
        json.dumps({"message": None, "x": "tool_use"}) + "\n",
        '["tool_use"]\n',
        json.dumps({"message": {"content": ["tool_use", None, 7]}}) + "\n",
        json.dumps({"message": {"content": [{"type": "text", "text": '"tool_use" Edit'}]}}) + "\n",
        '{"tool_use"\n' + "[" * 100_000 + '"tool_use"',
    ]
    file.write_text("".join(lines))
    assert not has_edits(str(file), 0, tmp_path, ())


def test_a_transcript_that_cannot_be_read_holds_no_edits(tmp_path):
    for path in (str(tmp_path / "none"), str(tmp_path), ""):
        assert not has_edits(path, 0, tmp_path, ())

"""Codex: recorded payloads in, answers out; hooks into its files and out; whether it trusts them."""

import json
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from grove_core import HookEvent, HookReply, HostContext, StartSource, Status, ToolCall, ToolResult
from grove_hosts.codex import edited_files, grove_hosts, parse

DATA = Path(__file__).parents[2] / "tests" / "data" / "hosts" / "codex"
(CODEX,) = grove_hosts()
CWD = "/home/dev/project"
PATCH = "*** Begin Patch\n*** Add File: x.txt\n+hello\n*** End Patch\n"


def recorded(name):
    return json.loads((DATA / f"{name}.json").read_text())["stdin"]


def read(name, environment=None, **fields):
    return parse("", {**recorded(name), **fields}, environment or {})


def run(command, use_id):
    return ToolCall(name="Bash", input={"command": command}, use_id=use_id, cwd=CWD)


PATCHED = ToolCall(name="apply_patch", input={"command": PATCH}, use_id="call_17", cwd=CWD)
TIX = ToolCall(name="mcp__tix__close", input={"id": "t-1"}, use_id="call_19", cwd=CWD)
SUBAGENT = "01a20958-0345-73c3-8cee-1281c5a74203"
EXIT_3 = "echo out; echo err >&2; exit 3"


@pytest.mark.parametrize(
    ("name", "event", "expected"),
    [
        ("SessionStart-startup", "SESSION_START", {"source": StartSource.STARTUP}),
        ("SessionStart-resume", "SESSION_START", {"source": StartSource.RESUME}),
        ("SessionStart-clear", "SESSION_START", {"source": StartSource.CLEAR}),
        ("SessionStart-compact", "SESSION_START", {"source": StartSource.COMPACT}),
        ("SessionStart-fork", "SESSION_START", {"source": StartSource.FORK, "prompt_id": None}),
        (
            "UserPromptSubmit",
            "USER_PROMPT_SUBMIT",
            {"prompt": "Do the task.", "prompt_id": "01a20960-bf14-7d61-96d8-28c607610b27"},
        ),
        ("PreToolUse-Bash", "PRE_TOOL_USE", {"tool": run("echo hi", "call_3"), "result": None}),
        ("PreToolUse-Bash-interactive", "PRE_TOOL_USE", {"plan_mode": False, "is_over": False}),
        ("PreToolUse-apply_patch", "PRE_TOOL_USE", {"tool": PATCHED}),
        ("PreToolUse-mcp", "PRE_TOOL_USE", {"tool": TIX}),
        ("PreToolUse-in-subagent", "PRE_TOOL_USE", {"agent_id": SUBAGENT, "prompt_id": None}),
        (
            "PostToolUse-Bash-exit3",
            "POST_TOOL_USE",
            {
                "tool": run(EXIT_3, "call_5"),
                # No transcript: nothing in the payload says that it has failed.
                "result": ToolResult(succeeded=None, response="out\nerr\n"),
                "is_over": True,
            },
        ),
        ("PostToolUse-Bash-ephemeral", "POST_TOOL_USE", {"transcript_path": ""}),
        (
            "Stop-first",
            "STOP",
            {
                "session_id": "01a20960-be8c-79a2-be67-9ccc9f03e51a",
                "cwd": CWD,
                "stop_hook_active": False,
                "set_of_hooks": "",
            },
        ),
        ("Stop-after-block", "STOP", {"stop_hook_active": True}),
        ("SubagentStop-first", "SUBAGENT_STOP", {"agent_id": SUBAGENT, "agent_type": "default"}),
        ("SessionEnd-other", "SESSION_END", {}),
    ],
)
def test_a_payload_becomes_a_call(name, event, expected):
    call = read(name)
    assert call.event is HookEvent[event]
    assert {field: getattr(call, field) for field in expected} == expected


@pytest.mark.parametrize("name", ["Interrupt", "SubagentStart", "PostCompact-auto"])
def test_other_events_are_no_concern(name):
    assert read(name) is None


def test_planning_and_the_projects_own_hooks_are_told():
    assert read("Stop-first", permission_mode="plan").plan_mode
    assert read("Stop-first", {"GROVE_HOOKS": "project"}).set_of_hooks == "project"


@pytest.fixture
def transcript(tmp_path):
    """The transcript in which three commands have ended."""
    lines = json.loads((DATA / "transcript-CommandExecution.json").read_text())["lines"]
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize(("use_id", "succeeded"), [("call_3", True), ("call_5", False)])
def test_the_transcript_says_how_a_command_has_ended(transcript, use_id, succeeded):
    fields = {"transcript_path": str(transcript), "tool_use_id": use_id, "tool_response": "so"}
    result = read("PostToolUse-Bash", **fields).result
    assert result.succeeded is succeeded
    assert (result.response, result.error) == (("so", "") if succeeded else (None, "so"))


@pytest.mark.parametrize(
    "noise",
    [
        '{"payload": {"type": "item_completed", "item": {"id": "call_5"}}}',
        '{"payload": {"type": "function_call", "call_id": "call_5"}}',
        '{"payload": ["call_5"]}',
        "call_5",
        "[" * 100_000 + "call_5",
        "x" * 1_000_000,
    ],
)
def test_other_lines_of_a_transcript_are_passed_over(transcript, noise):
    transcript.write_text(f"{transcript.read_text()}{noise}\n")
    fields = {"transcript_path": str(transcript), "tool_use_id": "call_5"}
    assert read("PostToolUse-Bash", **fields).result.succeeded is False


def test_a_line_far_back_in_a_transcript_is_not_looked_for(transcript):
    transcript.write_text(transcript.read_text() + "x" * 3_000_000)
    fields = {"transcript_path": str(transcript), "tool_use_id": "call_5"}
    assert read("PostToolUse-Bash", **fields).result.succeeded is None


@pytest.mark.parametrize(
    ("name", "response", "succeeded"),
    [
        ("PostToolUse-apply_patch", "Exit code: 0\nWall time: 0.3 seconds\nOutput:\n", True),
        ("PostToolUse-apply_patch", "Exit code: 1\nWall time: 0.3 seconds\nOutput:\n", False),
        ("PostToolUse-apply_patch", "Output:\nExit code: 0\n", None),
        ("PostToolUse-mcp", {"content": [], "isError": False}, True),
        ("PostToolUse-mcp", {"content": [], "isError": True}, False),
        ("PostToolUse-mcp", None, None),
    ],
)
def test_other_tools_say_themselves_how_they_have_ended(name, response, succeeded):
    assert read(name, tool_response=response).result.succeeded is succeeded


def test_patches_tell_the_files_that_they_have_changed(tmp_path):
    def line(**item):
        return json.dumps({"payload": {"type": "item_completed", "item": item}}) + "\n"

    path = tmp_path / "rollout.jsonl"
    before = line(type="FileChange", changes={"/p/before.py": {"type": "add"}})
    after = line(type="FileChange", changes={"/p/a.py": {"type": "update"}, "/p/b.py": {}})
    path.write_text(before + line(type="AgentMessage", text='"FileChange"') + after)
    assert list(edited_files(str(path), len(before))) == ["/p/a.py", "/p/b.py"]
    assert list(edited_files(str(tmp_path / "none"), 0)) == []


# --- its files ------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path):
    """Where grove is installed: a project, and a home for Codex's own files."""
    root, home = tmp_path / "project", tmp_path / "home"
    (root / ".codex").mkdir(parents=True)
    (home / ".codex").mkdir(parents=True)
    return HostContext(root=root, environment={"HOME": str(home)})


def test_hooks_go_to_the_person_or_to_the_project(here, install, tmp_path):
    own, shared = install(CODEX, here), install(CODEX, evolve(here, shared=True))
    assert own == tmp_path / "home/.codex/hooks.json"
    assert shared == here.root / ".codex/hooks.json"
    elsewhere = evolve(here, environment={"CODEX_HOME": str(tmp_path / "c")})
    assert CODEX.setup(elsewhere).files[0].path == tmp_path / "c/hooks.json"
    assert CODEX.setup(evolve(here, hooks=False)).files == ()
    found = {(one.kind, one.event) for one in CODEX.registered(here)}
    assert found == {(kind, event) for kind in ("user", "project") for event in CODEX.events}
    assert {(one.program, one.arguments) for one in CODEX.registered(here)} == {
        ("grove", ("hook", "codex"))
    }


def test_a_hook_is_the_same_for_every_version_and_project(here, install):
    hooks = json.loads(install(CODEX, here).read_text())["hooks"]
    handlers = [hook for groups in hooks.values() for group in groups for hook in group["hooks"]]
    assert {hook["command"] for hook in handlers} == {"grove hook codex || true"}
    assert all(isinstance(hook["timeout"], int) for hook in handlers)
    assert all(list(group) == ["hooks"] for groups in hooks.values() for group in groups)
    told = evolve(here, program="/venv/bin/grove", tools=("Read",), agents=("reviewer",))
    assert json.loads(install(CODEX, told).read_text())["hooks"] == hooks


OTHER = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=9)})
GROUP = st.fixed_dictionaries({"hooks": st.lists(OTHER, max_size=2)})
EVENTS = st.sampled_from(["Stop", "PreToolUse", "Other"])
DOCUMENTS = st.fixed_dictionaries(
    {"description": st.text(max_size=5)},
    optional={
        "hooks": st.dictionaries(EVENTS, st.lists(GROUP, min_size=1, max_size=2), min_size=1)
    },
)


@given(DOCUMENTS)
def test_what_is_put_in_stands_last_and_comes_out_again(document):
    (file,) = CODEX.setup(HostContext(root=Path("/p"), environment={"HOME": "/h"})).files
    before = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    after = file.put(before)
    assert file.put(after) == after
    hooks = json.loads(after)["hooks"]
    for event, groups in document.get("hooks", {}).items():
        assert hooks[event][: len(groups)] == groups  # a place is part of what is trusted
    assert file.take(after, before) == before


def test_the_protocol_is_a_skill_that_is_taken_back_whole(here):
    asked = evolve(here, rules=True, protocol="# grove\n\nReflect once.\n")
    skill = CODEX.setup(asked).files[0]
    assert skill.path == here.root / ".agents/skills/grove/SKILL.md"
    text = skill.put("")
    assert text.startswith("---\nname: grove\ndescription: ")
    assert text.endswith("\n---\n\n# grove\n\nReflect once.\n")
    assert (skill.is_whole, skill.take(text, ""), skill.take("mine", "")) == (True, "", "mine")


def trust(here, kind="user", **more):
    """Agree to hooks as the client writes it down, by the hashes that it has listed."""
    file = next(one.source for one in CODEX.registered(here) if one.kind == kind)
    hashes = json.loads((DATA / "hooks-list.json").read_text())[kind]
    lines = [
        f"[hooks.state.{json.dumps(f'{file}:{key}')}]\ntrusted_hash = {json.dumps(value)}\n"
        for key, value in hashes.items()
    ]
    lines += [f"[{name}]\n{text}\n" for name, text in more.items()]
    config = Path(here.environment["HOME"], ".codex", "config.toml")
    config.write_text("\n".join(lines))
    return config


def found(here):
    return [(one.status, one.detail) for one in CODEX.check(here)]


def test_trust_is_seen_as_the_client_sees_it(here, install):
    assert found(here) == []
    install(CODEX, here)
    (untrusted,) = CODEX.check(here)
    assert untrusted.status is Status.BROKEN
    assert "SessionEnd: not trusted" in untrusted.detail
    assert "/hooks" in untrusted.fix
    trust(here)
    assert [status for status, _ in found(here)] == [Status.OK]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda hooks: hooks["Stop"].insert(0, {"hooks": []}), "(Stop: not trusted)"),
        (lambda hooks: hooks["Stop"][0]["hooks"][0].update(timeout=9), "(Stop: changed since)"),
        (lambda hooks: hooks["Stop"][0].update(matcher=""), "(Stop: changed since)"),
        (lambda hooks: hooks["Stop"].append({"hooks": []}), None),
    ],
)
def test_what_has_changed_since_it_was_trusted_is_named(here, install, change, expected):
    file = install(CODEX, here)
    trust(here)
    document = json.loads(file.read_text())
    change(document["hooks"])
    file.write_text(json.dumps(document))
    ((status, detail),) = found(here)
    assert (status is Status.OK) is (expected is None)
    assert expected is None or expected in detail


def test_what_else_keeps_hooks_from_running_is_named(here, install):
    file = install(CODEX, here)
    config = trust(here, features="hooks = false")
    assert [status for status, _ in found(here)] == [Status.BROKEN, Status.OK]
    config.write_text(f'[hooks.state."{file}:session_start:0:0"]\nenabled = false\n')
    assert "SessionStart: switched off" in found(here)[0][1]
    config.write_text("not TOML")
    assert "cannot be read" in found(here)[0][1]


def test_a_project_has_to_be_trusted_besides(here, install):
    install(CODEX, evolve(here, shared=True))
    trust(here, "project")
    assert [status for status, _ in found(here)] == [Status.BROKEN, Status.OK]
    trusted = f"projects.{json.dumps(str(here.root))}"
    trust(here, "project", **{trusted: 'trust_level = "trusted"'})
    assert [status for status, _ in found(here)] == [Status.OK]


def test_a_long_text_is_cut_at_its_end_by_bytes():
    given = CODEX.answer(read("UserPromptSubmit"), HookReply(context="\u54c1" * 9_000))
    text = json.loads(given.stdout)["hookSpecificOutput"]["additionalContext"]
    assert text == "\u54c1" * 3_000

"""OpenCode: its hooks through grove's plugin, what grove makes of the calls, and the answers."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from core_worlds import write_program

from grove_core import CodecError, HookEvent
from grove_hosts.opencode import grove_hosts

HERE = Path(__file__).parent
RECORDED = HERE.parents[1] / "tests" / "data" / "hosts" / "opencode"
(HOST,) = grove_hosts()
SHELL = {
    "hook_event_name": "PostToolUse",
    "session_id": "ses_1",
    "cwd": "/p",
    "tool_name": "Bash",
    "tool_input": {"command": "bd close b-1", "workdir": "sub"},
    "tool_use_id": "call_1",
    "tool_response": {"exit": 0},
}
# Keeps what it reads, and prints what the test has put down for the event.
PROGRAM = """\
#!/bin/sh
read -r call
echo "$call" >> {folder}/calls
event=${{call#*hook_event_name\\":\\"}}
cat {folder}/${{event%%\\"*}} 2> /dev/null
"""


class Client:
    """The plugin under node, with a program in grove's place."""

    def __init__(self, given, folder, program=PROGRAM):
        if shutil.which("node") is None:
            pytest.skip("no node to run the plugin with")
        self.folder, self.plugin = folder, folder / "plugin.mjs"
        write_program(folder / "grove", program.format(folder=folder))
        (file,) = HOST.setup(given).files
        self.plugin.write_text(file.put("").replace("cwd: call.cwd", 'cwd: "/"'))

    def answer(self, event, **reply):
        (self.folder / event).write_text(json.dumps(reply))

    def play(self, *hooks, **more):
        """Call hooks: `(name, input, output)` or an event."""
        names = ("hook", "input", "output")
        hooks = [
            dict(zip(names, one, strict=True)) if isinstance(one, tuple) else one for one in hooks
        ]
        words = ["node", str(HERE / "opencode_player.mjs"), str(self.plugin)]
        given = json.dumps({"hooks": hooks, **more})
        run = subprocess.run(
            words, check=False, input=given, capture_output=True, text=True, timeout=60
        )
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    def play_recorded(self, name):
        hooks = json.loads((RECORDED / f"{name}.json").read_text())["hooks"]
        created = [
            one["event"]["properties"]["info"]
            for one in hooks
            if one["hook"] == "event:session.created"
        ]
        return self.play(*hooks, parents={one["id"]: one.get("parentID") for one in created})

    @property
    def payloads(self):
        file = self.folder / "calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def calls(self):
        return [HOST.parse("", one, {}) for one in self.payloads]


@pytest.fixture
def client(context, tmp_path):
    return Client(context(program=str(tmp_path / "grove")), tmp_path)


def prompt(text="Do it.", **part):
    message = {"id": "msg_1", "agent": "build", "model": {"modelID": "m"}}
    return (
        "chat.message",
        {"sessionID": "ses_1"},
        {"message": message, "parts": [{"id": "prt_1", "type": "text", "text": text, **part}]},
    )


def text_ends():
    return ("experimental.text.complete", {"sessionID": "ses_1"}, {"text": "Done."})


def before_tool(tool="bash", **arguments):
    return (
        "tool.execute.before",
        {"tool": tool, "sessionID": "ses_1", "callID": "c"},
        {"args": arguments},
    )


def request(*, tool=False, own="own-1"):
    """The messages of a request after a text: what the step has called, and what the plugin put in."""
    step = [{"type": "text", "text": "Done."}, *([{"type": "tool"}] if tool else [])]
    info = {"sessionID": "ses_1"}
    messages = [
        {"info": {**info, "id": "msg_1", "role": "user"}, "parts": [{"type": "text"}]},
        {"info": {**info, "id": "msg_2", "role": "assistant"}, "parts": step},
        {"info": {**info, "id": own, "role": "user"}, "parts": [{"type": "text", "metadata": {"grove": True}}]},
    ]  # fmt: skip
    return ("experimental.chat.messages.transform", {}, {"messages": messages})


# --- hooks as they were recorded -----------------------------------------------------------------------


def test_a_session_with_tools(client):
    outputs = client.play_recorded("session-tools")["outputs"]
    made = [
        (one.event.value, one.tool and one.tool.name, one.result and one.result.succeeded)
        for one in client.calls
    ]
    bash = [("pre-tool-use", "Bash", None)]
    assert made == [
        ("session-start", None, None),
        ("user-prompt-submit", None, None),
        *bash, ("post-tool-use", "Bash", False),
        *bash,  # without its command the tool throws
        ("post-tool-use", "Write", True),
        ("post-tool-use", "Edit", True),
        ("pre-tool-use", "TodoWrite", None), ("post-tool-use", "TodoWrite", True),
        *bash, ("post-tool-use", "Bash", True),
        ("stop", None, None),
    ]  # fmt: skip
    assert {one.session_id for one in client.calls} == {"ses_df6a0597dffeYn2XtkB6fAxhZo"}
    assert [one.touched_file for one in client.calls if one.touched_file] == [
        "/home/dev/project/a.txt"
    ] * 2
    assert all(
        set(one["tool_input"]) == {"file_path"}
        for one in client.payloads
        if one.get("tool_name") in ("Write", "Edit")
    )
    assert {"env": {"GROVE_SESSION_ID": "ses_df6a0597dffeYn2XtkB6fAxhZo"}} in outputs


def test_a_subagent_belongs_to_its_session(client):
    client.play_recorded("subagent")
    session, agent = "ses_df69af687ffe05g1y2FX8E3eoU", "ses_df69aabe9ffeTk3AZXNdUserOG"
    assert [(one.event.value, one.session_id, one.agent_id) for one in client.calls] == [
        ("session-start", session, None),
        ("user-prompt-submit", session, None),
        ("pre-tool-use", session, agent),
        ("post-tool-use", session, agent),
        ("stop", session, None),
    ]


# --- what the plugin does with answers --------------------------------------------------------------


def test_context_reaches_the_agent(client):
    client.answer("SessionStart", context="At the start.", message="1 learning")
    client.answer("UserPromptSubmit", context="For the prompt.")
    client.answer("PostToolUse", context="For the file.")
    after = {"tool": "read", "sessionID": "ses_1", "callID": "c", "args": {"filePath": "a"}}
    played = client.play(
        prompt(),
        ("experimental.chat.system.transform", {"sessionID": "ses_1"}, {"system": ["You are."]}),
        ("tool.execute.after", after, {"output": "text", "metadata": {}}),
        known=["ses_1"],
    )
    first, system, result = played["outputs"]
    assert first["parts"][1]["text"] == "For the prompt."
    assert first["parts"][1]["id"] > first["parts"][0]["id"]
    assert system["system"] == ["You are.", "At the start."]
    assert result["output"] == "text\n\nFor the file."
    assert [one["message"] for one in played["shown"]] == ["1 learning"]
    assert client.payloads[0]["source"] == "resume"


def test_a_call_is_denied(client):
    client.answer("PreToolUse", deny="Not now.")
    assert client.play(before_tool())["outputs"] == ["Not now."]


def test_a_stop_is_held_and_counted_once(client):
    client.answer("Stop", block="grove: one step left.")
    played = client.play(prompt(), text_ends(), text_ends(), request())
    (said,) = played["said"]
    assert said == {
        "how": "prompt", "agent": "build", "model": {"modelID": "m"}, "noReply": True,
        "parts": [{"type": "text", "text": "grove: one step left.", "synthetic": True, "metadata": {"grove": True}}],
    }  # fmt: skip
    assert len(played["outputs"][-1]["messages"]) == 3
    stops = [one["tentative"] for one in client.payloads if one["hook_event_name"] == "Stop"]
    assert stops == [True, False]


def test_a_reason_before_a_tool_call_is_hidden(client):
    client.answer("Stop", block="grove: one step left.")
    played = client.play(
        prompt(),
        text_ends(),
        before_tool("read"),
        request(tool=True),
        before_tool("read"),
        text_ends(),
    )
    assert [one["info"]["id"] for one in played["outputs"][3]["messages"]] == ["msg_1", "msg_2"]
    stops = [one["tentative"] for one in client.payloads if one["hook_event_name"] == "Stop"]
    assert stops == [True]


def test_blocks_end_with_the_plugin_if_not_before(client):
    client.answer("Stop", block="grove: one step left.")
    turns = [one for number in range(1, 30) for one in (text_ends(), request(own=f"own-{number}"))]
    assert len(client.play(prompt(), *turns)["said"]) == 12


def test_a_block_that_does_not_count_is_the_last(client):
    client.answer("Stop", block="grove: one step left.")
    turn = (text_ends(), request())
    source = client.plugin.read_text()
    client.plugin.write_text(source.replace("tentative: false", "hook_event_name: 'None'", 1))
    assert len(client.play(prompt(), *turn, *turn)["said"]) == 1


def test_a_turn_without_a_text_is_held_where_the_client_stays(client):
    client.answer("Stop", block="grove: one step left.")
    idle = {"event": {"type": "session.idle", "properties": {"sessionID": "ses_1"}}}
    failed = {"event": {"type": "session.error", "properties": {"sessionID": "ses_1"}}}
    played = client.play(prompt(), before_tool("read"), idle, idle, prompt(), failed, idle)
    assert [(one["how"], "noReply" in one) for one in played["said"]] == [("promptAsync", False)]


def test_a_summary_is_no_end(client):
    client.answer("Stop", block="grove: one step left.")
    compacting = ("experimental.session.compacting", {"sessionID": "ses_1"}, {"context": []})
    assert client.play(prompt(), compacting, request(), text_ends())["said"] == []


@pytest.mark.parametrize(
    "program",
    [
        "#!/bin/sh\nexit 1\n",
        "#!/bin/sh\necho no JSON\n",
        "#!/bin/sh\necho null\n",
        "no program",
        "#!/bin/sh\nexec sleep 30\n",
    ],
)
def test_a_broken_program_changes_nothing(context, tmp_path, program):
    client = Client(context(program=str(tmp_path / "grove")), tmp_path, program)
    source = client.plugin.read_text().replace("SECONDS = 25", "SECONDS = 0.2", 1)
    client.plugin.write_text(source)
    hooks = [
        prompt(),
        before_tool(command="true"),
        text_ends(),
        ("experimental.text.complete", None, {}),
    ]
    played = client.play(*hooks)
    assert (played["outputs"], played["said"]) == ([one[2] for one in hooks], [])


# --- payloads and answers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "response", "succeeded"),
    [
        ("Bash", {"exit": 0}, True),
        ("Bash", {"exit": 3}, False),
        ("Bash", {"exit": None}, None),
        ("Bash", {}, None),
        ("tick_close_ticket", {}, True),
        ("tick_close_ticket", {"isError": True}, False),
    ],
)
def test_results(tool, response, succeeded):
    call = HOST.parse("", {**SHELL, "tool_name": tool, "tool_response": response}, {})
    assert call.result.succeeded is succeeded
    assert call.tool.name in ("Bash", "mcp__tick__close_ticket")
    assert (call.tool.cwd, call.tool.use_id) == ("/p/sub", "call_1")


def test_an_agent_that_plans_must_not_act():
    stop = {"hook_event_name": "Stop", "session_id": "ses_1", "agent": "plan", "process_id": 7}
    call = HOST.parse("", stop, {})
    assert (call.event, call.plan_mode, call.process_id) == (HookEvent.STOP, True, 7)
    assert HOST.parse("", {**stop, "hook_event_name": "Other"}, {}) is None


# --- the plugin's file ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "path"),
    [
        ({"HOME": "/h"}, "/h/.config/opencode/plugins/grove.js"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/opencode/plugins/grove.js"),
    ],
)
def test_the_plugin_is_the_users(context, variables, path):
    (file,) = HOST.setup(context(environment=variables)).files
    assert str(file.path) == path


def test_another_plugin_of_that_name_stays(context):
    (file,) = HOST.setup(context()).files
    with pytest.raises(CodecError, match="another plugin"):
        file.put("export const Grove = 1")
    assert file.take("export const Grove = 1", "") == "export const Grove = 1"


def test_the_plugin_is_not_shared(context):
    declined = HOST.setup(context(shared=True))
    assert declined.files == ()
    assert "63 MB" in declined.notes[0]
    assert HOST.setup(context(hooks=False)).files == ()

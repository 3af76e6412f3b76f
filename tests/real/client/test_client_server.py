"""The session's server in the real client: who answers, what the agent reads, and who dies when."""

import shlex
import sys
import threading
from pathlib import Path

import pytest
from core_worlds import write_program
from hosts import Call
from scenario import (
    CANDIDATE,
    CLOSE,
    FINISHED,
    OTHER_CANDIDATE,
    STATUS,
    assert_ended_well,
    bash,
    held,
    statuses,
    stops,
)

TOOL = "mcp__plugin_grove_grove__{}"
ALLOWED = ["--allowedTools", "Bash Edit Write Read Agent Skill mcp__plugin_grove_grove"]
EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
# Kills the server once, before a hook is answered, or after its answer has been worked out.
DEADLY = """
import json, os, signal, sys
from pathlib import Path

event, when, mark = os.environ["KILL_AT"], os.environ["KILL_WHEN"], Path(os.environ["KILL_MARK"])
from grove_core.serve import hooks, server

def dies(arguments):
    if arguments.get("event") != event or mark.exists():
        return False
    mark.touch()
    return True

handle = hooks.Hooks.handle

def deadly(self, arguments, limit, send):
    doomed = dies(arguments)
    if doomed and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    def give(text, is_error):
        if doomed:
            os.kill(os.getpid(), signal.SIGKILL)
        send(text, is_error)
    handle(self, arguments, limit, give)

hooks.Hooks.handle = deadly
server.run()
"""


def tool(name, **fields):
    return Call(TOOL.format(name), fields)


REFLECT = tool("reflect", candidates=[CANDIDATE])


@pytest.fixture(params=["server"])
def transport(request):
    return request.param


def with_server(shop, text, tmp_path):
    """The project whose program serves by a script of the test's, and is grove otherwise."""
    script = tmp_path / "serve.py"
    script.write_text(text)
    python, real = map(shlex.quote, (sys.executable, str(Path(sys.executable).parent / "grove")))
    own = f'if [ "$1" = serve ]; then exec {python} {shlex.quote(str(script))}; fi'
    program = write_program(tmp_path / "own/grove", f'# grove_core\n{own}\nexec {real} "$@"')
    return {"GROVE_PROGRAM": str(program)}


def test_the_agent_reflects_with_the_tool_that_the_block_names(shop):
    transcript = shop.play([CLOSE, FINISHED, REFLECT, FINISHED], args=ALLOWED)
    assert_ended_well(transcript)
    assert stops(transcript) == [2, 0]
    (reason,) = held(transcript)
    assert f"Call {TOOL.format('reflect')} with" in reason
    assert shop.outcomes() == [("reflected", 1)]
    answers = [hook for hook in transcript["hooks"] if hook["hook_event"] == "Stop"]
    assert [hook["stdout"][:20] for hook in answers if hook["stdout"] not in ("", "{}")] == [
        '{"decision": "block"'
    ]
    # The client names the tools of servers, which the model may look for.
    offered = str(transcript["requests"][0]["new"])
    assert TOOL.format("reflect") in offered
    assert TOOL.format("hook") not in offered


def test_a_cleared_session_keeps_the_server_and_gets_its_own_reflection(shop):
    turns = [CLOSE, FINISHED, REFLECT, STATUS, FINISHED]
    prompts = ["Look around.", "/clear", "Close it."]
    transcript = shop.play([FINISHED, *turns], prompt=prompts, args=ALLOWED)
    assert_ended_well(transcript)
    new = transcript["session_ids"][-1]
    assert stops(transcript) == [0, 2, 0]
    (status,) = statuses(transcript)
    assert status["id"] == new
    answered = shop.home / ".grove" / "cache" / "fast" / f"{new}.stop"
    # One has answered, and the other has taken its answer.
    assert answered.read_bytes() == b""
    text = "".join(path.read_text() for path in (shop.root / ".grove").rglob("*.md"))
    assert f"session {new}" in text


@pytest.mark.parametrize("when", ["before", "inside"])
@pytest.mark.parametrize("event", EVENTS)
def test_a_server_that_is_killed_loses_no_block_and_gives_none_twice(shop, tmp_path, event, when):
    mark = tmp_path / "killed"
    environment = {
        **with_server(shop, DEADLY, tmp_path),
        "KILL_AT": event,
        "KILL_WHEN": when,
        "KILL_MARK": str(mark),
    }
    turns = [CLOSE, FINISHED, STATUS, REFLECT, FINISHED]
    transcript = shop.play(turns, args=ALLOWED, environment=environment)
    assert mark.exists()
    assert transcript["exit_code"] == 0, transcript["stderr"]
    assert transcript["final_text"] == "Finished."
    assert len(held(transcript)) == 1
    (status,) = statuses(transcript)
    assert status["gate"] == "blocked"
    assert shop.outcomes()[0][0] == "reflected"


def test_a_server_that_cannot_start_leaves_the_gate_to_the_command(shop, tmp_path):
    """What is owed from before is asked for; closes of this session no hook is told of."""
    first = shop.play([CLOSE, FINISHED], args=["--max-turns", "1", *ALLOWED])
    environment = with_server(shop, "raise SystemExit(1)", tmp_path)
    words = ["--resume", first["session_id"], *ALLOWED]
    transcript = shop.play([FINISHED, bash("true"), FINISHED], args=words, environment=environment)
    assert transcript["exit_code"] == 0
    assert len(held(transcript)) >= 1
    assert "grove reflect --session-id" in held(transcript)[0]


def test_two_sessions_side_by_side_have_a_server_each(shop):
    found = {}

    def run(name, ticket, candidate):
        reflect = tool("reflect", candidates=[candidate])
        close = bash(f"bd close {ticket} --reason done")
        found[name] = shop.play(
            [close, FINISHED, reflect, FINISHED], args=ALLOWED, out=shop.out / name
        )

    threads = [
        threading.Thread(target=run, args=words)
        for words in (("one", "bd-1", CANDIDATE), ("two", "bd-2", OTHER_CANDIDATE))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for transcript, ticket in ((found["one"], "bd-1"), (found["two"], "bd-2")):
        assert_ended_well(transcript)
        assert stops(transcript) == [2, 0]
        assert f"ticket {ticket} is closed" in held(transcript)[0]
    assert shop.outcomes() == [("reflected", 1)] * 2

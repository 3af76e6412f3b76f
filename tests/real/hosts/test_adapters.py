"""The real clients call hooks as adapters have written them, and take their answers.

What grove would reply stands in the test, so that it shows the adapter and the client alone.
"""

import pytest
from hosts import Shell

from grove_core import Status

WANTED = "one more thing to do"
REPLIES = {
    "SESSION_START": [{"context": "told at the start"}],
    "USER_PROMPT_SUBMIT": [{"context": "told with the prompt"}],
    "PRE_TOOL_USE": [{}, {}, {"deny": "not this one"}],
    "POST_TOOL_USE": [{"context": "told after a call"}],
    "STOP": [{"block": WANTED}],
}


def checks(stage):
    check = stage.spec.check
    return {each.status for each in check(stage.context)} if check else set()


def test_hooks_are_called_and_answered(stage):
    if stage.spec is None:
        pytest.skip(f"grove has no adapter for {stage.client.name}")
    stage.install_hooks(**REPLIES)
    stage.client.trust_hooks(stage.home, stage.project)
    assert checks(stage) <= {Status.OK}
    assert {each.event for each in stage.spec.registered(stage.context)} >= {*stage.spec.events}
    commands = ("echo done > ran.txt", "exit 3", "touch denied.txt")
    run = stage.play(*map(Shell, commands), "Done.", "Now done.")
    assert (run.exit_code, run.ended_by, run.left) == (0, "", ()), run.stderr
    assert [path.name for path in stage.project.glob("*.txt")] == ["ran.txt"]
    told = (
        "told at the start",
        "told with the prompt",
        "told after a call",
        "not this one",
        WANTED,
    )
    assert [run.first(text) for text in told] == [0, 0, 1, 3, 4]

    before = stage.called("PRE_TOOL_USE")
    after = [*stage.called("POST_TOOL_USE"), *stage.called("POST_TOOL_USE_FAILURE")]
    assert [call.tool.input["command"] for call in before] == [*commands]
    assert [call.tool.input["command"] for call in after] == [*commands[:2]]
    assert [call.result.succeeded for call in after] == [True, False]
    assert {call.tool.name for call in before} == {"Bash"}
    assert "Do the task." in stage.called("USER_PROMPT_SUBMIT")[0].prompt
    calls = [*before, *stage.called("SESSION_START"), *stage.called("STOP")]
    assert {(call.session_id, call.cwd) for call in calls} == {(run.session, str(stage.project))}
    assert len(stage.called("STOP")) == 2

    again = stage.play("Hello again.", resume=run.session)
    assert (again.exit_code, again.session) == (0, run.session), again.stderr
    assert "Now done." in again.requests[0].read
    starts = [(call.source.continues, call.session_id) for call in stage.called("SESSION_START")]
    assert starts == [(False, run.session), (True, run.session)]


def test_codex_runs_no_hook_before_it_is_trusted(codex):
    codex.install_hooks()
    codex.play("Done.")
    assert not codex.called("STOP")
    assert checks(codex) == {Status.BROKEN}

"""Gates of plugins: asked in order before grove's own, and no fault of one holds or frees an agent."""

import json

import pytest

HEAD = """
from grove_core import GateAnswer, GateSpec, PluginGate, hookimpl

grove_api = 2


class Own(PluginGate):
    most_blocks = {most}

    def on_prompt(self, call, state, now):
        return GateAnswer(state={{"asked": call.prompt}})

    def on_stop(self, call, state, now):
        {on_stop}

    def before_tool(self, call, state, now):
        {before_tool}


@hookimpl
def grove_gates():
    return [GateSpec(name="{name}", open=lambda context: Own())]
"""
LETS_GO = "return GateAnswer(state=state)"


def install(world, name, *, on_stop=LETS_GO, before_tool=LETS_GO, most=1):
    source = HEAD.format(name=name, on_stop=on_stop, before_tool=before_tool, most=most)
    world.install_plugin(name, source)


def holds(reason):
    return f'return GateAnswer(state={{}}, block="{reason}")'


@pytest.fixture
def agent(agent):
    agent.starts()
    return agent


@pytest.mark.parametrize(
    "on_stop",
    [
        "raise RuntimeError('broken')",
        "return None",
        "return 'no answer'",
        "return GateAnswer(state={'big': 'x' * 300_000})",
        "return GateAnswer(state={'set': {1}})",
        "return GateAnswer(state=state, block=7)",
        "raise SystemExit(2)",
    ],
)
def test_a_fault_lets_the_agent_go_and_the_next_gate_is_asked(agent, on_stop):
    install(agent.world, "broken", on_stop=on_stop)
    install(agent.world, "later", on_stop=holds("hold on"))
    agent.asks("do it")
    assert agent.is_blocked() == "grove: hold on"
    agent.is_let_go()
    assert "broken" in agent.world.log()


def test_gates_are_asked_in_their_order_and_grove_asks_last(agent):
    install(agent.world, "first", on_stop=holds("first"))
    install(agent.world, "second", on_stop=holds("second"))
    agent.asks("do it")
    agent.closes("bd-1")
    assert agent.is_blocked().startswith(
        "grove: first\nAfter that grove asks what there is to learn"
    )
    assert agent.is_blocked().startswith("grove: second\n")
    assert "ticket bd-1 is closed – one step left" in agent.is_blocked()
    agent.world.grove("config", "set", "gates.order", '["second"]')
    agent.asks("do more")
    assert agent.is_blocked().startswith("grove: second")


def test_one_that_keeps_nothing_is_not_asked_at_a_stop(agent):
    install(agent.world, "idle", on_stop=holds("never"))
    agent.is_let_go()


def test_a_denied_close_is_none(agent):
    install(agent.world, "strict", before_tool='return GateAnswer(state=state, deny="not yet")')
    call = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-1"}, "tool_use_id": "t1"}
    payload = {"session_id": "session-1", "cwd": str(agent.world.project), **call}
    done = agent.world.grove("hook", "pre-tool-use", stdin=json.dumps(payload))
    assert done.json["hookSpecificOutput"]["permissionDecisionReason"] == "not yet"
    assert agent.world.session()["intents"] == []


def test_together_they_hold_no_more_often_than_the_client_takes(agent):
    install(agent.world, "greedy", on_stop="return GateAnswer(state=state, block='no')", most=5)
    install(agent.world, "modest", on_stop="return GateAnswer(state=state, block='no')", most=1)
    agent.asks("do it")
    agent.is_blocked()
    assert "greedy" not in agent.world.log()
    agent.world.grove("config", "set", "circuit_breaker.max_blocks", "4")
    agent.asks("do it")
    agent.is_blocked()
    assert "it blocks 5 times, and the client takes 4 more in a row" in agent.world.log()


def test_one_that_holds_for_ever_is_let_go_where_the_client_has_no_cap(beads):
    install(beads, "stuck", on_stop="return GateAnswer(state=state, block='no')", most=2)

    def call(event, prompt=""):
        payload = {"session_id": "s-1", "hook_event_name": event, "prompt": prompt}
        return beads.grove("hook", "qwen", stdin=json.dumps(payload)).stdout

    for _ in range(2):
        said = [call("UserPromptSubmit", prompt="do it")]
        while (held := call("Stop")) and len(said) < 20:
            said.append(call("UserPromptSubmit", json.loads(held)["reason"]))
        assert said == [""] * 5
    assert "gate stuck held the agent again and again" in beads.log()


def test_a_block_where_none_may_be_is_ignored(agent):
    block = "return GateAnswer(state=state, block='no', deny='no')"
    install(agent.world, "odd", before_tool=block)
    agent.asks("do it")
    agent.is_let_go()

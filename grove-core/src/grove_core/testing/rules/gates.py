"""Rules of gates: pure, bounded, in any order of events."""

import json
from collections.abc import Mapping
from copy import deepcopy
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.config.plugin_section import default_settings
from grove_core.model.ticket import BackgroundTask, TicketClose
from grove_core.plugins.descriptors import ProjectContext
from grove_core.plugins.gates import LARGEST_STATE, GateAnswer, GateCall, GateSpec, PluginGate
from grove_core.plugins.manager import import_target
from grove_core.testing.rules.tickets import HOSTILE_TEXTS, shell_call
from grove_core.testing.samples import FIRST_INSTANT
from grove_core.testing.watching import ASKING, CHANGING, watching

_IN_A_ROW: Final = 12


Event = tuple[str, GateCall]


def _events() -> st.SearchStrategy[list[Event]]:
    lines = st.sampled_from(["tracker close T-1", "ls", "rm -r build", *HOSTILE_TEXTS.values()])
    base = st.builds(
        GateCall,
        session_id=st.just("session-1"),
        prompt_id=st.sampled_from([None, "p1", "p2"]),
        agent_id=st.sampled_from([None, "a1"]),
        agent_type=st.sampled_from(["", "general-purpose"]),
        plan_mode=st.booleans(),
        background=st.sampled_from([(), (BackgroundTask(id="b1", kind="subagent"),)]),
        work=st.sampled_from(["", "one", "two"]),
    )
    prompts = st.sampled_from(["do it", "", *HOSTILE_TEXTS.values()])
    closes = st.sampled_from([(), (TicketClose(system="tracker", ticket_id="T-1"),)])

    def tool(call: GateCall, line: str, closes: tuple[TicketClose, ...]) -> GateCall:
        made = evolve(shell_call(line), use_id=f"use-{len(line) % 7}")
        return evolve(call, tool=made, commands=(tuple(line.split()[:9]),), closes=closes)

    def prompt(call: GateCall, text: str) -> GateCall:
        return evolve(call, prompt=text)

    one = st.one_of(
        st.tuples(st.just("on_prompt"), st.builds(prompt, base, prompts)),
        st.tuples(st.just("before_tool"), st.builds(tool, base, lines, closes)),
        st.tuples(st.sampled_from(["on_stop", "on_subagent_stop"]), base),
    )
    return st.lists(one, max_size=20)


class GateRules:
    """What a gate answers to whatever comes."""

    plugin: ClassVar[str] = ""
    gate_settings: ClassVar[Any] = None

    @pytest.fixture
    def gate(self, tmp_path: Path) -> PluginGate:
        """Open the plugin's gate in an empty project."""
        offered, _ = import_target(self.plugin)
        (spec,) = offered.grove_gates()  # type: ignore[attr-defined]  # a plugin's module
        assert isinstance(spec, GateSpec)
        own = self.gate_settings
        if own is None and spec.settings is not None:
            own = default_settings(spec.settings)[0]
        context = ProjectContext(root=tmp_path, cwd=tmp_path, settings=own)
        opened = spec.open(context)
        assert isinstance(opened, PluginGate), "gate_settings = ..., which switch the gate on"
        return opened

    def test_it_is_pure_and_bounded_in_any_order(self, gate: PluginGate) -> None:
        """Each answer follows from what is given alone; no I/O; its state is a small document."""

        @settings(max_examples=100, deadline=None)
        @given(events=_events())
        def holds(events: list[Event]) -> None:
            state: Mapping[str, Any] = {}
            for number, (method, call) in enumerate(events):
                now = FIRST_INSTANT + timedelta(seconds=20 * number)
                before = deepcopy(state)
                with watching(ASKING | CHANGING) as heard:
                    answer = _ask(gate, method, call, state, now)
                    again = _ask(gate, method, call, state, now)
                assert heard == [], "what it changes, starts or connects to"
                assert answer == again
                assert state == before, "what it was given was changed"
                assert not answer.deny or method == "before_tool"
                assert not answer.block or method in ("on_stop", "on_subagent_stop")
                assert isinstance(gate.pending(answer.state), str)
                text = json.dumps(dict(answer.state))
                assert len(text) <= LARGEST_STATE
                state = json.loads(text)

        holds()

    def test_it_blocks_no_more_often_than_it_says(self, gate: PluginGate) -> None:
        """Whatever has come before, an agent that only tries to stop is let go."""

        @settings(max_examples=50, deadline=None)
        @given(events=_events())
        def holds(events: list[Event]) -> None:
            state: Mapping[str, Any] = {}
            stops = [("on_stop", GateCall(session_id="session-1"))] * _IN_A_ROW
            blocks = 0
            for number, (method, call) in enumerate([*events, *stops]):
                now = FIRST_INSTANT + timedelta(seconds=number)
                answer = _ask(gate, method, call, state, now)
                blocks += bool(answer.block) and number >= len(events)
                state = answer.state
            assert blocks <= gate.most_blocks

        holds()

    def test_its_literals_are_words(self, gate: PluginGate) -> None:
        """A literal is words of ASCII letters, digits, - and _; or empty, for every call."""
        for literal in gate.literals:
            assert all(
                word.replace("-", "").replace("_", "").isalnum() and word.isascii()
                for word in literal.split(" ")
                if literal
            )


def _ask(
    gate: PluginGate, method: str, call: GateCall, state: Mapping[str, Any], now: datetime
) -> GateAnswer:
    answer: object = getattr(gate, method)(call, state, now)
    assert isinstance(answer, GateAnswer)
    return answer

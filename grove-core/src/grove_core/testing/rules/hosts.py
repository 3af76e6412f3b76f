"""Rules of hosts: what a client says is understood, what grove answers is what the client takes."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.errors import GroveError
from grove_core.model.hook import CONTEXT_LIMIT, HookAnswer, HookEvent, HookInput, HookReply
from grove_core.plugins.hosts import DEFAULT_HOST, Hold, HostContext, HostSpec
from grove_core.plugins.manager import import_target
from grove_core.testing.watching import CHANGING, watching

_REASON: Final = "grove: ticket T-1 is closed – one step left before you finish."
_PROGRAM: Final = "/opt/a place/bin/grove"
_BLOCKING: Final = 2
_STOPS: Final = (HookEvent.STOP, HookEvent.SUBAGENT_STOP)
_RESULTS: Final = (HookEvent.POST_TOOL_USE, HookEvent.POST_TOOL_USE_FAILURE)
_OTHERS: Final = """{
    "model": "größe",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "grove hook another-client"}]}]
    }
}
"""

_ODD_VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
)

Payload = Mapping[str, Any]


class HostRules:
    """What an adapter makes of payloads and replies, and of the client's files."""

    plugin: ClassVar[str] = ""
    payloads: ClassVar[Mapping[HookEvent, Payload]] = {}
    succeeded: ClassVar[Payload | None] = None
    failed: ClassVar[Payload | None] = None

    @pytest.fixture
    def host(self) -> HostSpec:
        """The adapter of the plugin."""
        offered, _ = import_target(self.plugin)
        (spec,) = offered.grove_hosts()  # type: ignore[attr-defined]  # a plugin's module
        assert isinstance(spec, HostSpec)
        return spec

    def test_each_payload_is_its_event(self, host: HostSpec) -> None:
        """A recorded payload is read as the event that it is of, with nothing changed for it."""
        assert HookEvent.STOP in self.payloads, "payloads = {HookEvent.STOP: ..., ...}"
        for event, payload in self.payloads.items():
            with watching(CHANGING) as heard:
                call = _parse(host, event, payload)
            assert heard == []
            assert call is not None, event
            assert call.event is event
            assert call.session_id
            assert call.cwd.startswith("/") or not call.cwd
            assert (call.result is not None) is (event in _RESULTS)

    def test_shells_have_groves_name(self, host: HostSpec) -> None:
        """A call of a shell is ``Bash`` with its command, before and after."""
        for event, payload in (
            (HookEvent.PRE_TOOL_USE, self.payloads.get(HookEvent.PRE_TOOL_USE)),
            (HookEvent.POST_TOOL_USE, self.succeeded),
        ):
            if payload is None:
                continue
            call = _parse(host, event, payload)
            assert call is not None
            assert call.tool is not None
            assert call.tool.name == "Bash"
            assert isinstance(call.tool.input["command"], str)

    def test_what_became_of_a_command(self, host: HostSpec) -> None:
        """Success is told from failure; where the client cannot say, neither is claimed."""
        if self.succeeded is None or self.failed is None:
            pytest.skip(f"{host.name} is not given a command that succeeded and one that failed")
        found = []
        for payload in (self.succeeded, self.failed):
            event = HookEvent.POST_TOOL_USE
            if payload is self.payloads.get(HookEvent.POST_TOOL_USE_FAILURE):
                event = HookEvent.POST_TOOL_USE_FAILURE
            call = _parse(host, event, payload)
            assert call is not None
            assert call.result is not None
            found.append(call.result.succeeded)
        assert found == ([True, False] if host.abilities.results else [None, None])

    def test_nothing_to_say_is_said_in_silence(self, host: HostSpec) -> None:
        """An empty reply prints nothing that means something, and nothing to standard error."""
        for call in self._calls(host):
            given = host.answer(call, HookReply())
            assert (given.exit_code, given.stderr) == (0, ""), call.event
            assert json.loads(given.stdout or "{}") == {}, call.event

    def test_a_block_reaches_the_agent(self, host: HostSpec) -> None:
        """The reason is in the answer; as JSON where it is not the exit code that blocks."""
        for call in self._calls(host, *_STOPS):
            given = host.answer(call, HookReply(block=_REASON))
            if host.abilities.hold is Hold.NONE:
                assert given.exit_code == 0
            elif given.exit_code == _BLOCKING:
                assert given.stderr.strip() == _REASON
            else:
                _assert_said(given, _REASON)

    def test_context_reaches_the_agent(self, host: HostSpec) -> None:
        """Text that answers a start or a prompt is in the answer, whole and within its bounds."""
        events = [HookEvent.USER_PROMPT_SUBMIT]
        events += [HookEvent.SESSION_START] if host.abilities.context_with_start else []
        for call in self._calls(host, *events):
            text = "x" * CONTEXT_LIMIT
            _assert_said(host.answer(call, HookReply(context=text)), text)

    def test_a_denial_reaches_the_agent(self, host: HostSpec) -> None:
        """The reason why a call must not run is in the answer, and a permission in none."""
        for call in self._calls(host, HookEvent.PRE_TOOL_USE):
            given = host.answer(call, HookReply(deny="Not yet."))
            assert "Not yet." in given.stdout + given.stderr
            assert '"allow"' not in given.stdout

    def test_odd_payloads_hold_nobody_up(self, host: HostSpec) -> None:
        """Whatever a field holds, the call is read, ignored, or refused with ``CodecError``."""
        names = sorted({name for payload in self.payloads.values() for name in payload})
        changes = st.dictionaries(st.sampled_from(names), _ODD_VALUES, min_size=1, max_size=4)

        @settings(max_examples=100, deadline=None)
        @given(st.sampled_from(list(self.payloads.items())), changes)
        def holds(recorded: tuple[HookEvent, Payload], changed: Payload) -> None:
            event, payload = recorded
            try:
                call = _parse(host, event, {**payload, **changed})
            except GroveError:
                return
            assert call is None or isinstance(host.answer(call, HookReply()), HookAnswer)

        holds()

    def test_its_files_come_back(self, host: HostSpec, tmp_path: Path) -> None:
        """What installing writes is found, written once, and taken out again byte by byte."""
        for shared in (True, False):
            context = _context(tmp_path, shared=shared)
            try:
                files = host.setup(context).files
            except GroveError:
                continue  # it says in words why not
            for file in files:
                for before in ("",) if file.is_whole else ("", _OTHERS):
                    after = file.put(before)
                    assert after not in ("", before)
                    assert file.put(after) == after, "grove's entries are there twice"
                    left = file.take(after, before)
                    assert file.said(left) == file.said(before)
                if not shared:
                    file.path.parent.mkdir(parents=True, exist_ok=True)
                    file.path.write_text(file.put(""), encoding="utf-8")
        found = host.registered(_context(tmp_path, shared=False))
        assert {one.event for one in found} >= {*host.events}
        assert {one.program for one in found} <= {_PROGRAM, "grove"}

    def _calls(self, host: HostSpec, *events: HookEvent) -> Iterator[HookInput]:
        for event, payload in self.payloads.items():
            if not events or event in events:
                call = _parse(host, event, payload)
                assert call is not None
                yield call


def _parse(host: HostSpec, event: HookEvent, payload: Payload) -> HookInput | None:
    return host.parse(event.value if host.name == DEFAULT_HOST else "", payload, {})


def _assert_said(given: HookAnswer, text: str) -> None:
    assert (given.exit_code, given.stderr) == (0, "")
    said = json.dumps(json.loads(given.stdout), ensure_ascii=False)
    assert text in said


def _context(folder: Path, *, shared: bool) -> HostContext:
    root, home = folder / "project", folder / "home"
    root.mkdir(exist_ok=True)
    environment = {"HOME": str(home), "PATH": "/bin"}
    return HostContext(root=root, environment=environment, program=_PROGRAM, shared=shared)

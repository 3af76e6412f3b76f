"""Rules of ticket systems: whether one is used, what closes a ticket, whether it really closed."""

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from attrs import evolve

from grove_core.config.plugin_section import default_settings
from grove_core.hooks.fast import contains_word
from grove_core.model.memory import Detection
from grove_core.model.ticket import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_core.plugins.descriptors import (
    CloseMatcher,
    EnabledWhen,
    ProjectContext,
    TicketProbe,
)
from grove_core.plugins.limits import call_limited
from grove_core.testing.watching import untouched

SHELL: Final = "Bash"
_PLAIN: Final = re.compile(r"(?!(?:if|for|while|until|case|function|select|time)\b)[\w./-]+(?: |$)")
_SECONDS: Final = 4.0
"""Longer than grove ever waits: what takes more hangs."""
_OTHER_CALLS: Final = ("", "true", "ls -la", "git status && make test", "cat README.md | head -3")


def _put_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


_DAMAGES: Final[Mapping[str, Callable[[Path], object]]] = {
    "no UTF-8": lambda path: path.write_bytes(b"\xff\xfe\x00{[\r\n" * 20),
    "another shape": lambda path: path.write_text('[[null, 1, {"id": {"id": []}}], "text", 1e400]'),
    "lists in lists": lambda path: path.write_text("[" * 20_000),
    "unreadable": lambda path: path.chmod(0),
    "a pipe": _put_a_pipe,
    "gone": Path.unlink,
}


def shell_call(line: str, cwd: str = "") -> ToolCall:
    """Make a call of the client's shell."""
    return ToolCall(name=SHELL, input={"command": line}, use_id="toolu_01", cwd=cwd)


def mentions(line: str) -> Iterator[str]:
    """Make shell text that names a command and does not run it."""
    quoted = shlex.quote(line)
    yield f"echo {quoted}"
    yield f"printf '%s\\n' {quoted} > notes.txt"
    yield f"cat <<'END_OF_TEXT'\n{line}\nEND_OF_TEXT"
    yield "\n".join(f"# {each}" for each in line.splitlines())
    yield f"true # {line.splitlines()[0]}"


def dressings(line: str) -> Iterator[str]:
    """Make shell text that runs a command among other things."""
    yield f"true && {line}"
    yield f"  {line}  "
    yield f"echo before\n{line}\necho after"
    yield f"( {line}\n)"
    if _PLAIN.match(line):
        yield f"KIT=1 {line}"


HOSTILE_TEXTS: Final = {
    "nothing": "",
    "a lone quote": "'",
    "quotes that never close": "echo \"one 'two `three $(four ${five",
    "brackets that never close": "((((((" * 50 + "{{{{",
    "deep nesting": "$(" * 500 + "true" + ")" * 500,
    "half a character": "one \ud800 two",
    "a megabyte": "x " * 500_000,
    "a here-document without an end": "cat <<END\none\ntwo",
    "operators alone": "&& || ; | & > < >> << <<< 2>&1",
    "substitutions": "$IFS ${1:-x} $((1+1)) <(true) >(true) $'\\x00' `id`",
}
"""Texts that no matcher may fail at, by what is odd about them."""

HOSTILE_INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "no field": {},
    "a number": {"command": 7},
    "an object": {"command": {"close": "1"}},
    "other fields": {"cmd": "close", "args": [None, 1.5, {"a": [{}]}], "": "", "\0": "\0"},
    "numbers as ids": {"id": 10**40, "issue": -1, "status": float("inf")},
}
"""Inputs of tools that are not what their schema says."""

RESULTS: Final[Mapping[str, ToolResult | None]] = {
    "nothing known yet": None,
    "a success that prints nothing": ToolResult(succeeded=True, response={"stdout": ""}),
    "a failure": ToolResult(succeeded=False, error="Exit code 1"),
    "in the background": ToolResult(succeeded=True, background_task_id="b1"),
    "a list of content": ToolResult(
        succeeded=True, response=[{"type": "text", "text": "{}"}, None, {"type": "image"}]
    ),
    "deep JSON": ToolResult(succeeded=True, response={"stdout": "[" * 5_000}),
    "odd fields": ToolResult(succeeded=True, response={"stdout": "\ud800", "stderr": 3, "x": {}}),
}
"""What may become of a call, by what it is like."""


class TicketOffers:
    """The plugin under test, and what it offers."""

    plugin: ClassVar[Any] = None
    system: ClassVar[str] = ""
    closes: ClassVar[Sequence[tuple[str | ToolCall, Sequence[str | None]]]] = ()
    leaves: ClassVar[Sequence[str | ToolCall]] = ()
    files: ClassVar[Mapping[str, str]] = {}

    @pytest.fixture
    def empty_project(self, tmp_path: Path) -> Path:
        """Make a folder in which no ticket system is used."""
        folder = tmp_path / "empty project"
        folder.mkdir()
        return folder

    @pytest.fixture
    def used_project(self, tmp_path: Path) -> Path:
        """Make a project of `files`; without any, leave out by name what needs it."""
        if not self.files:
            pytest.skip(f"{type(self).__name__} has no fixture used_project and no files")
        project = tmp_path / "used project"
        for name, text in self.files.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text, encoding="utf-8")
        return project

    def test_system_is_offered(self) -> None:
        """A plugin offers a probe of the system, and none of its matchers is without a probe."""
        assert self.probe()
        # A matcher without a probe would never count.
        names = {one.name for one in self._offered("grove_ticket_probes")}
        assert {one.system for one in self._offered("grove_close_matchers")} <= names

    def probe(self) -> TicketProbe:
        """Return the system's probe."""
        probes: Sequence[TicketProbe] = self._offered("grove_ticket_probes")
        fitting = [one for one in probes if not self.system or one.name == self.system]
        assert len(fitting) == 1, "`system` says which probe it is, where there are several"
        return fitting[0]

    def matchers(self) -> Sequence[CloseMatcher]:
        """Return the system's matchers."""
        name = self.probe().name
        return [one for one in self._offered("grove_close_matchers") if one.system == name]

    def context(self, project: Path) -> ProjectContext:
        """Say where the system is to look."""
        kind = self.probe().settings
        return ProjectContext(
            root=project,
            cwd=project,
            environment={"HOME": os.fspath(project.parent), "PATH": os.defpath},
            session_id="session-1",
            settings=None if kind is None else default_settings(kind)[0],
        )

    def calls(self, project: Path) -> Sequence[tuple[ToolCall, Sequence[str | None]]]:
        """Return the calls that close something; leave the test out by name where none is given."""
        if not self.closes:
            pytest.skip(f"{type(self).__name__} has no closes")
        return [(_as_call(each, project), [*ids]) for each, ids in self.closes]

    def shell_lines(self) -> Sequence[tuple[str, Sequence[str | None]]]:
        """Return those of them that are shell text; without any, leave the test out by name."""
        lines = [(each, [*ids]) for each, ids in self.closes if isinstance(each, str)]
        if not lines:
            pytest.skip(f"{type(self).__name__} has no shell text among its closes")
        return lines

    def closes_of(self, call: ToolCall, project: Path) -> list[TicketClose]:
        """Return what a call closes; matchers answer soundly."""
        found: list[TicketClose] = []
        for matcher in self.matchers():
            if any(fnmatchcase(call.name, tool) for tool in matcher.tools):
                answer: Any = matcher.match(call, self.context(project))
                assert isinstance(answer, list | tuple), call
                for one in answer:
                    assert isinstance(one, TicketClose), answer
                    assert one.system == matcher.system, answer
                found += answer
        return found

    def ids_of(self, call: str | ToolCall, project: Path) -> list[str | None]:
        """Return which tickets a call, or shell text, would close, and a hook would look at."""
        call = _as_call(call, project)
        closes = self.closes_of(call, project)
        literals = [literal for one in self.matchers() for literal in one.literals]
        # In the way of the hooks, which look at no other call.
        data = json.dumps(call.input).encode()
        named = [
            one for one in literals if all(contains_word(data, w.encode(), 0) for w in one.split())
        ]
        assert not closes or named, literals
        return [one.ticket_id for one in closes if not one.reopens]

    def _offered(self, hook: str) -> Sequence[Any]:
        implementation = getattr(self.plugin, hook, None)
        return [] if implementation is None else [*implementation()]


class DetectingRules(TicketOffers):
    """Looking at a project."""

    def test_empty_project_is_not_detected(self, empty_project: Path) -> None:
        """A system is not used in an empty folder."""
        probe = self.probe()
        if probe.per_session or probe.enabled_when is EnabledWhen.OVERRIDDEN:
            pytest.skip(f"{probe.name} counts wherever it is told to")
        assert probe.detect(self.context(empty_project)) is None

    def test_used_project_is_detected(self, used_project: Path) -> None:
        """Where a system is used it says what gives it away; it starts, asks, changes nothing."""
        probe, context = self.probe(), self.context(used_project)
        with untouched(used_project):
            found: object = probe.detect(context)
        assert isinstance(found, Detection)
        assert found.marker
        assert probe.detect(context) == found

    def test_current_ticket_is_a_ticket(self, used_project: Path) -> None:
        """The ticket in progress is a Ticket of this system, or None; asking changes no file."""
        probe = self.probe()
        if probe.current_ticket is None:
            pytest.skip(f"{probe.name} does not tell the ticket in progress")
        with untouched(used_project, may_ask=True):
            ticket: Any = probe.current_ticket(self.context(used_project))
        if ticket is not None:
            assert isinstance(ticket, Ticket), ticket
            assert ticket.source == probe.name

    @pytest.mark.parametrize("damage", [*_DAMAGES])
    def test_damaged_project_is_no_error(self, used_project: Path, damage: str) -> None:
        """Whatever has become of the system's files, looking gives an answer and raises nothing."""
        probe, context = self.probe(), self.context(used_project)
        files = [one for one in sorted(used_project.rglob("*")) if one.is_file()]
        for path in files:
            # Git's own files are another program's business.
            if ".git" not in path.relative_to(used_project).parts and not path.is_symlink():
                _DAMAGES[damage](path)
        found: object = call_limited(partial(probe.detect, context), _SECONDS)
        assert found is None or isinstance(found, Detection)
        if probe.current_ticket is not None:
            ticket: object = call_limited(partial(probe.current_ticket, context), _SECONDS)
            assert ticket is None or isinstance(ticket, Ticket)


class MatchingRules(TicketOffers):
    """Reading tool calls."""

    def test_calls_close_what_they_say(self, empty_project: Path) -> None:
        """Each call of `closes` would close its tickets, in order; matching changes nothing."""
        for call, ids in self.calls(empty_project):
            before = deepcopy(call.input)
            with untouched(empty_project):
                assert self.ids_of(call, empty_project) == ids, call.input
            assert call.input == before

    def test_other_calls_close_nothing(self, empty_project: Path) -> None:
        """Calls of `leaves`, and calls of tools that have nothing to do with tickets, do not."""
        for each in (*self.leaves, *_OTHER_CALLS):
            assert self.ids_of(each, empty_project) == [], each

    def test_mentioning_is_not_closing(self, empty_project: Path) -> None:
        """A command that stands in a text, a comment or a here-document closes nothing."""
        for line, _ in self.shell_lines():
            for text in mentions(line):
                assert self.ids_of(text, empty_project) == [], text

    def test_commands_among_others_still_close(self, empty_project: Path) -> None:
        """A command closes the same tickets after &&, in several lines, and in a subshell."""
        for line, ids in self.shell_lines():
            for text in dressings(line):
                assert self.ids_of(text, empty_project) == ids, text

    @pytest.mark.parametrize("text", [*HOSTILE_TEXTS])
    def test_no_text_is_an_error(self, empty_project: Path, text: str) -> None:
        """Whatever a shell is given, a matcher answers with a list of TicketClose."""
        hostile = HOSTILE_TEXTS[text]
        lines = [each for each, _ in self.closes if isinstance(each, str)]
        for line in ("", *lines):
            for one in (f"{line} {hostile}", f"{hostile}\n{line}"):
                self.ids_of(one, empty_project)

    @pytest.mark.parametrize("odd", [*HOSTILE_INPUTS])
    def test_no_input_is_an_error(self, empty_project: Path, odd: str) -> None:
        """Whatever a tool is given, a matcher answers with a list of TicketClose."""
        given = [_as_call(each, empty_project) for each, _ in self.closes]
        names = {SHELL, *(call.name for call in given)}
        names |= {tool.replace("*", "any") for one in self.matchers() for tool in one.tools}
        calls = [ToolCall(name=name, input=HOSTILE_INPUTS[odd]) for name in sorted(names)]
        for call in calls:
            self.closes_of(call, empty_project)


class ConfirmingRules(TicketOffers):
    """Asking afterwards."""

    @pytest.mark.parametrize("result", [*RESULTS])
    def test_every_result_has_an_answer(self, empty_project: Path, result: str) -> None:
        """Whatever has become of a call, confirm says yes, no or unknown; of a failure not yes."""
        # grove asks a system's first matcher.
        confirm = self.matchers()[0].confirm if self.matchers() else None
        if confirm is None:
            pytest.skip(f"{self.probe().name} cannot tell")
        given: ToolResult | None = RESULTS[result]
        for call, _ in self.calls(empty_project):
            for close in self.closes_of(call, empty_project):
                with untouched(empty_project, may_ask=True):
                    answer: object = confirm(close, given, self.context(empty_project))
                assert isinstance(answer, Confirmation)
                # No such ticket is known here.
                failed = given is not None and not given.succeeded
                assert not (failed and answer is Confirmation.YES)


def _as_call(given: str | ToolCall, project: Path) -> ToolCall:
    cwd = os.fspath(project)
    return shell_call(given, cwd) if isinstance(given, str) else evolve(given, cwd=cwd)

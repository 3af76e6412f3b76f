"""What a plugin offers for a ticket system, and how the rules come by it."""

import os
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from attrs import evolve, fields

from grove_core.config.plugin_section import validate_plugin_section
from grove_core.model.ticket import ToolCall
from grove_core.plugins.checks import complaint_about
from grove_core.plugins.descriptors import CloseMatcher, ProjectContext, TicketProbe
from grove_core.testing.calls import shell_call
from grove_core.testing.skipping import NotGiven
from grove_core.testing.verdict import expect, require, rule
from grove_core.testing.watching import ASKING, CHANGING, Watching

_PROBES: Final = "grove_ticket_probes"
_MATCHERS: Final = "grove_close_matchers"


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
            pytest.skip(NotGiven(f"{type(self).__name__} has no fixture used_project and no files"))
        project = tmp_path / "used project"
        for name, text in self.files.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text, encoding="utf-8")
        return project

    @rule("grove_core.TicketProbe")
    def test_system_is_offered(self) -> None:
        """A plugin offers a probe for its system, and every descriptor of it is sound."""
        probe = self.probe()
        expect(complaint_about(probe, TicketProbe), "", "what is wrong with the probe")
        for matcher in self.matchers():
            expect(complaint_about(matcher, CloseMatcher), "", "what is wrong with a matcher")

    @rule("grove_core.CloseMatcher")
    def test_every_matcher_has_a_probe(self) -> None:
        """Each matcher belongs to a system that has a probe: without one it would never count."""
        names = {probe.name for probe in self._offered(_PROBES)}
        systems = {matcher.system for matcher in self._offered(_MATCHERS)}
        expect(systems - names, set(), "systems of matchers without a probe")

    @rule("grove_core.TicketProbe")
    def test_offers_are_the_same_each_time(self) -> None:
        """What is offered does not change from call to call."""
        for hook in (_PROBES, _MATCHERS):
            first, second = ([*map(data_of, self._offered(hook))] for _ in range(2))
            expect(second, first, f"what {hook} gives a second time, functions aside")

    def probe(self) -> TicketProbe:
        """Return the system's probe."""
        probes: Sequence[TicketProbe] = self._offered(_PROBES)
        fitting = [one for one in probes if not self.system or one.name == self.system]
        names = [one.name for one in probes]
        require(
            len(fitting) == 1,
            expected=f"one probe {self.system or '(`system` says which, where there are several)'}",
            found=names,
        )
        return fitting[0]

    def matchers(self) -> Sequence[CloseMatcher]:
        """Return the system's matchers."""
        name = self.probe().name
        return [one for one in self._offered(_MATCHERS) if one.system == name]

    def context(self, project: Path, **variables: str) -> ProjectContext:
        """Say where the system is to look."""
        settings_class = self.probe().settings
        settings = None
        if settings_class is not None:
            settings, _ = validate_plugin_section({}, settings_class)
        environment = {"HOME": os.fspath(project.parent), "PATH": os.defpath, **variables}
        return ProjectContext(
            root=project,
            cwd=project,
            environment=environment,
            session_id="session-1",
            settings=settings,
        )

    def calls(self, project: Path) -> Sequence[tuple[ToolCall, Sequence[str | None]]]:
        """Return the calls that close something; leave the test out by name where none is given."""
        if not self.closes:
            pytest.skip(NotGiven(f"{type(self).__name__} has no closes"))
        return [(as_call(each, project), [*ids]) for each, ids in self.closes]

    def shell_lines(self) -> Sequence[tuple[str, Sequence[str | None]]]:
        """Return those of them that are shell text; without any, leave the test out by name."""
        lines = [(each, [*ids]) for each, ids in self.closes if isinstance(each, str)]
        if not lines:
            shell_text = "shell text among its closes" if self.closes else "closes"
            pytest.skip(NotGiven(f"{type(self).__name__} has no {shell_text}"))
        return lines

    def _offered(self, hook: str) -> Sequence[Any]:
        implementation = getattr(self.plugin, hook, None)
        return [] if implementation is None else [*implementation()]


class Untouched:
    """Requires that code changes nothing and asks nobody, in a ``with`` statement."""

    def __init__(self, project: Path, what: str, *, may_ask: bool = False) -> None:
        """Return what is looked at."""
        self._what = what
        self._folder = chdir(project)
        self._watching = Watching(CHANGING if may_ask else CHANGING | ASKING)

    def __enter__(self) -> None:
        self._folder.__enter__()
        self._before = _state()
        self._watching.__enter__()

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._watching.__exit__(kind, *rest)
        after = _state()
        self._folder.__exit__()
        if kind is None:
            expect(self._watching.heard, [], f"what {self._what} changed, started or connected to")
            expect(after, self._before, f"directory and environment after {self._what}")


def _state() -> tuple[str, dict[str, str]]:
    return os.getcwd(), dict(os.environ)  # noqa: PTH109 - as the process sees it


def as_call(given: str | ToolCall, project: Path) -> ToolCall:
    """Make a call of what a plugin's tests name."""
    cwd = os.fspath(project)
    return shell_call(given, cwd) if isinstance(given, str) else evolve(given, cwd=cwd)


def data_of(descriptor: Any) -> dict[str, Any]:  # noqa: ANN401 - any descriptor
    """Take out of a descriptor what is no function."""
    values = {each.name: getattr(descriptor, each.name) for each in fields(type(descriptor))}
    return {name: value for name, value in values.items() if not callable(value)}


def closed_ids(
    matchers: Sequence[CloseMatcher], call: ToolCall, context: ProjectContext
) -> list[str | None]:
    """Return which tickets a call would close."""
    closes = [
        close
        for matcher in matchers
        if looks_at(matcher, call)
        for close in matcher.match(call, context)
    ]
    return [close.ticket_id for close in closes if not close.reopens]


def looks_at(matcher: CloseMatcher, call: ToolCall) -> bool:
    """Return whether a matcher is asked about a call's tool."""
    return any(
        call.name.startswith(tool[:-1]) if tool.endswith("*") else call.name == tool
        for tool in matcher.tools
    )

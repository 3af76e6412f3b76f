"""A check, what it finds, and how checks are run."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from attrs import evolve, frozen

from grove_core.install.plan import context_of, find_program, registrations_of
from grove_core.model.check import CheckResult, broken
from grove_core.model.session import Session
from grove_core.plugins.discovery import describe_error
from grove_core.plugins.hosts import DEFAULT_HOST, HostContext, HostSpec, Registration
from grove_core.plugins.limits import TimeLimitError, call_limited
from grove_core.project import Project
from grove_core.services.cleanup import SessionFiles, survey
from grove_core.storage.diagnostics import Diagnostics
from grove_core.text import clean_line

_SECONDS: Final = 30.0
"""A log of a million events, or thousands of sessions, take their time to read."""
_LONGEST: Final = 500
_REPORT: Final = "This is a fault of grove or of the machine; report it with the line above"
_HANGS: Final = "See whether a disk, a network file system or a program there hangs"


class _Silence(Diagnostics):
    """Writes no line: what doctor finds it prints."""

    def log(self, level: str, message: str, **fields: object) -> None:
        """Write nothing."""


class Examination:
    """A project under examination; what several checks need is read once."""

    def __init__(self, project: Project, host: str = "") -> None:
        self.project, self._host = project, host
        self.paths, self.files = project.paths, project.files
        self.environment, self.now = project.environment, project.now
        project.diagnostics = _Silence(project.paths)

    @cached_property
    def sessions(self) -> Sequence[SessionFiles]:
        """The files of sessions, of all projects."""
        return survey(self.project)

    @cached_property
    def here(self) -> Sequence[Session]:
        """The sessions of this project."""
        found = (one.session for one in self.sessions)
        return [one for one in found if one and one.project_root == str(self.project.root)]

    @cached_property
    def context(self) -> HostContext:
        """The project, as a client's adapter sees it."""
        return context_of(self.project, find_program() or "")

    @cached_property
    def hosts(self) -> "Sequence[HostExamination]":
        """The clients that are told to run grove here, or did; the usual one where there is none.

        The one that was asked for where one was.
        """
        known = [HostExamination(self.project, one.value) for one in self.project.plugins.hosts()]
        if self._host:
            return [one for one in known if one.spec.name == self._host]
        ran = {one.host for one in self.here}
        used = [one for one in known if one.registrations or one.spec.name in ran]
        return used or [one for one in known if one.spec.name == DEFAULT_HOST]


class HostExamination:
    """A client under examination."""

    def __init__(self, project: Project, spec: HostSpec) -> None:
        self.spec, self._project = spec, project

    def named(self, check: str) -> str:
        """Name a check of this client."""
        return f"{check} ({self.spec.name})" if self.argument else check

    @property
    def argument(self) -> str:
        """What names the client to ``grove init --hooks``; empty for the usual one."""
        return "" if self.spec.name == DEFAULT_HOST else self.spec.name

    @property
    def init(self) -> str:
        """How grove's hooks are added to its settings."""
        return f"grove init --hooks {self.argument}".strip()

    @cached_property
    def registrations(self) -> Sequence[Registration]:
        """Grove's hooks in the client's settings."""
        return registrations_of(self._project, self.spec)


@frozen
class Check:
    """Something to look at: yields nothing where it does not apply.

    What is well counts only where nothing else is found under its name.
    """

    name: str
    look: Callable[[Examination], Iterable[CheckResult]]
    seconds: float = _SECONDS


def run_checks(checks: Iterable[Check], examination: Examination) -> Iterator[CheckResult]:
    """Look at everything; a check that raises or hangs is itself broken, and the others go on."""
    for check in checks:
        for found in _run(check, examination):
            # Paths, logs and plugins may hold anything; a terminal is to show one line of it.
            yield evolve(
                found,
                name=clean_line(found.name or check.name, _LONGEST),
                detail=clean_line(found.detail, _LONGEST),
                fix=clean_line(found.fix, _LONGEST),
            )


def _run(check: Check, examination: Examination) -> Sequence[CheckResult]:
    try:
        found = call_limited(lambda: list(check.look(examination)), check.seconds)
        faulty = {one.name for one in found if not one.ok}
        return [one for one in found if not one.ok or one.name not in faulty]
    except TimeLimitError as error:
        return [broken(str(error), _HANGS)]
    except Exception as error:  # noqa: BLE001 - a check that fails is a finding
        return [broken(f"could not be looked at: {describe_error(error)}", _REPORT)]

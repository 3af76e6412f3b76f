"""Everything that is looked at, in the order in which it is told."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

from grove_core import __version__
from grove_core.config import ConfigProblem
from grove_core.event_log import event_files
from grove_core.flow.trusting import look_at_trust
from grove_core.health.backends import gather_backends, judge_backends
from grove_core.health.blocked_plugins import gather_blocked
from grove_core.health.check import Check
from grove_core.health.clock_skew import Moment, judge_clock, newest_file
from grove_core.health.configuration import judge_configuration
from grove_core.health.derived_numbers import (
    gather_cache,
    gather_decay,
    judge_cache,
    judge_decay,
)
from grove_core.health.event_logs import LogFacts, gather_log, judge_logs
from grove_core.health.home_directory import gather_home, judge_home
from grove_core.health.installation import gather_installation, judge_installation
from grove_core.health.installer import gather_installer
from grove_core.health.loaded_plugins import (
    gather_unread_patterns,
    judge_plugins,
    judge_unread_patterns,
)
from grove_core.health.onlooking import look_only
from grove_core.health.past_faults import gather_faults, judge_faults
from grove_core.health.plugin_checks import probes_of_plugins
from grove_core.health.program import gather_program, judge_program
from grove_core.health.project_directory import gather_project, judge_project
from grove_core.health.registered_hooks import gather_hooks, judge_hooks
from grove_core.health.running import Probe, run_probes
from grove_core.health.secrets import gather_secrets, judge_secrets
from grove_core.health.sessions import (
    SessionFacts,
    gather_sessions,
    judge_servers,
    judge_sessions,
    ran_lately,
)
from grove_core.health.trust import judge_trust
from grove_core.health.waiting import gather_outbox, judge_outbox
from grove_core.workspace import Workspace

_PROJECT_LOG: Final = "event log"
_PERSONAL_LOG: Final = "personal event log"
_PLUGIN_SECONDS: Final = 20.0
"""For what calls several plugins, each of which has a limit of its own."""
_MANY_SECONDS: Final = 30.0
"""A log of a million events, or thousands of sessions, take their time to read."""


Mistakes = Callable[[], tuple[Sequence[ConfigProblem], Sequence[str]]]
"""Finds the mistakes in the configuration; and what is none and yet without effect."""


def examine(workspace: Workspace, find_mistakes: Mistakes) -> Sequence[Check]:
    """Look at everything and change nothing."""
    return _Examination(workspace, find_mistakes).checks()


class _Examination:
    """What several checks have in common, gathered once."""

    def __init__(self, workspace: Workspace, find_mistakes: Mistakes) -> None:
        self._workspace = workspace
        self._find_mistakes = find_mistakes
        look_only(workspace)

    def checks(self) -> Sequence[Check]:
        workspace = self._workspace
        first = [
            Probe(name="installation", look=lambda: judge_installation(gather_installation())),
            Probe(name="program of hooks", look=self._program),
            Probe(name="plugins", look=self._plugins, seconds=_PLUGIN_SECONDS),
            Probe(name="hooks registered", look=self._hooks, seconds=_PLUGIN_SECONDS),
            Probe(
                name="sessions",
                look=lambda: judge_sessions(self._sessions, workspace.now),
                seconds=_MANY_SECONDS,
            ),
            Probe(
                name="session servers",
                look=lambda: judge_servers(self._sessions, workspace, __version__),
                seconds=_MANY_SECONDS,
            ),
            Probe(
                name="grove's own directory", look=lambda: judge_home(gather_home(workspace.paths))
            ),
            Probe(name="project", look=self._project),
            Probe(name="backends", look=self._backends, seconds=_PLUGIN_SECONDS),
            Probe(name="trust", look=self._trust, seconds=_PLUGIN_SECONDS),
            Probe(name=_PROJECT_LOG, look=self._project_log, seconds=_MANY_SECONDS),
            Probe(name=_PERSONAL_LOG, look=self._personal_log, seconds=_MANY_SECONDS),
            Probe(name="statistics cache", look=lambda: judge_cache(gather_cache(workspace))),
            Probe(name="decay", look=self._decay, seconds=_PLUGIN_SECONDS),
        ]
        checks = list(run_probes(first))
        checks += run_probes(probes_of_plugins(workspace))
        last = [
            Probe(
                name="secrets",
                look=lambda: judge_secrets(gather_secrets(workspace)),
                seconds=_MANY_SECONDS,
            ),
            Probe(name="outbox", look=lambda: judge_outbox(gather_outbox(workspace))),
            Probe(name="configuration", look=self._configuration, seconds=_PLUGIN_SECONDS),
            Probe(name="clock", look=self._clock, seconds=_MANY_SECONDS),
            Probe(name="past faults", look=self._faults),
        ]
        return [*checks, *run_probes(last)]

    @cached_property
    def _sessions(self) -> SessionFacts:
        return gather_sessions(self._workspace)

    @cached_property
    def _logs(self) -> tuple[Sequence[LogFacts], Sequence[LogFacts]]:
        """The files of the project's log, and of the user's own."""
        project, paths = self._workspace.project, self._workspace.paths
        files = [gather_log(_PROJECT_LOG, path) for path in event_files(project)]
        return files, [gather_log(_PERSONAL_LOG, paths.personal_events)]

    def _project_log(self) -> Sequence[Check]:
        return judge_logs(_PROJECT_LOG, self._logs[0])

    def _personal_log(self) -> Sequence[Check]:
        return judge_logs(_PERSONAL_LOG, self._logs[1])

    def _program(self) -> Sequence[Check]:
        return judge_program(gather_program(self._workspace.paths, self._workspace.environment))

    def _plugins(self) -> Sequence[Check]:
        self._workspace.plugins.load_all()
        blocked = gather_blocked(self._workspace)
        installer = gather_installer()
        unread = gather_unread_patterns(self._workspace)
        return [
            *judge_plugins(self._workspace.plugins.report(), blocked, installer),
            *judge_unread_patterns(unread, blocked, installer),
        ]

    def _hooks(self) -> Sequence[Check]:
        last_ran = ran_lately(self._sessions, self._workspace.now)
        return judge_hooks(gather_hooks(self._workspace, last_ran=last_ran))

    def _decay(self) -> Sequence[Check]:
        if not self._workspace.project.initialised:
            return ()
        last_ran = ran_lately(self._sessions, self._workspace.now)
        return judge_decay(gather_decay(self._workspace, last_ran))

    def _project(self) -> Sequence[Check]:
        return judge_project(gather_project(self._workspace.project, self._workspace.environment))

    def _backends(self) -> Sequence[Check]:
        return judge_backends(gather_backends(self._workspace))

    def _trust(self) -> Sequence[Check]:
        return judge_trust(look_at_trust(self._workspace))

    def _configuration(self) -> Sequence[Check]:
        return judge_configuration(*self._find_mistakes())

    def _clock(self) -> Sequence[Check]:
        paths, project = self._workspace.paths, self._workspace.project
        moments = [
            Moment(what=f"session {one.id}", at=one.updated_at) for one in self._sessions.here
        ]
        moments += [
            Moment(what=f"an event in {one.path}", at=one.newest)
            for one in (*self._logs[0], *self._logs[1])
            if one.newest
        ]
        newest = newest_file((paths.home, paths.sessions, project.grove_directory))
        return judge_clock(self._workspace.now, [*moments, *([newest] if newest else [])])

    def _faults(self) -> Sequence[Check]:
        return judge_faults(gather_faults(self._workspace.paths), self._workspace.now)

"""The checks of ``grove doctor``, one function each, in the order in which they are told.

They read and change nothing.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from grove_core.doctor import files, hooks, logs, plugins, program, sessions
from grove_core.doctor.check import Check, CheckResult, Examination, run_checks
from grove_core.doctor.secrets import secrets
from grove_core.plugins.discovery import BACKEND_GROUP, TICKET_GROUP
from grove_core.project import Project

_PLUGIN_SECONDS: Final = 20.0
"""For what calls several plugins, each of which has a limit of its own."""
_MANY_SECONDS: Final = 30.0
"""A log of a million events, or thousands of sessions, take their time to read."""

_FIRST: Final = (
    Check("installation", program.installation),
    Check("program of hooks", program.program_of_hooks),
    Check("program of agents", program.program_of_agents),
    Check("memory backends", partial(plugins.family, BACKEND_GROUP), _PLUGIN_SECONDS),
    Check("ticket systems", partial(plugins.family, TICKET_GROUP), _PLUGIN_SECONDS),
    Check("plugins", plugins.faults, _PLUGIN_SECONDS),
    Check("client's settings", hooks.client_settings),
    Check("hooks registered", hooks.registered, _MANY_SECONDS),
    Check("registered program", hooks.registered_program),
    Check("registered twice", hooks.registered_twice),
    Check("tools of ticket systems", hooks.tools_of_tickets, _PLUGIN_SECONDS),
    Check("conditions of hooks", hooks.conditions, _PLUGIN_SECONDS),
    Check("hooks running", sessions.hooks_running, _MANY_SECONDS),
    Check("session state", sessions.session_state, _MANY_SECONDS),
    Check("pending reflections", sessions.pending_reflections, _MANY_SECONDS),
    Check("grove's own directory", files.home),
    Check("permissions", files.permissions),
    Check("free space", files.free_space),
    Check("project", files.project),
    Check("merge driver", files.merge_driver, _PLUGIN_SECONDS),
    Check("git", files.ignored, _PLUGIN_SECONDS),
    Check("backends", plugins.backends, _PLUGIN_SECONDS),
    Check("trust", plugins.trust, _PLUGIN_SECONDS),
    Check("event log", logs.event_log, _MANY_SECONDS),
)
_LAST: Final = (
    Check("secrets", secrets, _MANY_SECONDS),
    Check("outbox", sessions.outbox, _PLUGIN_SECONDS),
    Check("configuration", plugins.configuration, _PLUGIN_SECONDS),
    Check("crashes", logs.crashes),
    Check("errors", logs.errors),
)


def examine(project: Project) -> Sequence[CheckResult]:
    """Look at everything and change nothing."""
    examination = Examination(project)
    found = list(run_checks(_FIRST, examination))
    found += run_checks(plugins.of_plugins(examination), examination)
    return [*found, *run_checks(_LAST, examination)]

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

_CHECKS: Final = (
    Check("installation", program.installation),
    Check("program of hooks", program.program_of_hooks),
    Check("program of agents", program.program_of_agents),
    Check("memory backends", partial(plugins.family, BACKEND_GROUP)),
    Check("ticket systems", partial(plugins.family, TICKET_GROUP)),
    Check("plugins", plugins.faults),
    Check("client's settings", hooks.client_settings),
    Check("hooks registered", hooks.registered),
    Check("registered program", hooks.registered_program),
    Check("registered twice", hooks.registered_twice),
    Check("tools of ticket systems", hooks.tools_of_tickets),
    Check("conditions of hooks", hooks.conditions),
    Check("hooks running", sessions.hooks_running),
    Check("session state", sessions.session_state),
    Check("pending reflections", sessions.pending_reflections),
    Check("grove's own directory", files.home),
    Check("permissions", files.permissions),
    Check("free space", files.free_space),
    Check("project", files.project),
    Check("merge driver", files.merge_driver),
    Check("git", files.ignored),
    Check("backends", plugins.backends),
    Check("trust", plugins.trust),
    Check("event log", logs.event_log),
    Check("checks of plugins", plugins.checks),
    Check("secrets", secrets),
    Check("outbox", sessions.outbox),
    Check("configuration", plugins.configuration),
    Check("crashes", logs.crashes),
    Check("errors", logs.errors),
)


def examine(project: Project) -> Sequence[CheckResult]:
    """Look at everything and change nothing."""
    return list(run_checks(_CHECKS, Examination(project)))

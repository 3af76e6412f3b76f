"""The checks of ``grove doctor``, one function each, in the order in which they are told.

They read and change nothing.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from grove_core.doctor import hooks, plugins, program, records
from grove_core.doctor.check import Check, Examination, run_checks
from grove_core.model.check import CheckResult
from grove_core.plugins.discovery import BACKEND_GROUP, HOST_GROUP, TICKET_GROUP
from grove_core.project import Project

_HOST_CHECKS: Final = (
    Check("client", hooks.abilities),
    Check("client's settings", hooks.settings),
    Check("hooks registered", hooks.registered),
    Check("registered program", hooks.registered_program),
    Check("registered twice", hooks.registered_twice),
)
_CHECKS: Final = (
    Check("installation", program.installation),
    Check("program of hooks", program.program_of_hooks),
    Check("program of agents", program.program_of_agents),
    Check("memory backends", partial(plugins.family, BACKEND_GROUP)),
    Check("ticket systems", partial(plugins.family, TICKET_GROUP)),
    Check("clients", partial(plugins.family, HOST_GROUP)),
    Check("plugins", plugins.faults),
    *_HOST_CHECKS,
    Check("hooks running", records.hooks_running),
    Check("session state", records.session_state),
    Check("pending reflections", records.pending_reflections),
    Check("grove's own directory", records.home),
    Check("project", records.project),
    Check("git", records.ignored),
    Check("backends", plugins.backends),
    Check("trust", plugins.trust),
    Check("event log", records.event_log),
    Check("checks of plugins", plugins.checks),
    Check("secrets", records.secrets),
    Check("outbox", records.outbox),
    Check("configuration", plugins.configuration),
    Check("crashes", records.crashes),
    Check("errors", records.errors),
)


def examine(project: Project, host: str = "") -> Sequence[CheckResult]:
    """Look at everything, or at one client, and change nothing."""
    return list(run_checks(_HOST_CHECKS if host else _CHECKS, Examination(project, host)))

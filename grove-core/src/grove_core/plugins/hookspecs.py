"""The hooks that grove calls, in the order of a session's life.

Registration hooks take no argument and return descriptors. Life-cycle hooks take keyword arguments
and must not change them; an implementation may leave out arguments it does not need. Every
implementation is called by itself, with a time limit: one that raises, hangs or answers nonsense is
reported under its distribution's name, and the others go on. Wrappers are refused.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pluggy

from grove_core.model.learning import Candidate, Learning, Rejection
from grove_core.model.memory import Receipt
from grove_core.plugins.descriptors import (
    BackendSpec,
    CloseMatcher,
    CommandReader,
    CommandSpec,
    HealthCheck,
    ReflectionContext,
    TicketProbe,
)

if TYPE_CHECKING:
    # Few plugins have gates.
    from grove_core.plugins.gates import GateSpec
    from grove_core.plugins.hosts import HostSpec

PROJECT_NAME: Final = "grove"
GROVE_API: Final = 2
"""The version of this interface; a plugin names the one it was written for as ``grove_api``."""

hookspec = pluggy.HookspecMarker(PROJECT_NAME)
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)


class RegistrationHooks:
    """What a plugin offers."""

    @hookspec
    def grove_ticket_probes(self) -> Sequence[TicketProbe]:
        """Offer ticket systems.

        Returns:
            One probe for each system.
        """
        raise NotImplementedError

    @hookspec
    def grove_close_matchers(self) -> Sequence[CloseMatcher]:
        """Offer ways to recognise that a tool call closes tickets.

        Returns:
            One matcher for each system.
        """
        raise NotImplementedError

    @hookspec
    def grove_command_readers(self) -> Sequence[CommandReader]:
        """Offer to read what a shell would run, for the patterns of the configuration.

        Returns:
            One reader for each kind of shell.
        """
        raise NotImplementedError

    @hookspec
    def grove_memory_backends(self) -> Sequence[BackendSpec]:
        """Offer memory backends.

        Returns:
            One specification for each backend.
        """
        raise NotImplementedError

    @hookspec
    def grove_gates(self) -> "Sequence[GateSpec]":
        """Offer gates, which are asked before grove's own.

        Returns:
            One specification for each gate.
        """
        raise NotImplementedError

    @hookspec
    def grove_hosts(self) -> "Sequence[HostSpec]":
        """Offer clients that grove can work in.

        Returns:
            One specification for each client; a hook loads only the entry point named like it.
        """
        raise NotImplementedError

    @hookspec
    def grove_commands(self) -> Sequence[CommandSpec]:
        """Offer further sub-commands of ``grove``.

        Returns:
            One specification for each command.
        """
        raise NotImplementedError

    @hookspec
    def grove_health_checks(self) -> Sequence[HealthCheck]:
        """Offer checks of things that can go wrong silently.

        Returns:
            One check for each thing.
        """
        raise NotImplementedError


class LifeCycleHooks:
    """What a plugin is asked or told."""

    @hookspec
    def grove_check_candidate(
        self, candidate: Candidate, context: ReflectionContext
    ) -> Rejection | None:
        """Object to a candidate learning.

        Args:
            candidate: The candidate, read and cleaned.
            context: Where it comes from.

        Returns:
            An objection, or ``None``. Any objection refuses the candidate.
        """
        raise NotImplementedError

    @hookspec
    def grove_learning_written(self, learning: Learning, receipt: Receipt) -> None:
        """Be told that a learning was written; the store has it already.

        Args:
            learning: The learning.
            receipt: What the backend answered.
        """
        raise NotImplementedError


HOOK_SPECIFICATIONS = (RegistrationHooks, LifeCycleHooks)

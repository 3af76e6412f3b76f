"""The ticket systems of a project: which are used, what is in progress, what a call closes."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeGuard

from attrs import evolve, frozen

from grove_core.model.memory import Detection
from grove_core.model.ticket import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_core.model.value import Value
from grove_core.plugins.descriptors import CloseMatcher, Participation, ProjectContext, TicketProbe
from grove_core.plugins.facade import Plugins, Provided

DETECT_SECONDS: Final = 0.5
MATCH_SECONDS: Final = 1.0
CONFIRM_SECONDS: Final = 1.5
CURRENT_TICKET_SECONDS: Final = 0.3


@frozen(kw_only=True, eq=False, repr=False)
class TicketSystem(Value):
    """A ticket system and how it stands to a project.

    Attributes:
        provided: The probe, and the plugin that offers it.
        detection: What gives it away; ``None`` when it is not used here.
        is_active: Whether it is the first in order that is used here; one that takes part only
            where it is active must be allowed to.
        takes_part: Whether its closes count here.
        why: The reason for the above, for people.
    """

    provided: Provided[TicketProbe]
    detection: Detection | None
    is_active: bool
    takes_part: bool
    why: str

    @property
    def probe(self) -> TicketProbe:
        """The probe."""
        return self.provided.value


class TicketSystems:
    """The ticket systems that are installed, seen from one directory of a project."""

    def __init__(
        self,
        plugins: Plugins,
        context: ProjectContext,
        *,
        initialised: bool,
        overrides: Mapping[str, bool],
        settings: Mapping[str, Any],
    ) -> None:
        """Look at nothing yet.

        Args:
            plugins: The installed plugins.
            context: Where to look.
            initialised: Whether the project has a ``.grove`` directory.
            overrides: ``ticketing.overrides`` of the configuration.
            settings: Validated settings by system.
        """
        self._plugins = plugins
        self._context = context
        self._initialised = initialised
        self._overrides = overrides
        self._settings = settings

    @cached_property
    def all(self) -> Sequence[TicketSystem]:
        """All installed systems in order, as they stand to the project."""
        return self._look(self._context)

    def active(self) -> TicketSystem | None:
        """Tell which system is the active one.

        Returns:
            The first in order that is used here, or ``None``.
        """
        return next((system for system in self.all if system.is_active), None)

    def own_paths(self) -> tuple[str, ...]:
        """Tell which paths belong to ticket systems.

        Returns:
            Paths relative to the project root.
        """
        return tuple(path for one in self._plugins.ticket_probes() for path in one.value.paths)

    def current_ticket(self) -> Ticket | None:
        """Ask which ticket is in progress.

        Returns:
            The first answer of the systems that take part, in order.
        """
        for system in self.all:
            if not system.takes_part or system.probe.current_ticket is None:
                continue
            ticket = self._plugins.call(
                system.provided,
                system.probe.current_ticket,
                self._for(system.probe.name, self._context),
                seconds=CURRENT_TICKET_SECONDS,
                default=None,
            )
            if _is_ticket(ticket):
                return ticket
            if ticket is not None:
                what = f"current_ticket of {system.probe.name}"
                self._plugins.complain(system.provided, what, "returned no Ticket, or a broken one")
        return None

    def literals(self) -> frozenset[str]:
        """Collect the words without which no call can close anything.

        Returns:
            Whole words.
        """
        return frozenset(
            word for matcher in self._plugins.close_matchers() for word in matcher.value.literals
        )

    def once_per_prompt(self) -> frozenset[str]:
        """Tell which systems open at most one gate cycle in a user prompt.

        Returns:
            Their names.
        """
        return frozenset(
            one.value.system for one in self._plugins.close_matchers() if one.value.once_per_prompt
        )

    def announced(self, call: ToolCall) -> Sequence[TicketClose]:
        """Ask what a tool call would close here.

        Args:
            call: The call.

        Returns:
            The closes of systems that take part where the call would take effect.
        """
        return [close for close in self.closes_of(call) if self._takes_part(close)]

    def closes_of(self, call: ToolCall) -> Sequence[TicketClose]:
        """Ask what a tool call would close if every installed system took part.

        Args:
            call: The call.

        Returns:
            The closes.
        """
        found: list[TicketClose] = []
        for matcher in self._plugins.close_matchers():
            if not any(_names(pattern, call.name) for pattern in matcher.value.tools):
                continue
            context = self._for(matcher.value.system, self._context)
            closes = self._plugins.call(
                matcher, matcher.value.match, call, context, seconds=MATCH_SECONDS, default=()
            )
            sound = [one for one in closes if _is_close(one)] if _is_list(closes) else []
            if not _is_list(closes) or len(sound) < len(closes):
                what = f"match of {matcher.value.system}"
                self._plugins.complain(matcher, what, "returned no list of TicketClose")
            found += sound
        return found

    def matcher_of(self, system: str) -> Provided[CloseMatcher] | None:
        """Find the matcher of a system.

        Args:
            system: Its name.

        Returns:
            The matcher, or ``None`` when no installed plugin has one.
        """
        return next(
            (one for one in self._plugins.close_matchers() if one.value.system == system), None
        )

    def confirm(self, close: TicketClose, result: ToolResult | None) -> Confirmation:
        """Ask whether a close really happened.

        Args:
            close: The close.
            result: What became of the call; ``None`` when it is asked later.

        Returns:
            Yes, no or unknown.
        """
        matcher = self.matcher_of(close.system)
        if matcher is None or matcher.value.confirm is None:
            return Confirmation.UNKNOWN
        answer = self._plugins.call(
            matcher,
            matcher.value.confirm,
            close,
            result,
            self._for(close.system, self._where(close)),
            seconds=CONFIRM_SECONDS,
            default=Confirmation.UNKNOWN,
        )
        return answer if isinstance(answer, Confirmation) else Confirmation.UNKNOWN

    def _takes_part(self, close: TicketClose) -> bool:
        systems = self.all if close.directory is None else self._look(self._where(close))
        return any(system.takes_part for system in systems if system.probe.name == close.system)

    def _where(self, close: TicketClose) -> ProjectContext:
        """The context of a close that may take effect in another directory."""
        if close.directory is None:
            return self._context
        return evolve(self._context, cwd=Path(close.directory))

    def _look(self, context: ProjectContext) -> Sequence[TicketSystem]:
        systems: list[TicketSystem] = []
        active_found = False
        for provided in self._plugins.ticket_probes():
            probe = provided.value
            detection = self._plugins.call(
                provided,
                probe.detect,
                self._for(probe.name, context),
                seconds=DETECT_SECONDS,
                default=None,
            )
            if not isinstance(detection, Detection):
                detection = None
            usable = detection is not None and detection.usable
            is_active = usable and not active_found and self._may_be_active(probe)
            active_found = active_found or is_active
            systems.append(self._judge(provided, detection, is_active=is_active))
        return systems

    def _may_be_active(self, probe: TicketProbe) -> bool:
        """What would take part nowhere as the active system must not be in another's way."""
        return (
            probe.participation is not Participation.ACTIVE
            or self._initialised
            or self._overrides.get(probe.name) is True
        )

    def _judge(
        self, provided: Provided[TicketProbe], detection: Detection | None, *, is_active: bool
    ) -> TicketSystem:
        probe = provided.value
        override = self._overrides.get(probe.name)
        if detection is None:
            takes_part, why = False, "not used in this project"
        elif not detection.usable:
            takes_part, why = False, detection.note or "cannot be used here"
        elif probe.per_session and not is_active:
            takes_part, why = False, "not needed: another system is active"
        elif override is True:
            takes_part, why = True, f"switched on by ticketing.overrides.{probe.name}"
        elif probe.participation is Participation.ACTIVE and not is_active:
            takes_part = False
            why = "takes part only as the active system of an initialised project"
        else:
            takes_part, why = True, detection.note or f"found {detection.marker}"
        return TicketSystem(
            provided=provided,
            detection=detection,
            is_active=is_active,
            takes_part=takes_part,
            why=why,
        )

    def _for(self, system: str, context: ProjectContext) -> ProjectContext:
        return evolve(context, settings=self._settings.get(system))


def _is_list(answer: object) -> bool:
    return isinstance(answer, list | tuple)


def _is_close(value: object) -> TypeGuard[TicketClose]:
    # What goes into a session's state must be readable again.
    return (
        isinstance(value, TicketClose)
        and isinstance(value.system, str)
        and isinstance(value.ticket_id, str | None)
        and isinstance(value.title, str)
        and isinstance(value.directory, str | None)
        and isinstance(value.reopens, bool)
        and isinstance(value.certain, bool)
    )


def _is_ticket(value: object) -> TypeGuard[Ticket]:
    return (
        isinstance(value, Ticket)
        and isinstance(value.ticket_id, str | None)
        and all(isinstance(text, str) for text in (value.source, value.title, value.description))
        and isinstance(value.labels, tuple)
        and all(isinstance(label, str) for label in value.labels)
        and isinstance(value.detected_at, datetime | None)
    )


def _names(pattern: str, tool: str) -> bool:
    return tool.startswith(pattern[:-1]) if pattern.endswith("*") else tool == pattern

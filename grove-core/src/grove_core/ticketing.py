"""The ticket systems of a project: which count, what is in progress, what a tool call closes."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from attrs import evolve

from grove_core.model.memory import Detection
from grove_core.model.ticket import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_core.plugins.descriptors import (
    CloseMatcher,
    EnabledWhen,
    ProjectContext,
    TicketProbe,
)
from grove_core.plugins.discovery import Plugin, rank
from grove_core.plugins.limits import clock_limit
from grove_core.plugins.manager import Contribution, Plugins

if TYPE_CHECKING:
    from grove_core.config.schema import TicketingSettings
    from grove_core.ticket_patterns import TicketPattern

DETECT_SECONDS: Final = 0.5
MATCH_SECONDS: Final = 1.0
CONFIRM_SECONDS: Final = 1.5
CURRENT_TICKET_SECONDS: Final = 0.3
READ_SECONDS: Final = 1.0
PATTERNS_KEY: Final = "ticketing.patterns"

_CONFIGURATION: Final = Plugin(PATTERNS_KEY, "", "", "configuration", "")


class TicketSystem(NamedTuple):
    """A ticket system and how it stands to a project."""

    provided: Contribution[TicketProbe]
    detection: Detection | None
    is_active: bool
    enabled: bool
    why: str

    @property
    def probe(self) -> TicketProbe:
        """The probe."""
        return self.provided.value


def _is_last_resort(probe: TicketProbe) -> bool:
    """Return whether a system is there everywhere, so that others come first in any order."""
    return probe.per_session or probe.enabled_when is EnabledWhen.ACTIVE


class TicketSystems:
    """The ticket systems that are installed, seen from one directory of a project."""

    def __init__(
        self,
        plugins: Plugins,
        context: ProjectContext,
        ticketing: "TicketingSettings",
        *,
        initialised: bool,
        settings: Mapping[str, Any],
    ) -> None:
        """Look at nothing yet."""
        self._plugins = plugins
        self._context = context
        self._ticketing = ticketing
        self._initialised = initialised
        self._settings = settings
        self._patterns: Sequence[TicketPattern] = ()
        if ticketing.patterns:  # most configurations have none, and hooks import what they need
            from grove_core.ticket_patterns import read_patterns

            # A name that is switched off is so whatever defines it.
            off = {name for name, is_on in ticketing.overrides.items() if is_on is False}
            found = read_patterns(ticketing.patterns)
            self._patterns = [one for one in found if one.name not in off]
        self._elsewhere: dict[str, Sequence[TicketSystem]] = {}

    @cached_property
    def all(self) -> Sequence[TicketSystem]:
        """All installed systems in order, as they stand to the project."""
        return self._look(self._context)

    def active(self) -> TicketSystem | None:
        """Return which system is the active one."""
        return next((system for system in self.all if system.is_active), None)

    def own_paths(self) -> tuple[str, ...]:
        """Return which paths belong to ticket systems."""
        return tuple(path for one in self._probes for path in one.value.paths)

    def current_ticket(self) -> Ticket | None:
        """Ask which ticket is in progress."""
        # One may hang; no further one is asked then, since a person waits for the session to start.
        end = time.monotonic() + clock_limit(CURRENT_TICKET_SECONDS)
        for system in self.all:
            ask = system.probe.current_ticket
            if not system.enabled or ask is None or time.monotonic() >= end:
                continue
            seconds = CURRENT_TICKET_SECONDS
            answer = self._call(system.provided, "current_ticket", ask, seconds=seconds)
            if isinstance(answer, Ticket):
                return answer
            if answer is not None:
                what = f"current_ticket of {system.probe.name}"
                self._plugins.complain(system.provided, what, "returned no Ticket")
        return None

    @cached_property
    def matchers(self) -> Sequence[Contribution[CloseMatcher]]:
        """What recognises closes: of systems that can count here or elsewhere, in their order."""
        off = {one.value.name for one in self._probes if not self._may_count(one.value)}
        return [one for one in self._all_matchers if one.value.system not in off]

    def literals(self) -> frozenset[str]:
        """Collect the words without which no call can close anything."""
        return frozenset(word for one in self.matchers for word in one.value.literals)

    def once_per_prompt(self) -> frozenset[str]:
        """Return which systems open at most one gate cycle in a user prompt."""
        return frozenset(one.value.system for one in self.matchers if one.value.once_per_prompt)

    def announced(self, call: ToolCall) -> Sequence[TicketClose]:
        """Ask what a tool call would close or open again here."""
        return [close for close in self._closes(call, self.matchers) if self._is_enabled(close)]

    def closes_of(self, call: ToolCall) -> Sequence[TicketClose]:
        """Ask what a tool call would close if every installed system were enabled."""
        found = self._closes(call, self._all_matchers)
        return [close for close in found if not close.reopens]

    def _closes(
        self, call: ToolCall, matchers: Sequence[Contribution[CloseMatcher]]
    ) -> Sequence[TicketClose]:
        found: list[TicketClose] = []
        for matcher in matchers:
            if not any(fnmatchcase(call.name, pattern) for pattern in matcher.value.tools):
                continue
            context = self._with_settings(matcher)
            found += (
                self._plugins.call_for_list(
                    matcher,
                    "match",
                    TicketClose,
                    matcher.value.match,
                    call,
                    context,
                    seconds=MATCH_SECONDS,
                )
                or ()
            )
        # Of what happens to a ticket more than once, the last time counts.
        return list(dict.fromkeys(reversed(found)))[::-1]

    def matcher_of(self, system: str) -> Contribution[CloseMatcher] | None:
        """Find the matcher of a system."""
        return next((one for one in self._all_matchers if one.value.system == system), None)

    def confirm(
        self, close: TicketClose, result: ToolResult | None, *, cwd: str = ""
    ) -> Confirmation:
        """Ask whether a close really happened."""
        matcher = self.matcher_of(close.system)
        is_late = time.monotonic() >= self._confirm_until
        if matcher is None or matcher.value.confirm is None or is_late:
            return Confirmation.UNKNOWN
        directory = close.directory or cwd
        context = evolve(self._context, cwd=Path(directory)) if directory else self._context
        ask = partial(matcher.value.confirm, close, result)
        answer = self._call(matcher, "confirm", ask, context, seconds=CONFIRM_SECONDS)
        return answer if isinstance(answer, Confirmation) else Confirmation.UNKNOWN

    def _is_enabled(self, close: TicketClose) -> bool:
        directory = close.directory
        if directory is not None and directory not in self._elsewhere:
            self._elsewhere[directory] = self._look(evolve(self._context, cwd=Path(directory)))
        systems = self.all if directory is None else self._elsewhere[directory]
        return any(system.enabled for system in systems if system.probe.name == close.system)

    @cached_property
    def _confirm_until(self) -> float:
        """When no further confirmation is asked for: a call may close many."""
        return time.monotonic() + clock_limit(CONFIRM_SECONDS)

    @cached_property
    def _probes(self) -> Sequence[Contribution[TicketProbe]]:
        probes = self._plugins.ticket_probes()
        if not self._patterns:
            return probes
        taken = {one.value.name for one in probes}
        named = {one.name: one for one in self._patterns if one.name not in taken}
        defined = Detection(marker=PATTERNS_KEY, note=f"defined by {PATTERNS_KEY}")
        found = defined if self._initialised else None
        for name in named:
            probe = TicketProbe(name=name, detect=lambda _: found)
            probes.append(Contribution(value=probe, source=_CONFIGURATION))
        return sorted(
            probes,
            key=lambda one: rank(
                self._ticketing.discovery, one.value.name, one.source.distribution
            )[0],
        )

    @cached_property
    def _all_matchers(self) -> Sequence[Contribution[CloseMatcher]]:
        found = self._plugins.close_matchers()
        readers = self._plugins.command_readers() if self._patterns else ()
        tools = tuple({tool: None for one in readers for tool in one.value.tools})
        for one in self._patterns if tools else ():
            closes = partial(self._closes_by, one)
            own = CloseMatcher(system=one.name, literals=one.literals, tools=tools, match=closes)
            found.append(Contribution(value=own, source=_CONFIGURATION))
        return found

    def _closes_by(
        self, pattern: "TicketPattern", call: ToolCall, _: ProjectContext
    ) -> list[TicketClose]:
        from grove_core.ticket_patterns import ids_closed_by

        return [
            TicketClose(system=pattern.name, ticket_id=ticket_id)
            for words in self.commands(call)
            for ticket_id in ids_closed_by(pattern, words) or ()
        ]

    def commands(self, call: ToolCall) -> Iterator[Sequence[str | None]]:
        """Ask which simple commands a call of a shell would run."""
        for reader in self._plugins.command_readers():
            if call.name in reader.value.tools:
                yield from self._plugins.call(
                    reader, "read", reader.value.read, call, seconds=READ_SECONDS, default=()
                )

    def _look(self, context: ProjectContext) -> Sequence[TicketSystem]:
        found = [(one, self._detect(one, context)) for one in self._probes]
        found.sort(key=lambda each: _is_last_resort(each[0].value))
        usable = (one for one, detection in found if detection is not None and detection.usable)
        active = next((one for one in usable if self._may_be_active(one.value)), None)
        return [self._standing(*each, is_active=each[0] is active) for each in found]

    def _is_on(self, probe: TicketProbe) -> bool:
        """Return whether the configuration turns a system on."""
        return self._ticketing.overrides.get(probe.name) is True

    def _may_count(self, probe: TicketProbe) -> bool:
        """Return whether a system's closes could count anywhere under this configuration."""
        return probe.enabled_when is not EnabledWhen.OVERRIDDEN or self._is_on(probe)

    def _may_be_active(self, probe: TicketProbe) -> bool:
        if probe.enabled_when is EnabledWhen.DETECTED or self._is_on(probe):
            return True
        return probe.enabled_when is EnabledWhen.ACTIVE and self._initialised

    def _standing(
        self,
        provided: Contribution[TicketProbe],
        detection: Detection | None,
        *,
        is_active: bool,
    ) -> TicketSystem:
        probe, enabled = provided.value, False
        if not self._may_count(probe):
            why = f"off unless ticketing.overrides.{probe.name} = true"
        elif detection is None:
            why = "not used in this project"
        elif not detection.usable:
            why = detection.note or "cannot be used here"
        elif probe.per_session and not is_active:
            why = "not needed: another system is active"
        elif self._is_on(probe):
            why, enabled = f"switched on by ticketing.overrides.{probe.name}", True
        elif probe.enabled_when is EnabledWhen.ACTIVE and not is_active:
            why = "enabled only as the active system of an initialised project"
        else:
            why, enabled = detection.note or f"found {detection.marker}", True
        return TicketSystem(provided, detection, is_active, enabled, why)

    def _detect(
        self, provided: Contribution[TicketProbe], context: ProjectContext
    ) -> Detection | None:
        probe = provided.value
        if not self._may_count(probe):
            return None
        answer = self._call(provided, "detect", probe.detect, context, seconds=DETECT_SECONDS)
        return answer if isinstance(answer, Detection) else None

    def _call(
        self,
        provided: Contribution[Any],
        what: str,
        function: Callable[[ProjectContext], object],
        context: ProjectContext | None = None,
        *,
        seconds: float,
    ) -> object:
        context = self._with_settings(provided, context)
        return self._plugins.call(provided, what, function, context, seconds=seconds, default=None)

    def _with_settings(
        self, provided: Contribution[Any], context: ProjectContext | None = None
    ) -> ProjectContext:
        return evolve(context or self._context, settings=self._settings.get(provided.name))

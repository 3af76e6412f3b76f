"""Asking the ticket systems of a project: what is in progress, what a call closes."""

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from grove_core.model.memory import Detection
from grove_core.model.ticket import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_core.plugins.descriptors import CloseMatcher, ProjectContext, TicketProbe
from grove_core.plugins.facade import Plugins, Provided
from grove_core.plugins.limits import clock_limit
from grove_core.plugins.selection import rank
from grove_core.ticketing.answers import is_close, is_list, is_ticket
from grove_core.ticketing.participation import ParticipationRules, TicketSystem, judge

if TYPE_CHECKING:
    from grove_core.ticketing.patterns import PatternSystems

DETECT_SECONDS: Final = 0.5
MATCH_SECONDS: Final = 1.0
CONFIRM_SECONDS: Final = 1.5
CURRENT_TICKET_SECONDS: Final = 0.3


class TicketSystems:
    """The ticket systems that are installed, seen from one directory of a project."""

    def __init__(
        self,
        plugins: Plugins,
        context: ProjectContext,
        rules: ParticipationRules,
        *,
        settings: Mapping[str, Any],
        patterns: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Look at nothing yet."""
        self._plugins = plugins
        self._context = context
        self._rules = rules
        self._settings = settings
        self._elsewhere: dict[str, Sequence[TicketSystem]] = {}
        self._own = _pattern_systems(plugins, patterns, rules)

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
            is_late = time.monotonic() >= end
            if not system.takes_part or system.probe.current_ticket is None or is_late:
                continue
            ticket = self._plugins.call(
                system.provided,
                system.probe.current_ticket,
                self._for(system.probe.name, self._context),
                seconds=CURRENT_TICKET_SECONDS,
                default=None,
            )
            if is_ticket(ticket):
                return ticket
            if ticket is not None:
                what = f"current_ticket of {system.probe.name}"
                self._plugins.complain(system.provided, what, "returned no Ticket, or a broken one")
        return None

    @cached_property
    def matchers(self) -> Sequence[Provided[CloseMatcher]]:
        """What recognises closes: of systems that can count here or elsewhere, in their order."""
        off = {one.value.name for one in self._probes if not self._rules.may_ever_count(one.value)}
        return [one for one in self._all_matchers if one.value.system not in off]

    def literals(self) -> frozenset[str]:
        """Collect the words without which no call can close anything."""
        return frozenset(word for one in self.matchers for word in one.value.literals)

    def once_per_prompt(self) -> frozenset[str]:
        """Return which systems open at most one gate cycle in a user prompt."""
        return frozenset(one.value.system for one in self.matchers if one.value.once_per_prompt)

    def announced(self, call: ToolCall) -> Sequence[TicketClose]:
        """Ask what a tool call would close or open again here."""
        return [close for close in self._closes(call, self.matchers) if self._takes_part(close)]

    def closes_of(self, call: ToolCall) -> Sequence[TicketClose]:
        """Ask what a tool call would close if every installed system took part."""
        found = self._closes(call, self._all_matchers)
        return [close for close in found if not close.reopens]

    def _closes(
        self, call: ToolCall, matchers: Sequence[Provided[CloseMatcher]]
    ) -> Sequence[TicketClose]:
        found: list[TicketClose] = []
        for matcher in matchers:
            if not any(_names(pattern, call.name) for pattern in matcher.value.tools):
                continue
            context = self._for(matcher.value.system, self._context)
            closes = self._plugins.call(
                matcher, matcher.value.match, call, context, seconds=MATCH_SECONDS, default=()
            )
            sound = [one for one in closes if is_close(one)] if is_list(closes) else []
            if not is_list(closes) or len(sound) < len(closes):
                what = f"match of {matcher.value.system}"
                self._plugins.complain(matcher, what, "returned no list of TicketClose")
            found += sound
        # Of what happens to a ticket more than once, the last time counts.
        return list(dict.fromkeys(reversed(found)))[::-1]

    def matcher_of(self, system: str) -> Provided[CloseMatcher] | None:
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
        answer = self._plugins.call(
            matcher,
            matcher.value.confirm,
            close,
            result,
            self._for(close.system, self._where(close, cwd)),
            seconds=CONFIRM_SECONDS,
            default=Confirmation.UNKNOWN,
        )
        return answer if isinstance(answer, Confirmation) else Confirmation.UNKNOWN

    def _takes_part(self, close: TicketClose) -> bool:
        systems = self.all if close.directory is None else self._look_in(close.directory)
        return any(system.takes_part for system in systems if system.probe.name == close.system)

    def _where(self, close: TicketClose, cwd: str = "") -> ProjectContext:
        """The context of a close that may take effect in another directory."""
        directory = close.directory or cwd
        return evolve(self._context, cwd=Path(directory)) if directory else self._context

    @cached_property
    def _confirm_until(self) -> float:
        """When no further confirmation is asked for: a call may close many."""
        return time.monotonic() + clock_limit(CONFIRM_SECONDS)

    @cached_property
    def _probes(self) -> Sequence[Provided[TicketProbe]]:
        probes = self._plugins.ticket_probes()
        if self._own is None:
            return probes
        both = [*probes, *self._own.probes([one.value.name for one in probes])]
        return sorted(both, key=self._place)

    def _place(self, provided: Provided[TicketProbe]) -> int:
        return rank(self._rules.listed, provided.value.name, provided.source.distribution)[0]

    @cached_property
    def _all_matchers(self) -> Sequence[Provided[CloseMatcher]]:
        own = [] if self._own is None else self._own.matchers()
        return [*self._plugins.close_matchers(), *own]

    def _look_in(self, directory: str) -> Sequence[TicketSystem]:
        if directory not in self._elsewhere:
            self._elsewhere[directory] = self._look(evolve(self._context, cwd=Path(directory)))
        return self._elsewhere[directory]

    def _look(self, context: ProjectContext) -> Sequence[TicketSystem]:
        return judge([(one, self._detect(one, context)) for one in self._probes], self._rules)

    def _detect(self, provided: Provided[TicketProbe], context: ProjectContext) -> Detection | None:
        if not self._rules.may_ever_count(provided.value):
            return None
        detection = self._plugins.call(
            provided,
            provided.value.detect,
            self._for(provided.value.name, context),
            seconds=DETECT_SECONDS,
            default=None,
        )
        return detection if isinstance(detection, Detection) else None

    def _for(self, system: str, context: ProjectContext) -> ProjectContext:
        return evolve(context, settings=self._settings.get(system))


def _pattern_systems(
    plugins: Plugins, patterns: Sequence[Mapping[str, Any]], rules: ParticipationRules
) -> "PatternSystems | None":
    """Read the patterns; most configurations have none, and hooks import what they need."""
    if not patterns:
        return None
    from grove_core.ticket_patterns import read_patterns
    from grove_core.ticketing.patterns import PatternSystems

    # What is switched off by name is so whoever defines it.
    wanted = [one for one in read_patterns(patterns) if rules.overrides.get(one.name) is not False]
    return PatternSystems(plugins, wanted, initialised=rules.initialised)


def _names(pattern: str, tool: str) -> bool:
    return tool.startswith(pattern[:-1]) if pattern.endswith("*") else tool == pattern

"""Patterns of the configuration as ticket systems beside those of plugins."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from grove_core.model.memory import Detection
from grove_core.model.ticket import TicketClose, ToolCall
from grove_core.plugins.descriptors import CloseMatcher, CommandReader, ProjectContext, TicketProbe
from grove_core.plugins.facade import Plugins, Provided
from grove_core.plugins.report import PluginSource
from grove_core.ticket_patterns import TicketPattern, ids_closed_by

READ_SECONDS: Final = 1.0
KEY: Final = "ticketing.patterns"
_DEFINED: Final = f"defined by {KEY}"
# How to install one is for `grove doctor` to find out: a hook that comes here would have to wait.
_NO_READER: Final = "no plugin in use reads shell commands; grove doctor says how to have one"


def source_of(pattern: TicketPattern) -> PluginSource:
    """Name a pattern where plugins are named."""
    return PluginSource(
        name=pattern.name, distribution="configuration", version="", entry_point=KEY
    )


class PatternSystems:
    """The ticket systems that the configuration's patterns make."""

    def __init__(
        self, plugins: Plugins, patterns: Sequence[TicketPattern], *, initialised: bool
    ) -> None:
        """Note them."""
        self._plugins = plugins
        self._patterns = patterns
        self._initialised = initialised

    def probes(self, taken: Sequence[str]) -> list[Provided[TicketProbe]]:
        """Offer a system for each name that no plugin has."""
        named = {one.name: one for one in self._patterns if one.name not in taken}
        return [
            Provided(
                value=TicketProbe(name=name, detect=self._detect),
                source=source_of(pattern),
            )
            for name, pattern in named.items()
        ]

    def matchers(self) -> list[Provided[CloseMatcher]]:
        """Offer a matcher for each pattern."""
        tools = tuple({tool: None for one in self._readers() for tool in one.value.tools})
        if not tools:
            return []
        return [
            Provided(
                value=CloseMatcher(
                    system=pattern.name,
                    literals=pattern.literals,
                    tools=tools,
                    match=partial(self._closes, pattern),
                ),
                source=source_of(pattern),
            )
            for pattern in self._patterns
        ]

    def _detect(self, context: ProjectContext) -> Detection | None:  # noqa: ARG002 - see initialised
        if not self._initialised:
            return None
        readable = bool(self._readers())
        return Detection(marker=KEY, usable=readable, note=_DEFINED if readable else _NO_READER)

    def _readers(self) -> list[Provided[CommandReader]]:
        return self._plugins.command_readers() if self._patterns else []

    def _closes(
        self, pattern: TicketPattern, call: ToolCall, context: ProjectContext
    ) -> list[TicketClose]:
        del context
        return [
            TicketClose(system=pattern.name, ticket_id=ticket_id)
            for words in self._commands(call)
            for ticket_id in ids_closed_by(pattern, words) or ()
        ]

    def _commands(self, call: ToolCall) -> Iterator[Sequence[str | None]]:
        for reader in self._readers():
            if call.name not in reader.value.tools:
                continue
            yield from self._plugins.call(
                reader, reader.value.read, call, seconds=READ_SECONDS, default=()
            )

"""A ticket system with no fault, which those with one are made of.

It keeps its tickets in ``.tracker/tickets.json``; ``tracker done T-1 T-2`` closes them.
"""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final

from grove_core.model.memory import Detection
from grove_core.model.ticket import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_core.plugins.descriptors import CloseMatcher, ProjectContext, TicketProbe
from grove_core.plugins.markers import hookimpl

SYSTEM: Final = "tracker"
FILE: Final = ".tracker/tickets.json"
CLOSES: Final = (("tracker done T-1", ["T-1"]), ("tracker done T-1 T-2", ["T-1", "T-2"]))
LEAVES: Final = ("tracker list", "tracker show T-1")
_LONGEST: Final = 128 * 1024  # what Linux takes as one argument, so that no shell runs more
_HERE_DOCUMENT: Final = re.compile(r"<<-?\s*(['\"]?)(\w+)\1.*?\n\2(?=\n|\Z)", re.DOTALL)


class SoundTracker:
    """What keeps the contract."""

    grove_api = 1

    @hookimpl
    def grove_ticket_probes(self) -> Sequence[TicketProbe]:
        """Offer the tracker."""
        return [
            TicketProbe(
                name=SYSTEM,
                detect=self.detect,
                current_ticket=self.current_ticket,
                sources=self.sources,
            )
        ]

    @hookimpl
    def grove_close_matchers(self) -> Sequence[CloseMatcher]:
        """Offer to recognise its closes."""
        return [
            CloseMatcher(
                system=SYSTEM,
                literals=("tracker",),
                tools=("Bash",),
                match=self.match,
                confirm=self.confirm,
            )
        ]

    def detect(self, context: ProjectContext) -> Any:  # noqa: ANN401 - broken ones give anything
        """Look for the file."""
        path = context.root / FILE
        return Detection(marker=str(path)) if path.is_file() else None

    def current_ticket(self, context: ProjectContext) -> Ticket | None:
        """Read the file; one that is damaged says nothing."""
        try:
            is_file = (context.root / FILE).is_file()
            tickets = json.loads((context.root / FILE).read_text()) if is_file else {}
        except (OSError, ValueError, RecursionError):
            return None
        current = tickets.get("current") if isinstance(tickets, dict) else None
        return Ticket(ticket_id=current, source=SYSTEM) if isinstance(current, str) else None

    def sources(self, context: ProjectContext) -> Sequence[Path]:
        """Name the file."""
        return [context.root / FILE]

    def match(self, call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
        """Read the commands."""
        del context
        return [
            TicketClose(system=SYSTEM, ticket_id=one)
            for words in self.commands(call)
            if words[:2] == ["tracker", "done"]
            for one in words[2:]
        ]

    def commands(self, call: ToolCall) -> Iterator[list[str]]:
        """Divide the text into commands, and them into words."""
        text = call.input.get("command")
        if not isinstance(text, str) or len(text) > _LONGEST:
            return
        lexer = shlex.shlex(_HERE_DOCUMENT.sub("", text), posix=True, punctuation_chars=";&|()\n")
        lexer.whitespace = " \t\r"
        words: list[str] = []
        try:
            for token in lexer:
                if set(token) <= set(";&|()\n"):
                    yield _without_assignments(words)
                    words = []
                else:
                    words.append(token)
        except ValueError:
            return  # a quote that never closes: no shell would run it
        yield _without_assignments(words)

    def confirm(
        self, close: TicketClose, result: ToolResult | None, context: ProjectContext
    ) -> Any:  # noqa: ANN401
        """Believe a failure."""
        del close, context
        failed = result is not None and not result.succeeded
        return Confirmation.NO if failed else Confirmation.UNKNOWN


def _without_assignments(words: Sequence[str]) -> list[str]:
    return [*dropwhile(re.compile(r"\w+=").match, words)]

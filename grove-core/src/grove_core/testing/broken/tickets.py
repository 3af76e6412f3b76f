"""Ticket systems with one fault each, and the rule of the contract that each of them breaks."""

# ruff: noqa: D102 - each class says what is wrong with its methods

import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from grove_core.model.memory import Detection
from grove_core.model.ticket import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_core.plugins.descriptors import CloseMatcher, ProjectContext, TicketProbe
from grove_core.plugins.markers import hookimpl
from grove_core.testing.broken.sound_tracker import FILE, SYSTEM, SoundTracker


class DetectsEverywhere(SoundTracker):
    """Is used in every project."""

    def detect(self, context: ProjectContext) -> Any:  # noqa: ANN401
        return Detection(marker=str(context.root))


class AnswersTrue(SoundTracker):
    """Says that it is used, and not what gives it away."""

    def detect(self, context: ProjectContext) -> Any:  # noqa: ANN401
        return super().detect(context) is not None or None


class WritesDownWhatItSees(SoundTracker):
    """Leaves a file behind when it looks."""

    def detect(self, context: ProjectContext) -> Any:  # noqa: ANN401
        (context.root / "seen").write_text("seen")
        return super().detect(context)


class AsksItsProgram(SoundTracker):
    """Starts a program to find out whether it is used."""

    def detect(self, context: ProjectContext) -> Any:  # noqa: ANN401
        subprocess.run(["true"], check=False)
        return super().detect(context)


class BelievesItsFile(SoundTracker):
    """Reads its file as if nobody could damage it."""

    def current_ticket(self, context: ProjectContext) -> Ticket | None:
        tickets = json.loads((context.root / FILE).read_text())
        return Ticket(ticket_id=tickets["current"], source=SYSTEM)


class WaitsForItsFile(SoundTracker):
    """Opens whatever has the name of its file, a pipe as well."""

    def current_ticket(self, context: ProjectContext) -> Ticket | None:
        with suppress(OSError):
            (context.root / FILE).read_bytes()
        return super().current_ticket(context)


class BelievesItsTypes(SoundTracker):
    """Takes whatever stands in its file for text."""

    def current_ticket(self, context: ProjectContext) -> Ticket | None:
        try:
            tickets = json.loads((context.root / FILE).read_text())
            return Ticket(ticket_id=tickets["current"], source=SYSTEM)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None


class NamesAnotherSource(SoundTracker):
    """Gives a ticket of another system."""

    def current_ticket(self, context: ProjectContext) -> Ticket | None:
        ticket = super().current_ticket(context)
        return evolve(ticket, source="other") if ticket else None


class RelativeSources(SoundTracker):
    """Names what it reads as seen from the project."""

    def sources(self, context: ProjectContext) -> Sequence[Path]:
        del context
        return [Path(FILE)]


class ForgetsASource(SoundTracker):
    """Names its folder's neighbour instead of the file that it reads."""

    def sources(self, context: ProjectContext) -> Sequence[Path]:
        return [context.root / "README.md"]


class FailsAtSubstitutions(SoundTracker):
    """Raises where the shell would have to run one command to know another."""

    def commands(self, call: ToolCall) -> Iterator[list[str]]:
        if "$(" in str(call.input.get("command")):
            raise RuntimeError("nobody knows")
        yield from super().commands(call)


class FindsWordsAnywhere(SoundTracker):
    """Looks for its command in any text."""

    def commands(self, call: ToolCall) -> Iterator[list[str]]:
        text = call.input.get("command")
        for found in re.finditer(r"tracker done[\w -]*", text if isinstance(text, str) else ""):
            yield found[0].split()


class ReadsTheBeginningOnly(SoundTracker):
    """Sees a command only where it is the first one."""

    def commands(self, call: ToolCall) -> Iterator[list[str]]:
        yield from [*super().commands(call)][:1]


class MissesItsOwnLiteral(SoundTracker):
    """Wants a word that its commands need not have."""

    @hookimpl
    def grove_close_matchers(self) -> Sequence[CloseMatcher]:
        return [evolve(one, literals=("tracker finish",)) for one in super().grove_close_matchers()]


class BelievesItsInput(SoundTracker):
    """Takes it that every call has a command."""

    def commands(self, call: ToolCall) -> Iterator[list[str]]:
        yield from super().commands(evolve(call, input={"command": call.input["command"]}))


class FailsAtQuotes(SoundTracker):
    """Raises where a quote is not closed."""

    def commands(self, call: ToolCall) -> Iterator[list[str]]:
        shlex.split(str(call.input.get("command")))
        yield from super().commands(call)


class ChangesTheCall(SoundTracker):
    """Takes what it has read out of the call."""

    def match(self, call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
        found = super().match(call, context)
        if isinstance(call.input, dict):
            call.input.pop("command", None)
        return found


class ClosesForAnother(SoundTracker):
    """Names another system in its closes."""

    def match(self, call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
        return [evolve(one, system="other") for one in super().match(call, context)]


class ClosesWhatItShows(SoundTracker):
    """Takes each command of its program for a close."""

    def match(self, call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
        del context
        return [
            TicketClose(system=SYSTEM, ticket_id=one)
            for words in self.commands(call)
            if words[:1] == ["tracker"]
            for one in words[2:]
        ]


class ForgetsTheSecond(SoundTracker):
    """Sees only one ticket of a command."""

    def match(self, call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
        return super().match(call, context)[:1]


class BelievesFailures(SoundTracker):
    """Takes a command that failed for one that worked."""

    def confirm(
        self, close: TicketClose, result: ToolResult | None, context: ProjectContext
    ) -> Any:  # noqa: ANN401
        del close, result, context
        return Confirmation.YES


class ConfirmsWithTrue(SoundTracker):
    """Answers with a truth value."""

    def confirm(
        self, close: TicketClose, result: ToolResult | None, context: ProjectContext
    ) -> Any:  # noqa: ANN401
        return super().confirm(close, result, context) is Confirmation.YES


class BelievesResults(SoundTracker):
    """Takes every response for what its own program prints."""

    def confirm(
        self, close: TicketClose, result: ToolResult | None, context: ProjectContext
    ) -> Any:  # noqa: ANN401
        if result is not None and result.succeeded and "stdout" in result.response:
            return Confirmation.UNKNOWN
        return super().confirm(close, result, context)


class MatcherWithoutProbe(SoundTracker):
    """Has a matcher for a system that nobody knows."""

    @hookimpl
    def grove_close_matchers(self) -> Sequence[CloseMatcher]:
        others = [evolve(one, system="other") for one in super().grove_close_matchers()]
        return [*super().grove_close_matchers(), *others]


class TextAsLiterals(SoundTracker):
    """Gives one text where a tuple of words belongs."""

    @hookimpl
    def grove_close_matchers(self) -> Sequence[CloseMatcher]:
        text: Any = "tracker"
        return [evolve(one, literals=text) for one in super().grove_close_matchers()]


class ChangesItsMind(SoundTracker):
    """Offers something else each time."""

    def __init__(self) -> None:
        self._times = 0

    @hookimpl
    def grove_ticket_probes(self) -> Sequence[TicketProbe]:
        self._times += 1
        return [evolve(one, paths=(f"p{self._times}",)) for one in super().grove_ticket_probes()]


BROKEN_TICKETS: Final = {
    DetectsEverywhere: "test_empty_project_is_not_detected",
    AnswersTrue: "test_used_project_is_detected",
    WritesDownWhatItSees: "test_looking_touches_nothing",
    AsksItsProgram: "test_looking_touches_nothing",
    BelievesItsFile: "test_damaged_project_is_no_error[no UTF-8]",
    WaitsForItsFile: "test_damaged_project_is_no_error[a pipe]",
    BelievesItsTypes: "test_damaged_project_is_no_error[of other types]",
    NamesAnotherSource: "test_current_ticket_is_a_ticket",
    RelativeSources: "test_sources_are_absolute",
    ForgetsASource: "test_sources_change_with_the_answers",
    FailsAtSubstitutions: "test_any_shell_text_has_an_answer",
    FindsWordsAnywhere: "test_mentioning_is_not_closing",
    ReadsTheBeginningOnly: "test_commands_among_others_still_close",
    MissesItsOwnLiteral: "test_literals_are_in_every_call_that_closes",
    BelievesItsInput: "test_no_input_is_an_error[no field]",
    FailsAtQuotes: "test_no_text_is_an_error[a lone quote]",
    ChangesTheCall: "test_matching_touches_nothing",
    ClosesForAnother: "test_closes_name_their_system",
    ClosesWhatItShows: "test_other_calls_close_nothing",
    ForgetsTheSecond: "test_calls_close_what_they_say",
    BelievesFailures: "test_failure_is_no_success",
    ConfirmsWithTrue: "test_every_result_has_an_answer[a failure]",
    BelievesResults: "test_every_result_has_an_answer[a number]",
    MatcherWithoutProbe: "test_every_matcher_has_a_probe",
    TextAsLiterals: "test_system_is_offered",
    ChangesItsMind: "test_offers_are_the_same_each_time",
}
"""Each of them, and the test that catches it."""

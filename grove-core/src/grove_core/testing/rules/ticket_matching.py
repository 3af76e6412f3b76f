"""Which tickets a tool call would close."""

import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve

from grove_core.hooks.fast import contains_word
from grove_core.model.ticket import TicketClose, ToolCall
from grove_core.plugins.descriptors import CloseMatcher, ProjectContext
from grove_core.testing.calls import (
    HOSTILE_INPUTS,
    HOSTILE_TEXTS,
    SHELL,
    dressings,
    mentions,
    shell_call,
)
from grove_core.testing.rules.bounds import bounds
from grove_core.testing.rules.ticket_offers import (
    TicketOffers,
    Untouched,
    as_call,
    closed_ids,
    looks_at,
)
from grove_core.testing.verdict import expect, require, rule
from grove_core.ticketing.answers import is_close, is_list

_MATCH: Final = "grove_core.CloseMatcher"
_EXAMPLES: Final = 200
_ODD_VALUES: Final[Sequence[Any]] = (None, 7, [], {}, "", "\0", ["x", {}], True)


class MatchingRules(TicketOffers):
    """Reading tool calls."""

    @rule(_MATCH)
    def test_calls_close_what_they_say(self, empty_project: Path) -> None:
        """Each call of `closes` would close its tickets, in their order."""
        for call, ids in self.calls(empty_project):
            found = closed_ids(self.matchers(), call, self.context(empty_project))
            expect(found, ids, f"what {call.input} would close")

    @rule(_MATCH)
    def test_other_calls_close_nothing(self, empty_project: Path) -> None:
        """Calls of `leaves`, and calls of tools that have nothing to do with tickets, do not."""
        others = ["", "true", "ls -la", "git status && make test", "cat README.md | head -3"]
        for each in [*self.leaves, *others]:
            call = as_call(each, empty_project)
            found = closed_ids(self.matchers(), call, self.context(empty_project))
            expect(found, [], f"what {call.input} would close")

    @rule(_MATCH)
    def test_mentioning_is_not_closing(self, empty_project: Path) -> None:
        """A command that stands in a text, a comment or a here-document closes nothing."""
        for line, _ in self.shell_lines():
            for text in mentions(line):
                call = shell_call(text, str(empty_project))
                found = closed_ids(self.matchers(), call, self.context(empty_project))
                expect(found, [], f"what {text!r} would close")

    @rule(_MATCH)
    def test_commands_among_others_still_close(self, empty_project: Path) -> None:
        """A command closes the same tickets after &&, in several lines, and in a subshell."""
        for line, ids in self.shell_lines():
            for text in dressings(line):
                call = shell_call(text, str(empty_project))
                found = closed_ids(self.matchers(), call, self.context(empty_project))
                expect(found, ids, f"what {text!r} would close")

    @rule("grove_core.CloseMatcher")
    def test_literals_are_in_every_call_that_closes(self, empty_project: Path) -> None:
        """Each matched call contains a literal of the matcher as whole words."""
        for call, _ in self.calls(empty_project):
            for matcher in self.matchers():
                if _closes(matcher, call, self.context(empty_project)):
                    _expect_literals(matcher, call)

    @pytest.mark.parametrize("text", [*HOSTILE_TEXTS])
    @rule(_MATCH)
    def test_no_text_is_an_error(self, empty_project: Path, text: str) -> None:
        """Whatever a shell is given, a matcher answers with a list of TicketClose."""
        hostile = HOSTILE_TEXTS[text]
        lines = [each for each, _ in self.closes if isinstance(each, str)]
        variants = [hostile, *(f"{line} {hostile}" for line in lines)]
        variants += [f"{hostile}\n{line}" for line in lines]
        for one in variants:
            self._reads(one, empty_project)

    @pytest.mark.parametrize("odd", [*HOSTILE_INPUTS])
    @rule(_MATCH)
    def test_no_input_is_an_error(self, empty_project: Path, odd: str) -> None:
        """Whatever a tool is given, a matcher answers with a list of TicketClose."""
        names = {SHELL, *(call.name for call, _ in self.closes if isinstance(call, ToolCall))}
        names |= {tool.replace("*", "any") for one in self.matchers() for tool in one.tools}
        for name in sorted(names):
            self._answers(ToolCall(name=name, input=HOSTILE_INPUTS[odd]), empty_project)
        for given, _ in self.closes:
            call = as_call(given, empty_project)
            for field in call.input:
                for value in _ODD_VALUES:
                    changed = {**call.input, field: value}
                    self._answers(evolve(call, input=changed), empty_project)

    @rule(_MATCH)
    def test_any_shell_text_has_an_answer(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        """Of any text around a close or a literal, a matcher makes a list of TicketClose."""
        pytest.importorskip("hypothesis", reason="hypothesis makes the texts")
        from grove_core.testing.strategies import shell_texts

        lines = [each for each, _ in self.closes if isinstance(each, str)]
        lines += [literal for one in self.matchers() for literal in one.literals]
        project = tmp_path_factory.mktemp("any text")
        _try_all(shell_texts(lines), lambda text: self._reads(text, project))

    @rule(_MATCH)
    def test_matching_touches_nothing(self, empty_project: Path) -> None:
        """Matching runs nothing, asks nobody, and changes neither its input nor anything else."""
        for call, _ in self.calls(empty_project):
            context, before = self.context(empty_project), deepcopy((call.input, call.name))
            for matcher in self.matchers():
                if looks_at(matcher, call):
                    with Untouched(empty_project, "match"):
                        first = [*matcher.match(call, context)]
                    expect([*matcher.match(call, context)], first, "what it gives a second time")
            expect((call.input, call.name), before, "the call afterwards")

    @rule(_MATCH)
    def test_closes_name_their_system(self, empty_project: Path) -> None:
        """Each close names the system whose matcher has found it."""
        for call, _ in self.calls(empty_project):
            for matcher in self.matchers():
                for close in _closes(matcher, call, self.context(empty_project)):
                    expect(close.system, matcher.system, f"the system of a close in {call.input}")

    def _answers(self, call: ToolCall, project: Path) -> None:
        for matcher in self.matchers():
            _closes(matcher, call, self.context(project))

    def _reads(self, text: str, project: Path) -> None:
        call = shell_call(text, str(project))
        for matcher in self.matchers():
            if _closes(matcher, call, self.context(project)):
                _expect_literals(matcher, call)


def _closes(
    matcher: CloseMatcher, call: ToolCall, context: ProjectContext
) -> Sequence[TicketClose]:
    if not looks_at(matcher, call):
        return ()
    answer: Any = matcher.match(call, context)
    require(
        is_list(answer) and all(is_close(one) for one in answer),
        expected=f"a list of sound TicketClose for {str(call.input)[:200]}",
        found=answer,
    )
    return list(answer)


def _expect_literals(matcher: CloseMatcher, call: ToolCall) -> None:
    """Look for them in the way of the hooks."""
    data = json.dumps(call.input).encode()
    found = [
        literal
        for literal in matcher.literals
        if all(contains_word(data, word.encode(), 0) for word in literal.split())
    ]
    what = f"one of {matcher.literals} in {str(call.input)[:200]}, which closes something"
    require(bool(found), expected=what, found=found)


def _try_all(texts: Any, call: Any) -> None:  # noqa: ANN401 - hypothesis may not be there
    from hypothesis import HealthCheck, given, settings

    @settings(**bounds(_EXAMPLES), suppress_health_check=[*HealthCheck], database=None)
    @given(text=texts)
    def try_one(text: str) -> None:
        call(text)

    try_one()

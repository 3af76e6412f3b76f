"""Reads shell text into units: what a shell reads before it runs anything of it."""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from grove_tickets.shell.compounds import BLANKS, COMMENT, END, FUNCTION_SIGN, LINES, CompoundReader
from grove_tickets.shell.limits import Budget, ShellSyntaxError
from grove_tickets.shell.outline import Outline
from grove_tickets.shell.syntax import (
    Assignment,
    Heredoc,
    Opaque,
    Redirection,
    Script,
    Text,
    Unit,
    Word,
)

_OPERATOR: Final = re.compile(r";;&|;;|;&|&&|\|\||\|&|[;&|]")
_REDIRECTION: Final = re.compile(
    r"([0-9]+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>)"
)
_KEYWORD: Final = re.compile(
    r"(if|then|elif|else|fi|while|until|for|select|do|done|case|esac|function|coproc"
    rf"|time(?![ \t]++-(?!p{END}))|\{{|\}}|!|\[\[){END}"
)
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*+)((?:\[[^]\n'\"`$ ]*\])?\+?=)")
_HEREDOC_STEPS: Final = 20
_SCRIPT_STEPS: Final = 4
_UNIT_STEPS: Final = 4


class ScriptReader(CompoundReader):
    """Reads the units of a text, one after another."""

    def __init__(self, text: str, budget: Budget) -> None:
        super().__init__(text, budget)
        self._pending: list[Heredoc] = []
        self._nested = False

    def units(self) -> Iterator[Unit]:
        """Read the units of the text, each when it is asked for."""
        while self.position < len(self.text):
            unit = self._unit()
            if unit is not None:
                yield unit

    def script_within(self) -> Script:
        """Read a script up to the parenthesis that closes it, and past that."""
        outer = self.outline, self._pending, self._nested
        self._pending, self._nested = [], True
        units = []
        try:
            with self.budget:
                while not self.text.startswith(")", self.position):
                    if self.position >= len(self.text):
                        raise ShellSyntaxError
                    units.append(self._unit())
        finally:
            waiting = self._pending
            self.outline, self._pending, self._nested = outer
        # `$(cat <<E)`: the body follows the line that the parenthesis closes on.
        self._pending = [*self._pending, *waiting]
        self.position += 1
        return Script(tuple(unit for unit in units if unit is not None))

    def script_apart(self, text: str) -> Script:
        """Read a script that stands in a text of its own, as far as it can be read."""
        units = []
        self.budget.spend(_SCRIPT_STEPS)
        with self.budget, suppress(ShellSyntaxError):
            # What stands before an error counts.
            for unit in ScriptReader(text, self.budget).units():
                units.append(unit)  # noqa: PERF402 - as said
        return Script(tuple(units))

    def _unit(self) -> Unit | None:
        """Read up to the end of a line that ends a command, or to a closing parenthesis."""
        self.outline = outline = Outline()
        while self.position < len(self.text):
            self.budget.spend()
            sign = self.text[self.position]
            if sign == "\n":
                self._end_line()
                if outline.is_complete:
                    break
            elif sign == ")" and not outline.in_pattern and outline.inside != "(":
                if not self._nested or outline.inside:
                    raise ShellSyntaxError
                break
            else:
                self._token(outline)
        self.budget.spend(_UNIT_STEPS)
        return outline.finish()

    def _token(self, outline: Outline) -> None:
        if self.skip(BLANKS) or self.skip(COMMENT):
            return
        if outline.in_pattern:
            self.pattern()
        elif redirection := _REDIRECTION.match(self.text, self.position):
            self._redirect(redirection)
        elif operator := self.take(_OPERATOR):
            outline.operator({"|&": "|", ";;&": ";&"}.get(operator, operator))
        elif self.text[self.position] == ")":
            self.position += 1
            outline.close(")")
        elif self.text[self.position] == "(":
            self.parenthesis()
        elif outline.starts_command and (keyword := self.take(_KEYWORD)):
            self.keyword(keyword)
        else:
            self._word()

    def _word(self) -> None:
        outline = self.outline
        assignment = _ASSIGNMENT.match(self.text, self.position)
        if assignment is not None:
            outline.word(self._assignment(assignment))
            return
        word = self.required_word()
        if outline.begins and self.take(FUNCTION_SIGN):
            self.define(word)
        else:
            outline.word(word)

    def _assignment(self, match: re.Match[str]) -> Assignment:
        self.position = match.end()
        elements = None
        word = Word(())
        if self.text.startswith("(", self.position):
            self.position += 1
            elements = self._elements()
        else:
            word = self.word()
        return Assignment(name=match[1], word=word, elements=elements, operator=match[2])

    def _elements(self) -> tuple[Word, ...]:
        """Read the elements of an array up to its closing parenthesis, and past that."""
        words = []
        self.skip(LINES)
        while not self.text.startswith(")", self.position):
            words.append(self.required_word())
            self.skip(LINES)
        self.position += 1
        return tuple(words)

    def _redirect(self, match: re.Match[str]) -> None:
        self.position = match.end()
        self.skip(BLANKS)
        start = self.position
        target: Word | Heredoc = self.required_word()
        if match[2] in {"<<", "<<-"}:
            self.budget.spend(_HEREDOC_STEPS)
            raw = self.text[start : self.position]
            delimiter = re.sub(r"""['"\\]""", "", raw)
            target = Heredoc(delimiter, delimiter != raw, match[2] == "<<-")
            self._pending.append(target)
        self.outline.redirect(
            Redirection(operator=match[2], descriptor=match[1] or "", target=target)
        )

    def _end_line(self) -> None:
        self.position += 1
        self.outline.end_line()
        for heredoc in self._pending:
            self._read_body(heredoc)
        self._pending = []

    def _read_body(self, heredoc: Heredoc) -> None:
        tabs = r"\t*" if heredoc.strips_tabs else ""
        ends = r"(?:\n|\Z|(?=\)))" if self._nested else r"(?:\n|\Z)"
        last_line = re.compile(rf"\n{tabs}{re.escape(heredoc.delimiter)}{ends}")
        match = last_line.search(self.text, self.position - 1)
        end = len(self.text) if match is None else match.start() + 1
        body = self.text[self.position : end]
        self.position = end if match is None else match.end()
        if heredoc.strips_tabs:
            body = re.sub(r"(?m)^\t+", "", body)
        heredoc.body = Word((Text(body, quoted=True),))
        if not heredoc.literal:
            with self.budget:
                heredoc.body = self._expanding(body)

    def _expanding(self, body: str) -> Word:
        try:
            return ScriptReader(body, self.budget).body()
        except ShellSyntaxError:  # a shell finds it only when it gets there
            return Word((Opaque(()),))

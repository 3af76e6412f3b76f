"""Reads shell text into units: what a shell reads before it runs anything of it."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import ClassVar, Final

from grove_tickets.shell.lexing import WordReader
from grove_tickets.shell.limits import Budget, ShellSyntaxError
from grove_tickets.shell.outline import FUNCTION, PATTERN_END, Outline
from grove_tickets.shell.syntax import (
    Assignment,
    Heredoc,
    Item,
    Loop,
    Name,
    Negation,
    Opaque,
    Parameter,
    Redirection,
    Script,
    Simple,
    Text,
    Unit,
    Word,
    Words,
)

_END: Final = r"(?=[ \t\n;&|<>()]|\Z)"
_BLANKS: Final = re.compile(r"(?:[ \t]|\\\n)++")
_LINES: Final = re.compile(r"(?:[ \t\n]|\\\n|(?<![^ \t\n;&|()])#[^\n]*+)++")
_COMMENT: Final = re.compile(r"#[^\n]*+")
_OPERATOR: Final = re.compile(r";;&|;;|;&|&&|\|\||\|&|[;&|]")
_REDIRECTION: Final = re.compile(
    r"([0-9]+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>)"
)
_KEYWORD: Final = re.compile(
    r"(if|then|elif|else|fi|while|until|for|select|do|done|case|esac|function|coproc"
    rf"|time(?![ \t]++-(?!p{_END}))|\{{|\}}|!|\[\[){_END}"
)
_FUNCTION: Final = re.compile(r"[ \t]*+\([ \t]*+\)")
_COPROC_NAME: Final = re.compile(r"[ \t]++[A-Za-z_]\w*+(?=[ \t]++[({])")
_TIME_FLAG: Final = re.compile(rf"[ \t]++-p{_END}")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*+)((?:\[[^]\n'\"`$ ]*\])?\+?=)")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_IN: Final = re.compile(rf"in{_END}")
_ESAC: Final = re.compile(rf"esac{_END}")
_TEST_END: Final = re.compile(rf"\]\]{_END}")
_HEAD_END: Final = re.compile(r"[ \t]*+;")
_BODY: Final = re.compile(rf"\n|do{_END}")
_PATTERN_START: Final = re.compile(r"\((?:[ \t]|\\\n)*+")
_BAR: Final = re.compile(r"\|(?:[ \t]|\\\n)*+")
_OPENERS: Final = frozenset({"if", "{", "while", "until"})
_HEREDOC_STEPS: Final = 20
_SCRIPT_STEPS: Final = 4
_UNIT_STEPS: Final = 4


class ScriptReader(WordReader):
    """Reads the units of a text, one after another."""

    def __init__(self, text: str, budget: Budget) -> None:
        super().__init__(text, budget)
        self._outline = Outline()
        self._pending: list[Heredoc] = []
        self._nested = False

    def units(self) -> Iterator[Unit]:
        """Read the units of the text, each when it is asked for.

        Yields:
            A unit.

        Raises:
            ShellSyntaxError: A shell would refuse what stands next, and stop.
        """
        while self.position < len(self.text):
            unit = self._unit()
            if unit is not None:
                yield unit

    def script_within(self) -> Script:
        """Read a script up to the parenthesis that closes it, and past that."""
        outer = self._outline, self._pending, self._nested
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
            self._outline, self._pending, self._nested = outer
        # `$(cat <<E)`: the body follows the line that the parenthesis closes on.
        self._pending = [*self._pending, *waiting]
        self.position += 1
        return Script(tuple(unit for unit in units if unit is not None))

    def script_apart(self, text: str) -> Script:
        """Read a script that stands in a text of its own, as far as it can be read."""
        units = []
        self.budget.spend(_SCRIPT_STEPS)
        with self.budget, suppress(ShellSyntaxError):
            for unit in ScriptReader(text, self.budget).units():
                units.append(unit)  # noqa: PERF402 - what stands before an error counts
        return Script(tuple(units))

    def _unit(self) -> Unit | None:
        """Read up to the end of a line that ends a command, or to a closing parenthesis."""
        self._outline = outline = Outline()
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
        if self._skip(_BLANKS) or self._skip(_COMMENT):
            return
        if outline.in_pattern:
            self._pattern()
        elif redirection := _REDIRECTION.match(self.text, self.position):
            self._redirect(redirection)
        elif operator := self._take(_OPERATOR):
            outline.operator({"|&": "|", ";;&": ";&"}.get(operator, operator))
        elif self.text[self.position] == ")":
            self.position += 1
            outline.close(")")
        elif self.text[self.position] == "(":
            self._parenthesis()
        elif outline.starts_command and (keyword := self._take(_KEYWORD)):
            self._keyword(keyword)
        else:
            self._word()

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        return bool(self._take(pattern))

    def _keyword(self, keyword: str) -> None:
        if keyword in {"then", "elif", "else", "do"}:
            self._outline.middle(keyword)
        elif keyword in {"fi", "done", "esac", "}"}:
            self._outline.close(keyword)
        elif keyword in _OPENERS:
            self._outline.open(keyword)
        else:
            self._HANDLERS[keyword](self)

    def _word(self) -> None:
        outline = self._outline
        assignment = _ASSIGNMENT.match(self.text, self.position)
        if assignment is not None:
            outline.word(self._assignment(assignment))
            return
        word = self._required_word()
        if outline.begins and self._take(_FUNCTION):
            self._define(word)
        else:
            outline.word(word)

    def _required_word(self) -> Word:
        word = self.word()
        if not word.parts:
            raise ShellSyntaxError
        return word

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
        self._skip(_LINES)
        while not self.text.startswith(")", self.position):
            words.append(self._required_word())
            self._skip(_LINES)
        self.position += 1
        return tuple(words)

    def _redirect(self, match: re.Match[str]) -> None:
        self.position = match.end()
        self._skip(_BLANKS)
        start = self.position
        target: Word | Heredoc = self._required_word()
        if match[2] in {"<<", "<<-"}:
            self.budget.spend(_HEREDOC_STEPS)
            raw = self.text[start : self.position]
            delimiter = re.sub(r"""['"\\]""", "", raw)
            target = Heredoc(delimiter, delimiter != raw, match[2] == "<<-")
            self._pending.append(target)
        self._outline.redirect(
            Redirection(operator=match[2], descriptor=match[1] or "", target=target)
        )

    def _end_line(self) -> None:
        self.position += 1
        self._outline.end_line()
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

    def _parenthesis(self) -> None:
        self.position += 1
        if self.text.startswith("(", self.position):
            self.position += 1
            parts = self.arithmetic()
            if parts is not None:
                self._outline.atom(Words((Word(tuple(parts)),)))
                return
            self.position -= 1
        self._outline.open("(")

    def _test(self) -> None:
        """Read a test up to its ``]]``."""
        words = []
        self._skip(_LINES)
        while not self._skip(_TEST_END):
            if self.position >= len(self.text) or self.text[self.position] == ";":
                raise ShellSyntaxError
            word = self.word()
            words.append(word)
            self.position += not word.parts
            self._skip(_LINES)
        self._outline.atom(Words(tuple(words)))

    def _negation(self) -> None:
        if not self._outline.begins:
            raise ShellSyntaxError
        self._outline.emit(self._outline.leaf(Negation()), "|")

    def _function(self) -> None:
        self._skip(_BLANKS)
        word = self._required_word()
        self._skip(_FUNCTION)
        self._define(word)

    def _define(self, word: Word) -> None:
        name = "".join(part.text for part in word.parts if isinstance(part, Text))
        self._outline.emit(self._outline.leaf(Name(name)), FUNCTION)

    def _for(self) -> None:
        self._skip(_BLANKS)
        if self.text.startswith("((", self.position):
            self.position += 2
            words = Words((Word(tuple(self.arithmetic() or ())),))
            self._outline.open("while", self._outline.leaf(words), ";")
            self._skip(_HEAD_END)
        else:
            head = self._outline.leaf(self._loop())
            self._outline.open("for", head, "in", head, ";")

    def _select(self) -> None:
        """Read the head of a menu: what is chosen is read from standard input."""
        self._skip(_BLANKS)
        loop = self._loop()
        reads = (Word((Text("read"),)), Word((Text(loop.name),)))
        self._outline.open("while", self._outline.leaf(Simple(reads, ())), ";")

    def _loop(self) -> Loop:
        name = self._take(_NAME)
        if not name:
            raise ShellSyntaxError
        self._skip(_LINES)
        items: list[Item] = [Word((Parameter(name="@", quoted=True),))]
        if self._skip(_IN):
            items = []
            self._skip(_BLANKS)
            while word := self.word().parts:
                items.append(Word(word))
                self._skip(_BLANKS)
        self._skip(_COMMENT)
        if not self._skip(_HEAD_END) and not _BODY.match(self.text, self.position):
            raise ShellSyntaxError
        return Loop(name, tuple(items))

    def _case(self) -> None:
        self._skip(_BLANKS)
        subject = Words((self._required_word(),))
        self._skip(_LINES)
        if not self._skip(_IN):
            raise ShellSyntaxError
        self._outline.open("case", self._outline.leaf(subject), "in")
        self._outline.in_pattern = True

    def _pattern(self) -> None:
        """Read the pattern of a ``case`` and its parenthesis, or the end of all."""
        if self._skip(_ESAC):
            self._outline.close("esac")
            return
        self._skip(_PATTERN_START)
        words = []
        while True:
            words.append(self._required_word())
            self._skip(_BLANKS)
            if not self._skip(_BAR):
                break
        if not self.text.startswith(")", self.position):
            raise ShellSyntaxError
        self.position += 1
        self._outline.emit(self._outline.leaf(Words(tuple(words))), PATTERN_END)
        self._outline.in_pattern = False

    def _coproc(self) -> None:
        self._skip(_COPROC_NAME)

    def _time(self) -> None:
        self._skip(_TIME_FLAG)

    _HANDLERS: ClassVar[Mapping[str, Callable[["ScriptReader"], None]]] = {
        "for": _for,
        "select": _select,
        "case": _case,
        "function": _function,
        "!": _negation,
        "[[": _test,
        "coproc": _coproc,
        "time": _time,
    }

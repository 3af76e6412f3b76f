"""Reads the heads of compound commands: loops, cases, tests, functions."""

import re
from typing import Final

from grove_tickets.shell.lexing import WordReader
from grove_tickets.shell.limits import Budget, ShellSyntaxError
from grove_tickets.shell.outline import FUNCTION, PATTERN_END, Outline
from grove_tickets.shell.syntax import (
    Item,
    Loop,
    Name,
    Negation,
    Parameter,
    Simple,
    Text,
    Word,
    Words,
)

END: Final = r"(?=[ \t\n;&|<>()]|\Z)"
"""What must stand behind a keyword."""

BLANKS: Final = re.compile(r"(?:[ \t]|\\\n)++")
LINES: Final = re.compile(r"(?:[ \t\n]|\\\n|(?<![^ \t\n;&|()])#[^\n]*+)++")
COMMENT: Final = re.compile(r"#[^\n]*+")
FUNCTION_SIGN: Final = re.compile(r"[ \t]*+\([ \t]*+\)")
_COPROC_NAME: Final = re.compile(r"[ \t]++[A-Za-z_]\w*+(?=[ \t]++(?:\(|\{[ \t\n]))")
_TIME_FLAG: Final = re.compile(rf"[ \t]++-p{END}")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_IN: Final = re.compile(rf"in{END}")
_ESAC: Final = re.compile(rf"esac{END}")
_TEST_END: Final = re.compile(rf"\]\]{END}")
_HEAD_END: Final = re.compile(r"[ \t]*+;")
_BODY: Final = re.compile(rf"\n|do{END}")
_PATTERN_START: Final = re.compile(r"\((?:[ \t]|\\\n)*+")
_BAR: Final = re.compile(r"\|(?:[ \t]|\\\n)*+")


class CompoundReader(WordReader):
    """Reads what begins a compound command."""

    def __init__(self, text: str, budget: Budget) -> None:
        super().__init__(text, budget)
        self.outline = Outline()

    def keyword(self, keyword: str) -> None:
        """Read on behind a keyword."""
        match keyword:
            case "then" | "elif" | "else" | "do":
                self.outline.middle(keyword)
            case "fi" | "done" | "esac" | "}":
                self.outline.close(keyword)
            case "if" | "while" | "until" | "{":
                self.outline.open(keyword)
            case "coproc":
                self.skip(_COPROC_NAME)
            case "time":
                self.skip(_TIME_FLAG)
            case "!":
                self._negation()
            case _:
                self.skip(BLANKS)
                self._head(keyword)

    def _head(self, keyword: str) -> None:
        match keyword:
            case "for":
                self._for()
            case "select":
                self._select()
            case "case":
                self._case()
            case "function":
                word = self.required_word()
                self.skip(FUNCTION_SIGN)
                self.define(word)
            case "[[":
                self._test()

    def parenthesis(self) -> None:
        """Read an arithmetic command, or the opening parenthesis of a subshell."""
        self.position += 1
        if self.text.startswith("(", self.position):
            self.position += 1
            parts = self.arithmetic()
            if parts is not None:
                self.outline.atom(Words((Word(tuple(parts)),)))
                return
            self.position -= 1
        self.outline.open("(")

    def _test(self) -> None:
        """Read a test up to its ``]]``."""
        words = []
        self.skip(LINES)
        while not self.skip(_TEST_END):
            if self.position >= len(self.text) or self.text[self.position] == ";":
                raise ShellSyntaxError
            word = self.word()
            words.append(word)
            self.position += not word.parts
            self.skip(LINES)
        self.outline.atom(Words(tuple(words)))

    def _negation(self) -> None:
        if not self.outline.begins:
            raise ShellSyntaxError
        self.outline.emit(self.outline.leaf(Negation()), "|")

    def define(self, word: Word) -> None:
        """Begin the definition of a function."""
        name = "".join(part.text for part in word.parts if isinstance(part, Text))
        self.outline.emit(self.outline.leaf(Name(name)), FUNCTION)

    def _for(self) -> None:
        if self.text.startswith("((", self.position):
            self.position += 2
            words = Words((Word(tuple(self.arithmetic() or ())),))
            self.outline.open("while", self.outline.leaf(words), ";")
            self.skip(_HEAD_END)
        else:
            head = self.outline.leaf(self._loop())
            self.outline.open("for", head, "in", head, ";")

    def _select(self) -> None:
        """Read the head of a menu: what is chosen is read from standard input."""
        loop = self._loop()
        reads = (Word((Text("read"),)), Word((Text(loop.name),)))
        self.outline.open("while", self.outline.leaf(Simple(reads, ())), ";")

    def _loop(self) -> Loop:
        name = self.take(_NAME)
        if not name:
            raise ShellSyntaxError
        self.skip(LINES)
        items: list[Item] = [Word((Parameter(name="@", quoted=True),))]
        if self.skip(_IN):
            items = []
            self.skip(BLANKS)
            while word := self.word().parts:
                items.append(Word(word))
                self.skip(BLANKS)
        self.skip(COMMENT)
        if not self.skip(_HEAD_END) and not _BODY.match(self.text, self.position):
            raise ShellSyntaxError
        return Loop(name, tuple(items))

    def _case(self) -> None:
        subject = Words((self.required_word(),))
        self.skip(LINES)
        if not self.skip(_IN):
            raise ShellSyntaxError
        self.outline.open("case", self.outline.leaf(subject), "in")
        self.outline.in_pattern = True

    def pattern(self) -> None:
        """Read the pattern of a ``case`` and its parenthesis, or the end of all."""
        if self.skip(_ESAC):
            self.outline.close("esac")
            return
        self.skip(_PATTERN_START)
        words = []
        while True:
            words.append(self.required_word())
            self.skip(BLANKS)
            if not self.skip(_BAR):
                break
        if not self.text.startswith(")", self.position):
            raise ShellSyntaxError
        self.position += 1
        self.outline.emit(self.outline.leaf(Words(tuple(words))), PATTERN_END)
        self.outline.in_pattern = False

    def skip(self, pattern: re.Pattern[str]) -> bool:
        """Go past what a pattern matches; tell whether there is any."""
        return bool(self.take(pattern))

    def required_word(self) -> Word:
        """Read a word where one must stand."""
        word = self.word()
        if not word.parts:
            raise ShellSyntaxError
        return word

"""Reads the words of shell text: quotes, expansions, substitutions."""

import re
from typing import Final, TypeVar

from grove_tickets.shell.expansion import unescaped
from grove_tickets.shell.limits import Budget, ShellSyntaxError
from grove_tickets.shell.syntax import Opaque, Output, Parameter, Part, Quoted, Script, Text, Word

_PLAIN: Final = re.compile(r"[^ \t\n;&|<>()'\"\\$`]++")
_PLAIN_IN_QUOTES: Final = re.compile(r"[^\"\\$`]++")
PLAIN_IN_HEREDOC: Final = re.compile(r"[^\\$`]++")
_PLAIN_IN_QUOTED_BRACES: Final = re.compile(r"[^}\"\\$`]++")
_PLAIN_IN_BRACES: Final = re.compile(r"[^}'\"\\$`]++")
_ARITHMETIC: Final = re.compile(r"\(\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\)\)")
_SPACE: Final = re.compile(r"[ \t\n]++")
_BACKQUOTED: Final = re.compile(r"`((?:[^`\\]++|\\.)*+)`", re.DOTALL)
_RAW: Final = re.compile(r"'([^']*+)'")
_ANSI_C: Final = re.compile(r"\$'((?:[^'\\]++|\\.)*+)'", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE: Final = re.compile(rf"\$({_NAME.pattern}|[0-9@*#?$!-])")
_PARAMETER: Final = re.compile(rf"\$\{{({_NAME.pattern}|[0-9]+|[@*])(\}}|:-|:?=)")
_CHARACTERS_OF_A_STEP: Final = 16
_Found = TypeVar("_Found")


def required(found: _Found | None) -> _Found:
    """Return what has been found where something must stand."""
    if not found:
        raise ShellSyntaxError
    return found


class WordReader:
    """Reads words from a text, one after another."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self.position = 0
        self.budget = budget

    def commands(self) -> Script:
        """Read commands up to the first sign or word that ends a list of them."""
        raise NotImplementedError

    @property
    def at_end(self) -> bool:
        """Whether all has been read."""
        return self.position >= len(self.text)

    def word(self) -> Word:
        """Read a word; an empty one where none begins."""
        parts: list[Part] = []
        while part := self._part(_PLAIN):
            parts.append(part)
        return tuple(parts)

    def arithmetic(self) -> Opaque | None:
        """Read an arithmetic expression in its parentheses, if there is one."""
        expression = self.take(_ARITHMETIC)
        return Opaque((), tuple(_NAME.findall(expression))) if expression else None

    def take(self, pattern: re.Pattern[str]) -> str:
        """Read what a pattern matches, if it does."""
        match = pattern.match(self.text, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return match[0]

    def starts(self, text: str) -> bool:
        """Return whether the rest begins with a text."""
        return self.text.startswith(text, self.position)

    def quoted(self, end: str, plain: re.Pattern[str]) -> Quoted:
        """Read quoted text up to a sign and past it, or to the end of all."""
        parts: list[Part] = []
        with self.budget:
            while not (self.starts(end) if end else self.at_end):
                self.budget.spend()
                text = self.take(plain)
                if text:
                    parts.append(Text(text))
                elif self.starts("\\"):
                    parts.append(self._escaped(f"$`\\\n{end}"))
                elif self.starts('"'):
                    self.position += 1
                    parts.append(self.quoted('"', _PLAIN_IN_QUOTES))
                else:
                    parts.append(self._expansion(is_quoted=True))
        self.position += len(end)
        return Quoted(tuple(parts))

    def substitution(self) -> Output:
        """Read commands in parentheses."""
        self.position += 1
        script = self.commands()
        required(self.starts(")"))
        self.position += 1
        return Output(script)

    def _part(self, plain: re.Pattern[str]) -> Part | None:
        """Read a part of a word; ``None`` where the word ends."""
        self.budget.spend()
        text = self.take(plain)
        if text:
            self.budget.spend(len(text) // _CHARACTERS_OF_A_STEP)
            return Text(text)
        part: Part | None = None
        match self.text[self.position : self.position + 1]:
            case "\\":
                part = self._escaped()
            case "'":
                part = Quoted((Text(self._within(_RAW)),))
            case '"':
                self.position += 1
                part = self.quoted('"', _PLAIN_IN_QUOTES)
            case "$" if self.starts("$'"):
                part = Quoted((Text(unescaped(self._within(_ANSI_C))),))
            case "$" | "`":
                part = self._expansion(is_quoted=False)
            case "<" | ">" if self.text.startswith("(", self.position + 1):
                self.position += 1
                part = Opaque((self.substitution(),))
            case "(" if self.text.endswith("=", 0, self.position):
                part = self._elements()
        return part

    def _elements(self) -> Opaque:
        parts: list[Part] = []
        self.position += 1
        with self.budget:
            while not self.starts(")"):
                word = self.word()
                required(word or self.take(_SPACE))
                parts += word
        self.position += 1
        return Opaque(tuple(parts))

    def _escaped(self, escapable: str = "") -> Part:
        """Read a backslash and what it stands before; outside of quotes, it escapes any sign."""
        sign = self.text[self.position + 1 : self.position + 2]
        escapes = sign != "" and (not escapable or sign in escapable)
        self.position += 2 if escapes else 1
        if escapes and sign == "\n":
            return Text("")
        return Quoted((Text(sign if escapes else "\\"),))

    def _within(self, pattern: re.Pattern[str]) -> str:
        match = required(pattern.match(self.text, self.position))
        self.position = match.end()
        self.budget.spend(len(match[1]) // _CHARACTERS_OF_A_STEP)
        return match[1]

    def _expansion(self, *, is_quoted: bool) -> Part:
        """Read what begins with a dollar sign or a backquote."""
        required(not self.at_end)
        if self.starts("`"):
            text = re.sub(r"\\([$`\\])", r"\1", self._within(_BACKQUOTED))
            return Output(type(self)(text, self.budget).commands())
        if self.starts("${"):
            return self._parameter(is_quoted=is_quoted)
        if self.starts("$("):
            self.position += 1
            return self.arithmetic() or self.substitution()
        variable = self.take(_VARIABLE)
        self.position += not variable
        return Parameter(variable[1:]) if variable else Quoted((Text("$"),))

    def _parameter(self, *, is_quoted: bool) -> Part:
        match = _PARAMETER.match(self.text, self.position)
        self.position = self.position + 2 if match is None else match.end()
        name, sign = ("", "") if match is None else match.groups()
        if sign == "}":
            return Parameter(name)
        rest = self._braced(is_quoted=is_quoted)
        return Parameter(name, rest) if sign == ":-" else Opaque(rest, (name,) if name else ())

    def _braced(self, *, is_quoted: bool) -> Word:
        if is_quoted:
            return (self.quoted("}", _PLAIN_IN_QUOTED_BRACES),)
        parts: list[Part] = []
        with self.budget:
            while part := self._part(_PLAIN_IN_BRACES):
                parts.append(part)
        required(self.starts("}"))
        self.position += 1
        return tuple(parts)

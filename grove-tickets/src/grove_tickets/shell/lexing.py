"""Reads the words of shell text: quotes, expansions, substitutions."""

import re
from typing import Final, TypeVar

from grove_tickets.arguments import UNKNOWN
from grove_tickets.shell.expansion import unescaped
from grove_tickets.shell.limits import Budget, ShellSyntaxError
from grove_tickets.shell.syntax import Opaque, Parameter, Part, Script, Substitution, Text, Word

_PLAIN: Final = re.compile(r"[^ \t\n;&|<>()'\"\\$`]++")
_PLAIN_IN_QUOTES: Final = re.compile(r"[^\"\\$`]++")
_PLAIN_IN_HEREDOC: Final = re.compile(r"[^\\$`]++")
_PLAIN_IN_BRACES: Final = re.compile(r"[^}'\"\\$`]++")
_PLAIN_IN_PARENTHESES: Final = re.compile(r"[^()'\"\\$`]++")
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
        while not self.at_end:
            self.budget.spend()
            plain = self.take(_PLAIN)
            if plain:
                self.budget.spend(len(plain) // _CHARACTERS_OF_A_STEP)
                parts.append(Text(plain))
            elif self.starts("(") and self.text.endswith("=", 0, self.position):
                self.position += 1
                parts.append(self.parenthesized(")"))  # the elements of an array
            else:
                found = self._special()
                if found is None:
                    break
                parts += found
        return tuple(parts)

    def body(self) -> Word:
        """Read the whole text as the body of a here-document."""
        return tuple(self._inside("", _PLAIN_IN_HEREDOC, quoted=True))

    def parenthesized(self, end: str) -> Opaque:
        """Read what stands between parentheses and is neither words nor commands."""
        start = self.position
        parts: list[Part] = []
        depth = 0
        with self.budget:
            while depth or not self.starts(end):
                self.budget.spend()
                if self.take(_PLAIN_IN_PARENTHESES):
                    continue
                sign = self.sign()
                if sign in "()":
                    self.position += 1
                    depth += 1 if sign == "(" else -1
                    required(depth >= 0)
                else:
                    parts += self._special() or []
        self.position += len(end)
        names = _NAME.findall(self.text, start, self.position) if end == "))" else ()
        return Opaque(tuple(parts), tuple(names))

    def arithmetic(self, opening: str) -> Opaque | None:
        """Read an arithmetic expression, if there is one."""
        start = self.position
        if not self.starts(opening):
            return None
        try:
            self.position += len(opening)
            return self.parenthesized("))")
        except ShellSyntaxError:
            self.position = start
            return None

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

    def sign(self) -> str:
        """Return the next sign, which there must be."""
        required(not self.at_end)
        return self.text[self.position]

    def _special(self) -> list[Part] | None:
        """Read a part of a word that begins with a sign; ``None`` where the word ends."""
        sign = self.text[self.position]
        if sign == "\\":
            return [self._escaped("", quoted=False)]
        if sign == "'":
            return [Text(self._within(_RAW), quoted=True)]
        if sign == '"':
            self.position += 1
            return self._inside('"', _PLAIN_IN_QUOTES, quoted=True) or [Text("", quoted=True)]
        if sign in "$`":
            return [self._expansion(quoted=False)]
        if sign in "<>" and self.text.startswith("(", self.position + 1):
            self.position += 1
            return [Opaque((self.substitution(quoted=True),))]
        return None

    def _inside(self, end: str, plain: re.Pattern[str], *, quoted: bool) -> list[Part]:
        """Read up to a sign and past it, or to the end of all."""
        parts: list[Part] = []
        escapable = f"$`\\\n{end}"
        with self.budget:
            while not (self.starts(end) if end else self.at_end):
                self.budget.spend()
                text = self.take(plain)
                if text:
                    parts.append(Text(text, quoted=quoted))
                elif self.sign() in "$`":
                    parts.append(self._expansion(quoted=quoted))
                elif quoted and self.starts("\\"):
                    parts.append(self._escaped(escapable, quoted=True))
                elif quoted and self.starts("'"):
                    self._within(_RAW)
                    parts.append(Text(UNKNOWN, quoted=True))  # they quote, and are text as well
                else:
                    parts += self._special() or []
        self.position += len(end)
        return parts

    def _escaped(self, escapable: str, *, quoted: bool) -> Text:
        """Read a backslash and what it stands before; outside of quotes, it escapes any sign."""
        sign = self.text[self.position + 1 : self.position + 2]
        escapes = sign != "" and (sign in escapable or not quoted)
        self.position += 2 if escapes else 1
        if escapes and sign == "\n":
            return Text("", quoted=quoted)
        return Text(sign if escapes else "\\", quoted=True)

    def _within(self, pattern: re.Pattern[str]) -> str:
        """Read what stands between quotes."""
        match = required(pattern.match(self.text, self.position))
        self.position = match.end()
        self.budget.spend(len(match[1]) // _CHARACTERS_OF_A_STEP)
        return match[1]

    def _expansion(self, *, quoted: bool) -> Part:
        """Read what begins with a dollar sign or a backquote."""
        if self.starts("`"):
            text = re.sub(r"\\([$`\\])", r"\1", self._within(_BACKQUOTED))
            return Substitution(type(self)(text, self.budget).commands(), quoted)
        if self.starts("${"):
            return self._parameter(quoted=quoted)
        if expression := self.arithmetic("$(("):
            return expression
        if self.starts("$("):
            self.position += 1
            return self.substitution(quoted=quoted)
        if not quoted and self.starts("$'"):
            return Text(unescaped(self._within(_ANSI_C)), quoted=True)
        variable = self.take(_VARIABLE)
        self.position += not variable
        return Parameter(name=variable[1:], quoted=quoted) if variable else Text("$", quoted=True)

    def substitution(self, *, quoted: bool) -> Substitution:
        """Read commands in parentheses."""
        self.position += 1
        script = self.commands()
        required(self.starts(")"))
        self.position += 1
        return Substitution(script, quoted)

    def _parameter(self, *, quoted: bool) -> Part:
        match = _PARAMETER.match(self.text, self.position)
        self.position = self.position + 2 if match is None else match.end()
        name, sign = ("", "") if match is None else match.groups()
        rest = () if sign == "}" else tuple(self._inside("}", _PLAIN_IN_BRACES, quoted=quoted))
        if sign in {"}", ":-"}:
            return Parameter(name=name, default=rest if sign == ":-" else None, quoted=quoted)
        return Opaque(rest, (name,) if name else ())

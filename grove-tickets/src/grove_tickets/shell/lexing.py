"""Reads the words of shell text: quotes, expansions, substitutions."""

import re
from abc import ABC, abstractmethod
from typing import Final, TypeVar

from grove_tickets.arguments import UNKNOWN
from grove_tickets.shell.limits import Budget, ShellSyntaxError
from grove_tickets.shell.syntax import Opaque, Parameter, Part, Script, Substitution, Text, Word
from grove_tickets.shell.words import unescaped

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
_PARAMETER: Final = re.compile(rf"\$\{{({_NAME.pattern}|[0-9]+|[@*])(\}}|:-)")
_ASSIGNING_PARAMETER: Final = re.compile(rf"\$\{{({_NAME.pattern}):?=")
_CHARACTERS_OF_A_STEP: Final = 16
_STEPS_OF_A_SCRIPT: Final = 4
_BEFORE_PARENTHESES: Final = ("?", "*", "+", "@", "!", "=")
"""Ends of unquoted text that a parenthesis may follow: those of file patterns and of arrays."""


_Found = TypeVar("_Found")


def required(found: _Found | None) -> _Found:
    """Return what has been found where something must stand."""
    if not found:
        raise ShellSyntaxError
    return found


class WordReader(ABC):
    """Reads words from a text, one after another."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self.position = 0
        self.budget = budget
        self.nested = False

    @abstractmethod
    def commands(self) -> Script:
        """Read commands up to the first sign or word that ends a list of them."""

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
            elif self.starts("("):
                match parts:
                    case [*_, Text(text, quoted=False)] if text.endswith(_BEFORE_PARENTHESES):
                        self.position += 1
                        parts.append(self.parenthesized(")"))
                    case _:
                        break
            else:
                found = self._special()
                if found is None:
                    break
                parts += found
        return tuple(parts)

    def body(self) -> Word:
        """Read the whole text as the body of a here-document."""
        return tuple(self._quoted(_PLAIN_IN_HEREDOC, "", "$`\\"))

    def parenthesized(self, end: str) -> Opaque:
        """Read what stands between parentheses and is neither words nor commands."""
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
        return Opaque(tuple(parts))

    def arithmetic(self) -> Opaque | None:
        """Read an arithmetic expression behind its ``((``; ``None`` where it is none."""
        start = self.position
        try:
            inner = self.parenthesized("))")
        except ShellSyntaxError:
            self.position = start
            return None
        return Opaque(inner.parts, tuple(_NAME.findall(self.text, start, self.position)))

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
            return [self._escaped()]
        if sign == "'":
            return [self._raw()]
        if sign == '"':
            self.position += 1
            return self._quoted(_PLAIN_IN_QUOTES, '"', '$`"\\') or [Text("", quoted=True)]
        if sign in "$`":
            return self._expansion(quoted=False)
        if sign in "<>" and self.text.startswith("(", self.position + 1):
            self.position += 1
            return [Opaque((self._substitution(quoted=True),))]
        return None

    def _escaped(self) -> Text:
        sign = self.text[self.position + 1 : self.position + 2]
        self.position += 2
        return Text("") if sign == "\n" else Text(sign or "\\", quoted=True)

    def _raw(self) -> Text:
        match = required(_RAW.match(self.text, self.position))
        self.position = match.end()
        return Text(match[1], quoted=True)

    def _quoted(self, plain: re.Pattern[str], end: str, escapable: str) -> list[Part]:
        """Read text that is not split, up to a sign and past it, or to the end of all."""
        parts: list[Part] = []
        with self.budget:
            while not (self.starts(end) if end else self.at_end):
                self.budget.spend()
                text = self.take(plain)
                if text:
                    parts.append(Text(text, quoted=True))
                elif self.sign() == "\\":
                    parts.append(self._escaped_in_quotes(escapable))
                else:
                    parts += self._expansion(quoted=True)
        self.position += len(end)
        return parts

    def _escaped_in_quotes(self, escapable: str) -> Text:
        sign = self.text[self.position + 1 : self.position + 2]
        if sign == "\n":
            self.position += 2
            return Text("", quoted=True)
        escaped = sign != "" and sign in escapable
        self.position += 2 if escaped else 1
        return Text(sign if escaped else "\\", quoted=True)

    def _expansion(self, *, quoted: bool) -> list[Part]:
        """Read what begins with a dollar sign or a backquote."""
        if self.starts("`"):
            return [self._backquoted(quoted=quoted)]
        if self.starts("${"):
            return [self._parameter(quoted=quoted)]
        if self.starts("$("):
            return [self._parenthesized_substitution(quoted=quoted)]
        if not quoted and self.starts("$'"):
            return [self._ansi_c()]
        return self._variable(quoted=quoted)

    def _variable(self, *, quoted: bool) -> list[Part]:
        variable = _VARIABLE.match(self.text, self.position)
        if variable is not None:
            self.position = variable.end()
            return [Parameter(name=variable[1], quoted=quoted)]
        self.position += 1
        if not quoted and self.starts('"'):
            return []  # `$"…"` is like `"…"`
        return [Text(UNKNOWN if self.starts(UNKNOWN) else "$", quoted=True)]

    def _parenthesized_substitution(self, *, quoted: bool) -> Part:
        if self.starts("$(("):
            self.position += 3
            expression = self.arithmetic()
            if expression is not None:
                return expression
            self.position -= 3
        self.position += 1
        return self._substitution(quoted=quoted)

    def _ansi_c(self) -> Text:
        match = required(_ANSI_C.match(self.text, self.position))
        self.position = match.end()
        self.budget.spend(len(match[1]) // _CHARACTERS_OF_A_STEP)
        return Text(unescaped(match[1]), quoted=True)

    def _backquoted(self, *, quoted: bool) -> Substitution:
        match = required(_BACKQUOTED.match(self.text, self.position))
        self.position = match.end()
        self.budget.spend(_STEPS_OF_A_SCRIPT)
        escapes = r"\\([$`\\\"])" if quoted else r"\\([$`\\])"
        inner = type(self)(re.sub(escapes, r"\1", match[1]), self.budget)
        script = inner.commands()
        required(inner.at_end)
        return Substitution(script, quoted)

    def _substitution(self, *, quoted: bool) -> Substitution:
        """Read commands in parentheses."""
        self.position += 1
        outer, self.nested = self.nested, True
        script = self.commands()
        self.nested = outer
        required(self.starts(")"))
        self.position += 1
        return Substitution(script, quoted)

    def _parameter(self, *, quoted: bool) -> Part:
        match = _PARAMETER.match(self.text, self.position)
        if match is None:
            assigned = _ASSIGNING_PARAMETER.match(self.text, self.position)
            self.position += 2
            return Opaque(self._braced(quoted=quoted), assigned.groups() if assigned else ())
        self.position = match.end()
        default = None if match[2] == "}" else self._braced(quoted=quoted)
        return Parameter(name=match[1], default=default, quoted=quoted)

    def _braced(self, *, quoted: bool) -> Word:
        """Read on to a closing brace and past it."""
        parts: list[Part] = []
        with self.budget:
            while not self.starts("}"):
                self.budget.spend()
                text = self.take(_PLAIN_IN_BRACES)
                if text:
                    parts.append(Text(text, quoted=quoted))
                elif self.sign() in "$`":
                    parts += self._expansion(quoted=quoted)
                elif quoted and self.starts("\\"):
                    parts.append(self._escaped_in_quotes('$`"\\}'))
                elif quoted and self.starts("'"):
                    raw = f"'{self._raw().text}'"  # the quotes are text, and yet they quote
                    parts.append(
                        Text(raw if _PLAIN_IN_QUOTES.fullmatch(raw) else UNKNOWN, quoted=quoted)
                    )
                else:
                    parts += self._special() or []
        self.position += 1
        return tuple(parts)

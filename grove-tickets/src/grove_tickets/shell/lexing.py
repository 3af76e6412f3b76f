"""Reads the words of shell text: quotes, expansions, substitutions, here-documents."""

import re
from abc import ABC, abstractmethod
from typing import Final

from grove_tickets.shell.limits import Budget, ShellSyntaxError
from grove_tickets.shell.quoting import ansi_c
from grove_tickets.shell.syntax import (
    Changes,
    Opaque,
    Parameter,
    Part,
    ProcessSubstitution,
    Script,
    Substitution,
    Text,
    Word,
)
from grove_tickets.shell.words import UNKNOWN

_PLAIN: Final = re.compile(r"[^ \t\n;&|<>()'\"\\$`]++")
_PLAIN_IN_QUOTES: Final = re.compile(r"[^\"\\$`]++")
_PLAIN_IN_HEREDOC: Final = re.compile(r"[^\\$`]++")
_PLAIN_IN_BRACES: Final = re.compile(r"[^}'\"\\$`]++")
_PLAIN_IN_PARENTHESES: Final = re.compile(r"[^()'\"\\$`]++")
_BACKQUOTED: Final = re.compile(r"`((?:[^`\\]++|\\.)*+)`", re.DOTALL)
_ANSI_C: Final = re.compile(r"\$'((?:[^'\\]++|\\.)*+)'", re.DOTALL)
_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_ASSIGNED: Final = re.compile(
    rf"({_NAME})[ \t]*+(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))|(?:\+\+|--)[ \t]*+({_NAME})"
)
_VARIABLE: Final = re.compile(rf"\$({_NAME}|[0-9@*#?$!-])")
_PARAMETER: Final = re.compile(rf"\$\{{(#?)({_NAME}|[0-9]+|[@*#?$!-])(\}}|:?[-=+?])")
_CHARACTERS_OF_A_STEP: Final = 16
_FILE_PATTERN_SIGNS: Final = ("?", "*", "+", "@", "!")


class WordReader(ABC):
    """Reads words from a text, one after another."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self.position = 0
        self.budget = budget

    @abstractmethod
    def script_within(self) -> Script:
        """Read a script up to the parenthesis that closes it, and past that."""

    @abstractmethod
    def script_apart(self, text: str) -> Script:
        """Read a script that stands in a text of its own, as far as it can be read."""

    def word(self) -> Word:
        """Read a word."""
        parts: list[Part] = []
        while self.position < len(self.text):
            self.budget.spend()
            plain = self.take(_PLAIN)
            if plain:
                self.budget.spend(len(plain) // _CHARACTERS_OF_A_STEP)
                parts.append(Text(plain))
            elif self.text[self.position] == "(":
                if not _opens_file_pattern(parts):
                    break
                self.position += 1
                parts += [Text(UNKNOWN), Opaque(tuple(self.parenthesized(")") or ()))]
            else:
                found = self._special()
                if found is None:
                    break
                parts += found
        return Word(tuple(parts))

    def body(self) -> Word:
        """Read the whole text as the body of a here-document."""
        return Word(tuple(self._quoted(_PLAIN_IN_HEREDOC, "", "$`\\")))

    def parenthesized(self, end: str) -> list[Part] | None:
        """Read what stands between parentheses and is neither words nor commands."""
        parts: list[Part] = []
        depth = 0
        with self.budget:
            while depth or not self.text.startswith(end, self.position):
                self.budget.spend()
                if self.position >= len(self.text):
                    raise ShellSyntaxError
                if self.take(_PLAIN_IN_PARENTHESES):
                    continue
                sign = self.text[self.position]
                if sign in "()":
                    self.position += 1
                    depth += 1 if sign == "(" else -1
                    if depth < 0:
                        return None
                else:
                    parts += self._special() or []
        self.position += len(end)
        return parts

    def arithmetic(self) -> list[Part] | None:
        """Read an arithmetic expression behind its ``((``, and past its ``))``."""
        start = self.position
        try:
            parts = self.parenthesized("))")
        except ShellSyntaxError:
            parts = None
        if parts is None:
            self.position = start
            return None
        found = _ASSIGNED.findall(self.text, start, self.position)
        return [*parts, Changes(tuple(before or behind for before, behind in found))]

    def take(self, pattern: re.Pattern[str]) -> str:
        """Read what a pattern matches, if it does."""
        match = pattern.match(self.text, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return match[0]

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
            self.position += 2
            return [ProcessSubstitution(self.script_within(), reads=sign == ">")]
        return None

    def _escaped(self) -> Text:
        sign = self.text[self.position + 1 : self.position + 2]
        self.position += 2
        return Text("") if sign == "\n" else Text(sign or "\\", quoted=True)

    def _raw(self) -> Text:
        end = self.text.find("'", self.position + 1)
        if end < 0:
            raise ShellSyntaxError
        text = self.text[self.position + 1 : end]
        self.position = end + 1
        return Text(text, quoted=True)

    def _quoted(self, plain: re.Pattern[str], end: str, escapable: str) -> list[Part]:
        """Read text that is not split, up to a sign and past it, or to the end of all."""
        parts: list[Part] = []
        with self.budget:
            while not (end and self.text.startswith(end, self.position)):
                self.budget.spend()
                if self.position >= len(self.text):
                    if end:
                        raise ShellSyntaxError
                    break
                text = self.take(plain)
                if text:
                    parts.append(Text(text, quoted=True))
                elif self.text[self.position] == "\\":
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
        text, start = self.text, self.position
        if text[start] == "`":
            return [self._backquoted(quoted=quoted)]
        if text.startswith("${", start):
            return [self._parameter(quoted=quoted)]
        if text.startswith("$(", start):
            return [self._parenthesized_substitution(quoted=quoted)]
        if not quoted and text.startswith("$'", start):
            return [self._ansi_c()]
        variable = _VARIABLE.match(text, start)
        if variable is None:
            return self._dollar(quoted=quoted)
        self.position = variable.end()
        return [Parameter(name=variable[1], quoted=quoted)]

    def _dollar(self, *, quoted: bool) -> list[Part]:
        """Read a dollar sign that expands nothing; that of `$"…"` is no text."""
        text, start = self.text, self.position
        self.position += 1
        if not quoted and text.startswith('"', start + 1):
            return []
        return [Text(UNKNOWN if text.startswith(UNKNOWN, start + 1) else "$", quoted=True)]

    def _ansi_c(self) -> Text:
        match = _ANSI_C.match(self.text, self.position)
        if match is None:
            raise ShellSyntaxError
        self.position = match.end()
        self.budget.spend(len(match[1]) // _CHARACTERS_OF_A_STEP)
        return Text(ansi_c(match[1], UNKNOWN), quoted=True)

    def _backquoted(self, *, quoted: bool) -> Substitution:
        match = _BACKQUOTED.match(self.text, self.position)
        if match is None:
            raise ShellSyntaxError
        self.position = match.end()
        escapes = r"\\([$`\\\"])" if quoted else r"\\([$`\\])"
        return Substitution(self.script_apart(re.sub(escapes, r"\1", match[1])), quoted)

    def _parenthesized_substitution(self, *, quoted: bool) -> Part:
        if self.text.startswith("$((", self.position):
            self.position += 3
            parts = self.arithmetic()
            if parts is not None:
                return Opaque(tuple(parts))
            self.position -= 3
        self.position += 2
        return Substitution(self.script_within(), quoted)

    def _parameter(self, *, quoted: bool) -> Part:
        match = _PARAMETER.match(self.text, self.position)
        if match is None or (match[1] and match[3] != "}"):
            self.position += 2
            return Opaque(tuple(self._braced(quoted=quoted, raw=True)))
        self.position = match.end()
        argument = None
        operator = "#" if match[1] else ""
        if match[3] != "}":
            operator = match[3]
            argument = Word(tuple(self._braced(quoted=quoted, raw=not quoted)))
        return Parameter(name=match[2], operator=operator, argument=argument, quoted=quoted)

    def _braced(self, *, quoted: bool, raw: bool) -> list[Part]:
        """Read on to a closing brace and past it; ``raw`` is whether single quotes quote."""
        parts: list[Part] = []
        with self.budget:
            while not self.text.startswith("}", self.position):
                self.budget.spend()
                if self.position >= len(self.text):
                    raise ShellSyntaxError
                text = self.take(_PLAIN_IN_BRACES)
                sign = self.text[self.position : self.position + 1]
                if text:
                    parts.append(Text(text, quoted=quoted))
                elif sign == "'" and not raw:
                    inner = self._raw().text
                    is_plain = _PLAIN_IN_QUOTES.sub("", inner) == ""
                    parts.append(Text(f"'{inner}'" if is_plain else UNKNOWN, quoted=True))
                elif sign == "\\" and quoted:
                    parts.append(self._escaped_in_quotes('$`"\\}'))
                elif quoted and self.text.startswith("$'", self.position):
                    self._ansi_c()
                    parts.append(Text(UNKNOWN, quoted=True))  # bash does odd things there
                elif sign in "$`":
                    parts += self._expansion(quoted=quoted)
                else:
                    parts += self._special() or []
        self.position += 1
        return parts


def _opens_file_pattern(parts: list[Part]) -> bool:
    """Return whether a parenthesis behind these parts of a word opens a pattern: ``@(a|b)``."""
    match parts:
        case [*_, Text(text=text, quoted=False)]:
            return text.endswith(_FILE_PATTERN_SIGNS)
        case _:
            return False

"""Expands words: variables, positional parameters, the output of substitutions."""

import re
from collections.abc import Callable, Iterable
from typing import Final

from grove_tickets.arguments import UNKNOWN, is_known
from grove_tickets.shell.limits import Budget
from grove_tickets.shell.scope import Scope
from grove_tickets.shell.syntax import Opaque, Output, Parameter, Part, Quoted, Script, Text, Word

_BREAK: Final = "\0"  # between words while they are expanded; no text of a shell holds it
_QUOTE: Final = "\1"  # in what was quoted, which makes a word even when it is empty
_UNKNOWNS: Final = re.compile(f"{UNKNOWN}+")
_ESCAPE: Final = re.compile(r"\\([nt\\'\"])")
_ODD_ESCAPE: Final = re.compile(r"\\(?:\\\\)*+[^nt\\'\"]")
_LETTERS: Final = {"n": "\n", "t": "\t"}


def unescaped(text: str) -> str:
    """Decode the backslashes of ``$'…'``, ``printf`` and ``echo -e`` that agents use."""
    if _ODD_ESCAPE.search(text):
        return UNKNOWN
    return _ESCAPE.sub(lambda match: _LETTERS.get(match[1], match[1]), text)


class Expander:
    """Expands words in a scope."""

    def __init__(self, budget: Budget, substitute: Callable[[Script, Scope], str | None]) -> None:
        self._budget = budget
        self._substitute = substitute

    def fields(self, words: Iterable[Word], scope: Scope) -> list[str]:
        """Return the words that some words of the text become."""
        fields = _BREAK.join(self._fields(word, scope) for word in words).split(_BREAK)
        return [_finished(field) for field in fields if field]

    def text(self, word: Word, scope: Scope) -> str:
        """Return the text of a word that is not split, such as the value of a variable."""
        return _finished(self._expand(word, scope, splits=False).replace(_BREAK, " "))

    def _fields(self, word: Word, scope: Scope) -> str:
        self._budget.spend(len(word) // 4)
        if _expands_braces(word):
            self.text(word, scope)
            return UNKNOWN  # which may be several words
        return self._expand(word, scope, splits=True)

    def _expand(self, word: Word, scope: Scope, *, splits: bool) -> str:
        return "".join(self._part(part, scope, splits=splits) for part in word)

    def _part(self, part: Part, scope: Scope, *, splits: bool) -> str:
        match part:
            case Text(text):
                return _split(text) if splits else _QUOTE + text
            case Quoted(inner):
                mark = "" if inner == (Parameter("@"),) else _QUOTE
                return mark + self._expand(inner, scope, splits=False)
            case Parameter():
                return self._parameter(part, scope, splits=splits)
            case Output(script):
                output = self._substitute(script, scope)
                output = UNKNOWN if output is None else output.rstrip("\n")
                return self._put(output, scope, splits=splits)
            case Opaque(inner, names):
                self.text(inner, scope)
                scope.forget(names)
        return UNKNOWN

    def _parameter(self, part: Parameter, scope: Scope, *, splits: bool) -> str:
        values = _values(part.name, scope)
        if part.default is not None:
            if values in {None, (), ("",)}:
                return self._expand(part.default, scope, splits=splits)
            self.text(part.default, scope)  # it may be empty after all
        values = (UNKNOWN,) if values is None else values
        if part.name == "*" and not splits:
            values = (" ".join(values),)
        return _BREAK.join(self._put(value, scope, splits=splits) for value in values)

    def _put(self, text: str, scope: Scope, *, splits: bool) -> str:
        """Put a value in, which is split at blanks unless the text has said where to split."""
        if not splits:
            self._budget.spend(len(text) // 256)
            return _QUOTE + text
        self._budget.spend(len(text) // 8)
        return UNKNOWN if "IFS" in scope.variables and text else _split(text)


def _values(name: str, scope: Scope) -> tuple[str, ...] | None:
    """Look a parameter up; ``None`` when the text does not set it."""
    positionals = (UNKNOWN,) if scope.positionals is None else scope.positionals
    if name in {"@", "*"}:
        return positionals
    if not name.isdecimal():
        value = scope.variables.get(name)
        return None if value is None else (value,)
    before = positionals[: int(name)]
    if int(name) == 0 or not all(map(is_known, before)):
        return (UNKNOWN,)  # one that is unknown may stand for any number of them
    return before[-1:] if len(before) == int(name) else ("",)


def _split(text: str) -> str:
    """Split text, and mark what the shell would compare with the names of files."""
    marked = re.sub(r"[*?\[]" if "]" in text else r"[*?]", UNKNOWN, text)
    return re.sub(r"[ \t\n]+", _BREAK, marked)


def _finished(text: str) -> str:
    return _UNKNOWNS.sub(UNKNOWN, text.replace(_QUOTE, ""))


def _expands_braces(word: Word) -> bool:
    """Return whether a word holds braces such as ``{a,b}`` or ``{1..3}``."""
    signs = "".join(part.text if isinstance(part, Text) else "\0" for part in word)
    inside = signs[signs.find("{") + 1 : signs.rfind("}")] if "{" in signs else ""
    return "," in inside or ".." in inside

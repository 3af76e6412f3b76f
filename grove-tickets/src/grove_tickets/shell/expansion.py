"""Expands words: variables, positional parameters, the output of substitutions."""

from collections.abc import Callable, Iterable
from typing import Final

from grove_tickets.arguments import UNKNOWN, is_known
from grove_tickets.shell.limits import Budget
from grove_tickets.shell.scope import Scope
from grove_tickets.shell.syntax import Opaque, Parameter, Part, Script, Substitution, Text, Word
from grove_tickets.shell.words import Fields, mark_patterns

_BYTES_OF_A_STEP: Final = 256
_SPLIT_BYTES_OF_A_STEP: Final = 8
_PARTS_OF_A_STEP: Final = 4


class Expander:
    """Expands words in a scope."""

    def __init__(self, budget: Budget, substitute: Callable[[Script, Scope], str | None]) -> None:
        self._budget = budget
        self._substitute = substitute

    def fields(self, words: Iterable[Word], scope: Scope) -> list[str]:
        """Return the words that some words of the text become."""
        fields = Fields()
        for word in words:
            self._budget.spend(len(word) // _PARTS_OF_A_STEP)
            if _expands_braces(word):
                self.text(word, scope)
                fields.add(UNKNOWN)  # which may be several words
            else:
                for part in word:
                    self._expand(part, scope, fields)
            fields.end()
        return fields.take()

    def text(self, word: Word, scope: Scope) -> str:
        """Return the text of a word that is not split, such as the value of a variable."""
        fields = Fields(splits=False)
        for part in word:
            self._expand(part, scope, fields)
        return " ".join(fields.take())

    def _expand(self, part: Part, scope: Scope, fields: Fields) -> None:
        match part:
            case Text(text, quoted=quoted):
                if quoted or text:
                    fields.add(mark_patterns(text) if fields.splits and not quoted else text)
            case Parameter():
                self._expand_parameter(part, scope, fields)
            case Substitution(script, quoted=quoted):
                output = self._substitute(script, scope)
                output = UNKNOWN if output is None else output.rstrip("\n")
                self._add(output, scope, fields, quoted=quoted)
            case Opaque(parts, names):
                self.text(parts, scope)
                scope.forget(names)
                fields.add(UNKNOWN)

    def _expand_parameter(self, part: Parameter, scope: Scope, fields: Fields) -> None:
        elements = self._value(part, scope)
        if elements is None:
            for inner in part.default or ():
                if isinstance(inner, Text):
                    self._add(inner.text, scope, fields, quoted=inner.quoted)
                else:
                    self._expand(inner, scope, fields)
            return
        if part.quoted and part.name == "*":
            elements = (" ".join(elements),)
        for position, element in enumerate(elements):
            if position:
                fields.end()
            self._add(element, scope, fields, quoted=part.quoted)

    def _add(self, text: str, scope: Scope, fields: Fields, *, quoted: bool) -> None:
        """Add what has been put in, which is split unless it is quoted."""
        if quoted or not fields.splits:
            self._budget.spend(len(text) // _BYTES_OF_A_STEP)
            fields.add(text)
            return
        self._budget.spend(len(text) // _SPLIT_BYTES_OF_A_STEP)
        if "IFS" not in scope.variables:
            fields.split(text)
        elif text:
            fields.add(UNKNOWN)  # the text has said where

    def _value(self, part: Parameter, scope: Scope) -> tuple[str, ...] | None:
        """Return the value of a parameter, or ``None`` where its default takes its place."""
        value = _value(part.name, scope)
        if part.default is None:
            return (UNKNOWN,) if value is None else value
        if not value or value == ("",):
            return None
        self.text(part.default, scope)  # it may be empty after all
        return value


def _value(name: str, scope: Scope) -> tuple[str, ...] | None:
    """Look a parameter up; ``None`` when the text does not set it."""
    positionals = (UNKNOWN,) if scope.positionals is None else scope.positionals
    if name in {"@", "*"}:
        return positionals
    if not name.isdecimal():
        value = scope.variables.get(name)
        return None if value is None else (value,)
    number = int(name)
    if number == 0 or not all(map(is_known, positionals[:number])):
        return (UNKNOWN,)  # one that is unknown may stand for any number of them
    return (positionals[number - 1],) if number <= len(positionals) else ("",)


def _expands_braces(word: Word) -> bool:
    """Return whether a word holds braces such as ``{a,b}`` or ``{1..3}``."""
    signs = "".join(
        part.text if isinstance(part, Text) and not part.quoted else "\0" for part in word
    )
    inside = signs[signs.find("{") + 1 : signs.rfind("}")] if "{" in signs else ""
    return "," in inside or ".." in inside

"""Expands words: variables, positional parameters, arrays, the output of substitutions."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Final

from grove_tickets.shell.braces import expand_braces
from grove_tickets.shell.limits import Budget
from grove_tickets.shell.scope import Scope
from grove_tickets.shell.syntax import (
    Assignment,
    Changes,
    Item,
    Opaque,
    Parameter,
    Part,
    ProcessSubstitution,
    Script,
    Substitution,
    Text,
    Word,
)
from grove_tickets.shell.words import UNKNOWN, Fields, is_known, mark_patterns, merged

_LIST_SIGNS: Final = frozenset({"@", "*"})
_BYTES_OF_A_STEP: Final = 256
_SPLIT_BYTES_OF_A_STEP: Final = 8
_PARTS_OF_A_STEP: Final = 4


class Expander(ABC):
    """Expands words in a scope."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    @abstractmethod
    def substitute(self, script: Script, scope: Scope) -> str | None:
        """Run a script in a subshell, and give its output where the text tells it."""

    def fields(self, items: Iterable[Item], scope: Scope) -> list[str]:
        """Return the words that some words of the text become."""
        fields = Fields()
        for item in items:
            word = item.word if isinstance(item, Assignment) else item
            alternatives = expand_braces(word.parts)
            for parts in alternatives:
                self.budget.spend(len(alternatives) // 2 and 1 + len(parts) // _PARTS_OF_A_STEP)
                if isinstance(item, Assignment):
                    fields.add(f"{item.name}=")
                for part in parts:
                    self._expand(part, scope, fields)
                fields.end()
        return fields.take()

    def text(self, word: Word, scope: Scope) -> str:
        """Return the text of a word that is not split, such as the value of a variable."""
        texts = []
        for part in word.parts:
            if isinstance(part, Text):
                texts.append(part.text)
            elif isinstance(part, Parameter):
                texts.append(self._parameter_text(part, scope))
            else:
                texts.append(self._output(part, scope))
        return self._kept(merged("".join(texts)))

    def _parameter_text(self, part: Parameter, scope: Scope) -> str:
        value = self._chosen(part, scope)
        if isinstance(value, Word):
            return self.text(value, scope)
        return value if isinstance(value, str) else " ".join(value)

    def _split(self, text: str, scope: Scope, fields: Fields) -> None:
        """Add text that is split, unless the text has said where."""
        self.budget.spend(len(text) // _SPLIT_BYTES_OF_A_STEP)
        separators = scope.variables.get("IFS")
        if separators is None:
            fields.split(text)
        elif text:
            is_whole = is_known(separators) and set(separators).isdisjoint(text)
            fields.add(mark_patterns(text) if is_whole else UNKNOWN)

    def _kept(self, text: str) -> str:
        self.budget.spend(len(text) // _BYTES_OF_A_STEP)
        return text

    def _expand(self, part: Part, scope: Scope, fields: Fields) -> None:
        if isinstance(part, Text):
            if part.quoted:
                fields.add(part.text)
            elif part.text:
                fields.add(mark_patterns(part.text))
        elif isinstance(part, Parameter):
            self._expand_parameter(part, scope, fields)
        else:
            output = self._kept(self._output(part, scope))
            if isinstance(part, Substitution) and not part.quoted:
                self._split(output, scope, fields)
            else:
                fields.add(output)

    def _expand_parameter(self, part: Parameter, scope: Scope, fields: Fields) -> None:
        value = self._chosen(part, scope)
        if isinstance(value, Word):
            if part.quoted:
                fields.add("")
            for inner in value.parts:
                if isinstance(inner, Text) and not inner.quoted:
                    self._split(inner.text, scope, fields)
                else:
                    self._expand(inner, scope, fields)
            return
        elements = (value,) if isinstance(value, str) else value
        if part.quoted and part.name == "*":
            elements = (" ".join(elements),)
        for position, element in enumerate(elements):
            if position:
                fields.end()
            if part.quoted:
                fields.add(self._kept(element))
            else:
                self._split(self._kept(element), scope, fields)

    def _output(self, part: Part, scope: Scope) -> str:
        """Return what a substitution prints; other expansions are not worked out."""
        if isinstance(part, Substitution):
            output = self.substitute(part.script, scope)
            return UNKNOWN if output is None else output.rstrip("\n")
        if isinstance(part, ProcessSubstitution):
            self.substitute(part.script, scope)
        elif isinstance(part, Opaque):
            self.text(Word(part.parts), scope)
        elif isinstance(part, Changes):
            scope.forget(part.names)
        return UNKNOWN

    def _chosen(self, part: Parameter, scope: Scope) -> str | tuple[str, ...] | Word:
        """Return the value of a parameter, or what stands behind its operator instead."""
        value = _value(part.name, scope)
        if part.operator == "#":
            return str(len(value)) if isinstance(value, str) and is_known(value) else UNKNOWN
        if part.argument is None:
            return UNKNOWN if value is None else value
        if isinstance(value, str) and value and not value.strip(UNKNOWN):
            self.text(part.argument, scope)
            return UNKNOWN
        is_empty = value is None or (part.operator.startswith(":") and not value)
        match part.operator[-1]:
            case "+":
                return "" if is_empty else part.argument
            case "-" if is_empty:
                return part.argument
            case "=" if is_empty:
                value = self.text(part.argument, scope)
                scope.assign(part.name, value)
        return UNKNOWN if value is None else value


def _value(name: str, scope: Scope) -> str | tuple[str, ...] | None:
    """Look a parameter up; ``None`` when the text does not set it."""
    if name.isdecimal():
        return UNKNOWN if name == "0" else _positional(int(name), scope)
    if name in _LIST_SIGNS:
        return _positionals(scope)
    if name == "#":
        values = _positionals(scope)
        return str(len(values)) if all(map(is_known, values)) else UNKNOWN
    is_sign = not (name[0].isalpha() or name[0] == "_")
    return UNKNOWN if is_sign else scope.variables.get(name)


def _positionals(scope: Scope) -> tuple[str, ...]:
    return (UNKNOWN,) if scope.positionals is None else scope.positionals


def _positional(number: int, scope: Scope) -> str:
    """Return one of them; where one before it is unknown, that may stand for any number."""
    values = _positionals(scope)
    if not all(map(is_known, values[:number])):
        return UNKNOWN
    return values[number - 1] if number <= len(values) else ""

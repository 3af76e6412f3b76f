"""Expands words: variables, positional parameters, the output of substitutions."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from attrs import evolve

from grove_tickets.shell.scope import Scope
from grove_tickets.shell.syntax import TAKEN_OUT, Budget, Heredoc, parse_body
from grove_tickets.shell.words import (
    UNKNOWN,
    Fields,
    Piece,
    expand_braces,
    is_known,
    mark_patterns,
    merged,
    unescaped,
    unescaped_in_quotes,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_EXPANSIONS: Final = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution"}
    | {"arithmetic_expansion"}
)
_OVERLOOKED: Final = re.compile(r"(\\.)|\$[\w@*#?!-]\w*", re.DOTALL)
"""The grammar takes some expansions within others for text."""

_UNSPLIT: Final = frozenset({"process_substitution", "arithmetic_expansion"})
_IN_QUOTES: Final = _EXPANSIONS | {"string", "concatenation"}
_PARAMETER: Final = re.compile(r"\$\{(#?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(:?[-+=])?")
_ASSIGNED: Final = re.compile(
    r"([A-Za-z_]\w*)(?:\[[^]]*\])?\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))"
    r"|(?:\+\+|--)\s*([A-Za-z_]\w*)"
)
_BYTES_OF_A_STEP: Final = 256
_SPLIT_BYTES_OF_A_STEP: Final = 8


def source_of(node: "Node") -> str:
    """Return the text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


class Expander(ABC):
    """Expands words in a scope."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.taken: list[Heredoc] = []

    @abstractmethod
    def substitute(self, node: "Node", scope: Scope) -> str | None:
        """Run commands in a subshell, and return their output where the text tells it."""

    def fields(self, nodes: "Iterable[Node]", scope: Scope) -> list[str]:
        """Return the words that some words of the text become."""
        fields = Fields()
        words: list[list[Piece]] = []
        end = -1
        for node in nodes:
            # The grammar makes two nodes of some words, such as a$'b'.
            pieces = [] if source_of(node) == "$" else self._pieces(node)
            words[len(words) if node.start_byte != end else -1 :] = [
                [*(words[-1] if node.start_byte == end else ()), *pieces]
            ]
            end = node.end_byte
        for word in words:
            alternatives = expand_braces(word)
            for pieces in alternatives:
                self.budget.spend(len(alternatives) // 2)
                for piece in pieces:
                    self._expand(piece, scope, fields)
                fields.end()
        return fields.take()

    def text(self, node: "Node", scope: Scope) -> str:
        """Return the text of a word that is not split, such as the value of a variable."""
        return self._joined(self._pieces(node), scope)

    def heredoc(self, index: int, scope: Scope) -> str:
        """Return the text of a heredoc."""
        heredoc = self.taken[index]
        if not heredoc.expands or not re.search(r"[$`\\]", heredoc.body):
            return heredoc.body
        with self.budget:
            node = parse_body(heredoc.body, self.budget, self.taken)
            return UNKNOWN if node is None else self.text(node, scope)

    def run_within(self, node: "Node", scope: Scope) -> None:
        """Run the substitutions in what is not worked out, such as arithmetic."""
        self.budget.spend()
        if node.type in {"command_substitution", "process_substitution"}:
            self.substitute(node, scope)
            return
        for child in node.named_children:
            self.run_within(child, scope)

    def calculate(self, node: "Node", scope: Scope) -> None:
        """Forget the variables that arithmetic changes."""
        self.run_within(node, scope)
        for before, behind in _ASSIGNED.findall(source_of(node)):
            scope.forget([before or behind])

    def _pieces(self, node: "Node") -> list[Piece]:
        self.budget.spend()
        source = source_of(node)
        match node.type:
            case "raw_string":
                return [Piece(source[1:-1], quoted=True)]
            case "string":
                return self._parts(node, 1, len(node.text or b"") - 1, quoted=True)
            case "translated_string" | "command_name" | "concatenation":
                return self._parts(node, 0, len(node.text or b""), quoted=False)
            case kind if kind in _EXPANSIONS:
                return [Piece(node=node)]
            case _:
                return self._plain(source, quoted=False)

    def _parts(self, node: "Node", position: int, end: int, *, quoted: bool) -> list[Piece]:
        """Read the expansions and words within a node, and the text between them."""
        source, offset = node.text or b"", node.start_byte
        pieces: list[Piece] = []
        for child in node.named_children:
            if child.start_byte - offset < position or (quoted and child.type not in _IN_QUOTES):
                continue
            text = source[position : child.start_byte - offset].decode("utf-8", "replace")
            pieces += self._plain(text, quoted=quoted)
            if quoted and child.type == "concatenation":
                inner = self._parts(child, 0, len(child.text or b""), quoted=True)
            else:
                inner = self._pieces(child)
            pieces += [evolve(one, quoted=True) for one in inner] if quoted else inner
            position = child.end_byte - offset
        text = source[position:end].decode("utf-8", "replace")
        pieces += self._plain(text, quoted=quoted)
        return pieces or [Piece(quoted=quoted)]

    def _plain(self, text: str, *, quoted: bool) -> list[Piece]:
        """Read text without expansions, and put back what was taken out of it."""
        pieces: list[Piece] = []
        text = _OVERLOOKED.sub(lambda match: match[1] or UNKNOWN, text)
        for position, part in enumerate(TAKEN_OUT.split(text)):
            if position % 2:
                pieces.append(Piece(self.taken[int(part)].body, quoted=True))
            elif part and quoted:
                pieces.append(Piece(unescaped_in_quotes(part), quoted=True))
            else:
                pieces += unescaped(part)
        return pieces

    def _joined(self, pieces: Iterable[Piece], scope: Scope) -> str:
        texts = []
        for piece in pieces:
            value = (
                piece.text if piece.node is None else self._value(piece.node, scope, quoted=True)
            )
            if isinstance(value, list):
                value = self._joined(value, scope)
            texts.append(value if isinstance(value, str) else " ".join(value))
        text = merged("".join(texts))
        self.budget.spend(len(text) // _BYTES_OF_A_STEP)
        return text

    def _expand(self, piece: Piece, scope: Scope, fields: Fields) -> None:
        if piece.node is None:
            if piece.quoted or piece.text:
                fields.add(piece.text if piece.quoted else mark_patterns(piece.text))
            return
        value = self._value(piece.node, scope, quoted=piece.quoted)
        if isinstance(value, list):
            self._expand_argument(value, scope, fields, quoted=piece.quoted)
            return
        elements = (value,) if isinstance(value, str) else value
        if piece.quoted and source_of(piece.node) in {"$*", "${*}"}:
            elements = (" ".join(elements),)
        is_whole = piece.quoted or piece.node.type in _UNSPLIT
        for position, element in enumerate(elements):
            if position:
                fields.end()
            self.budget.spend(len(element) // _BYTES_OF_A_STEP)
            self._add(element, scope, fields, is_whole=is_whole)

    def _expand_argument(
        self, pieces: list[Piece], scope: Scope, fields: Fields, *, quoted: bool
    ) -> None:
        """Add the word that stands behind the operator of a parameter."""
        if quoted:
            fields.add("")
        for piece in pieces:
            if piece.node is None and not piece.quoted:
                self._add(piece.text, scope, fields, is_whole=False)
            else:
                self._expand(piece, scope, fields)

    def _add(self, text: str, scope: Scope, fields: Fields, *, is_whole: bool) -> None:
        """Add text that is split, unless the text has said where."""
        if is_whole:
            fields.add(text)
        elif "IFS" not in scope.variables:
            self.budget.spend(len(text) // _SPLIT_BYTES_OF_A_STEP)
            fields.split(text)
        elif text:
            fields.add(UNKNOWN)

    def _value(
        self, node: "Node", scope: Scope, *, quoted: bool
    ) -> str | tuple[str, ...] | list[Piece]:
        """Return what an expansion becomes: text, words, or what stands behind its operator."""
        match node.type:
            case "simple_expansion":
                value = _look_up(source_of(node)[1:], scope)
                return UNKNOWN if value is None else value
            case "expansion":
                return self._parameter(node, scope, quoted=quoted)
            case "command_substitution":
                output = self.substitute(node, scope)
                return UNKNOWN if output is None else output.rstrip("\n")
            case "process_substitution":
                self.substitute(node, scope)
            case _:
                self.calculate(node, scope)
        return UNKNOWN

    def _parameter(
        self, node: "Node", scope: Scope, *, quoted: bool
    ) -> str | tuple[str, ...] | list[Piece]:
        """Expand ``${…}``."""
        source = source_of(node)
        match = _PARAMETER.match(source)
        if match is None or (match[3] is None and match.end() != len(source) - 1):
            self.run_within(node, scope)
            return UNKNOWN
        value = _look_up(match[2], scope)
        if match[1]:
            return str(len(value)) if isinstance(value, str) and is_known(value) else UNKNOWN
        if match[3] is None:
            return UNKNOWN if value is None else value
        end = len(node.text or b"") - 1
        argument = self._parts(node, len(match[0].encode()), end, quoted=quoted)
        return self._chosen(match[2], match[3], value, argument, scope)

    def _chosen(
        self,
        name: str,
        operator: str,
        value: str | tuple[str, ...] | None,
        argument: list[Piece],
        scope: Scope,
    ) -> str | tuple[str, ...] | list[Piece]:
        """Return the value of a parameter, or what stands behind its operator instead."""
        if isinstance(value, str) and value and not value.strip(UNKNOWN):
            self._joined(argument, scope)
            return UNKNOWN
        is_empty = value is None or (operator[0] == ":" and not value)
        if operator[-1] == "+":
            return "" if is_empty else argument
        if is_empty and operator[-1] == "-":
            return argument
        if is_empty:
            value = self._joined(argument, scope)
            scope.assign(name, value)
        return UNKNOWN if value is None else value


def _look_up(name: str, scope: Scope) -> str | tuple[str, ...] | None:
    """Look a parameter up; ``None`` when the text does not set it."""
    values = (UNKNOWN,) if scope.positionals is None else scope.positionals
    if name in {"@", "*"}:
        return values
    if name == "#":
        return str(len(values)) if all(map(is_known, values)) else UNKNOWN
    if name.isdecimal():
        # A value that is unknown may stand for any number of words.
        if name == "0" or not all(map(is_known, values[: int(name)])):
            return UNKNOWN
        return values[int(name) - 1] if int(name) <= len(values) else ""
    return scope.variables.get(name) if name.isidentifier() else UNKNOWN

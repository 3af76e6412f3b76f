"""The parts that shell text is read into."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import define, frozen

if TYPE_CHECKING:
    from tree_sitter import Node


@frozen
class Text:
    """Plain text; unquoted text may still hold braces and patterns of file names."""

    text: str
    quoted: bool = False


@frozen(kw_only=True)
class Parameter:
    """A variable or positional parameter that is expanded."""

    name: str
    operator: str = ""
    argument: "Word | None" = None
    quoted: bool = False


@frozen
class Substitution:
    """The output of a script."""

    script: "Script"
    quoted: bool = False


@frozen
class ProcessSubstitution:
    """The name of a file that a script writes (``<(…)``) or reads (``>(…)``)."""

    script: "Script"
    reads: bool


@frozen
class Opaque:
    """An expansion whose value is not worked out."""

    parts: "tuple[Part, ...]"


@frozen
class Changes:
    """Assignments in an arithmetic expression, whose values are not worked out."""

    names: tuple[str, ...]


Part = Text | Parameter | Substitution | ProcessSubstitution | Opaque | Changes


@frozen
class Word:
    """A word of a command."""

    parts: tuple[Part, ...]


@frozen(kw_only=True)
class Assignment:
    """A word of the form ``name=value``."""

    name: str
    word: Word
    elements: "tuple[Word, ...] | None" = None
    operator: str = "="


Item = Word | Assignment


@define
class Heredoc:
    """A here-document, whose body is read after the line that mentions it."""

    delimiter: str
    literal: bool
    strips_tabs: bool
    body: Word = Word(())


@frozen(kw_only=True)
class Redirection:
    """A redirection."""

    operator: str
    descriptor: str
    target: Word | Heredoc


@frozen
class Simple:
    """A simple command."""

    items: tuple[Item, ...]
    redirections: tuple[Redirection, ...]


@frozen
class Redirected:
    """Stands before a compound command and redirects it."""

    redirections: tuple[Redirection, ...]


@frozen
class Negation:
    """Stands before a pipeline whose status is inverted."""


@frozen
class Loop:
    """The head of a ``for`` loop."""

    name: str
    items: tuple[Item, ...]


@frozen
class Words:
    """Words that are expanded without being a command: of ``case``, ``[[ … ]]``, ``(( … ))``."""

    words: tuple[Word, ...]


@frozen
class Name:
    """The name of a function that is defined."""

    name: str


Leaf = Simple | Redirected | Negation | Loop | Words | Name


@frozen(eq=False)
class Unit:
    """What a shell reads before it runs anything of it: a line, or a compound command."""

    root: "Node"
    leaves: Mapping[bytes, Leaf]


@frozen(eq=False)
class Script:
    """The units of a shell text."""

    units: tuple[Unit, ...]

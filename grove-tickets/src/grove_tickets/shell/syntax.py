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
    """A variable or positional parameter that is expanded.

    Attributes:
        name: Its name, or a sign such as ``@``.
        operator: ``-``, ``=``, ``+`` or ``?``, with a colon before it where one stands;
            ``#`` for the length.
        argument: What stands behind the operator.
        quoted: Whether it stands between double quotes.
    """

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
    """An expansion whose value is not worked out.

    Attributes:
        parts: What is expanded within it all the same.
    """

    parts: "tuple[Part, ...]"


@frozen
class Changes:
    """Assignments in an arithmetic expression, whose values are not worked out.

    Attributes:
        names: The variables.
    """

    names: tuple[str, ...]


Part = Text | Parameter | Substitution | ProcessSubstitution | Opaque | Changes


@frozen
class Word:
    """A word of a command."""

    parts: tuple[Part, ...]


@frozen(kw_only=True)
class Assignment:
    """A word of the form ``name=value``.

    Attributes:
        name: The variable.
        word: The value.
        elements: The values between parentheses, for an array.
        operator: What stands before the value: ``=`` or ``+=``, behind an index perhaps.
    """

    name: str
    word: Word
    elements: "tuple[Word, ...] | None" = None
    operator: str = "="


Item = Word | Assignment


@define
class Heredoc:
    """A here-document, whose body is read after the line that mentions it.

    Attributes:
        delimiter: The line that ends it.
        literal: Whether the delimiter is quoted: nothing in the body is expanded.
        strips_tabs: Whether it was opened by ``<<-``.
        body: Its text.
    """

    delimiter: str
    literal: bool
    strips_tabs: bool
    body: Word = Word(())


@frozen(kw_only=True)
class Redirection:
    """A redirection.

    Attributes:
        operator: The operator, such as ``>`` or ``2>&1`` without its number.
        descriptor: The number before the operator, as written.
        target: What stands behind it.
    """

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
    """What a shell reads before it runs anything of it: a line, or a compound command.

    Attributes:
        root: The syntax tree of its outline.
        leaves: What the outline leaves out, by the names that stand for it.
    """

    root: "Node"
    leaves: Mapping[bytes, Leaf]


@frozen(eq=False)
class Script:
    """The units of a shell text."""

    units: tuple[Unit, ...]

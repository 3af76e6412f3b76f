"""The outline of a unit of shell text: its keywords and operators, and names for all the rest."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from attrs import define, field

from grove_tickets.shell.limits import ShellSyntaxError, TooMuchError
from grove_tickets.shell.syntax import Item, Leaf, Redirected, Redirection, Simple, Unit

if TYPE_CHECKING:
    from tree_sitter import Parser

FUNCTION: Final = "( )"
PATTERN_END: Final = " )"
_DANGLING: Final = frozenset(
    {"", "&&", "||", "|", "(", "{", "if", "then", "elif", "else", "while", "until", "do", "in"}
    | {FUNCTION, PATTERN_END}
)
"""Tokens that a command must follow, unless a ``case`` ends there."""

_JOINS: Final = frozenset({"&&", "||", "|"})
_ENDS: Final = frozenset({";", "&", ";;", ";&"})
_FOLLOWS: Final[Mapping[str, frozenset[str]]] = {
    "then": frozenset({"if", "elif"}),
    "elif": frozenset({"then"}),
    "else": frozenset({"then"}),
    "fi": frozenset({"then", "else"}),
    "do": frozenset({"while", "until", "for"}),
    "done": frozenset({"do"}),
    "}": frozenset({"{"}),
    ")": frozenset({"("}),
    "esac": frozenset({"case"}),
}
_MAX_TOKENS: Final = 3000


@define
class _Open:
    """A compound command that is not closed: where it begins, and its last keyword."""

    start: int
    keyword: str


@define
class Outline:
    """The outline of a unit while it is written."""

    in_pattern: bool = False
    _tokens: list[str] = field(factory=list)
    _leaves: list[Leaf] = field(factory=list)
    _opened: list[_Open] = field(factory=list)
    _items: list[Item] = field(factory=list)
    _redirections: list[Redirection] = field(factory=list)
    _closed: int | None = None

    @property
    def _last(self) -> str:
        return self._tokens[-1] if self._tokens else ""

    @property
    def starts_command(self) -> bool:
        """Whether the next word is the first of a command, or a keyword."""
        return not self._items and not self._redirections

    @property
    def begins(self) -> bool:
        """Whether a command may begin here."""
        return self.starts_command and self._closed is None

    @property
    def is_complete(self) -> bool:
        """Whether a shell would run it at the end of the line."""
        return not self._opened and (not self._tokens or self._last not in _DANGLING)

    @property
    def inside(self) -> str:
        """The last keyword of the innermost compound command."""
        return self._opened[-1].keyword if self._opened else ""

    def leaf(self, leaf: Leaf) -> str:
        """Keep a leaf, and give the name that stands for it."""
        self._leaves.append(leaf)
        return f"c{len(self._leaves) - 1}"

    def word(self, item: Item) -> None:
        """Add a word to the simple command."""
        if self._closed is not None:
            raise ShellSyntaxError
        self._items.append(item)

    def redirect(self, redirection: Redirection) -> None:
        """Redirect the simple command, or the compound one that has just ended."""
        self._redirections.append(redirection)

    def emit(self, *tokens: str) -> None:
        """Write tokens as they are."""
        self._tokens += tokens
        self._closed = None
        if len(self._tokens) > _MAX_TOKENS:
            raise TooMuchError

    def open(self, *tokens: str) -> None:
        """Begin a compound command."""
        if not self.begins:
            raise ShellSyntaxError
        self._opened.append(_Open(len(self._tokens), tokens[0]))
        self.emit(*tokens)

    def atom(self, leaf: Leaf) -> None:
        """Write a command that is read in one piece, such as a test."""
        if not self.begins:
            raise ShellSyntaxError
        start = len(self._tokens)
        self.emit(self.leaf(leaf))
        self._closed = start

    def middle(self, keyword: str) -> None:
        """Write ``then``, ``elif``, ``else`` or ``do``."""
        self._follow(keyword)
        self._end_list()
        self.emit(keyword)
        self._opened[-1].keyword = keyword

    def close(self, keyword: str) -> None:
        """End a compound command."""
        self.end_command()
        self._follow(keyword)
        if keyword == ")":
            self._forbid_dangling()
        elif keyword != "esac":
            self._end_list()
        elif self._last in _JOINS:
            raise ShellSyntaxError
        self.emit(keyword)
        self._closed = self._opened.pop().start
        self.in_pattern = False

    def operator(self, operator: str) -> None:
        """Write an operator that stands behind a command."""
        self.end_command()
        if operator in {";;", ";&"}:
            if self.inside != "case" or self.in_pattern or self._last in _JOINS:
                raise ShellSyntaxError
            self.in_pattern = True
            if self._last == ";":
                self._tokens.pop()
        else:
            self._forbid_dangling()
            if self._last in _ENDS:
                raise ShellSyntaxError
        self.emit(operator)

    def end_line(self) -> None:
        """End the line, which ends a list within a compound command."""
        self.end_command()
        if self._opened and self._last not in _DANGLING | _ENDS:
            self.emit(";")

    def end_command(self) -> None:
        """End the simple command, or the redirections of the compound one that has just ended."""
        redirections = tuple(self._redirections)
        self._redirections = []
        if self._closed is None:
            if self._items or redirections:
                self.emit(self.leaf(Simple(tuple(self._items), redirections)))
                self._items = []
        elif redirections:
            start = self._closed
            if start == 0 or self._tokens[start - 1] != FUNCTION:
                self._tokens.insert(start, f"{self.leaf(Redirected(redirections))} |")

    def finish(self) -> Unit | None:
        """Parse the outline."""
        self.end_command()
        if not self._tokens:
            return None
        if self._opened or self._last in _DANGLING:
            raise ShellSyntaxError
        root = _parser().parse(" ".join(self._tokens).encode()).root_node
        if root.has_error:
            raise ShellSyntaxError
        names = (f"c{number}".encode() for number in range(len(self._leaves)))
        return Unit(root, dict(zip(names, self._leaves, strict=True)))

    def _follow(self, keyword: str) -> None:
        """Make sure that a keyword may follow the last one of its compound command."""
        if self.inside not in _FOLLOWS[keyword]:
            raise ShellSyntaxError

    def _end_list(self) -> None:
        self._forbid_dangling()
        if self._last not in _ENDS:
            self.emit(";")

    def _forbid_dangling(self) -> None:
        if self._last in _DANGLING:
            raise ShellSyntaxError


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))

"""Shell text to syntax trees: heredocs are taken out, then tree-sitter reads it part by part."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Final, Self

from attrs import define, field, frozen

from grove_tickets.shell.words import ansi_c

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MAX_DEPTH: Final = 50
"""How deep syntax, scripts within scripts and calls of functions may be nested in all."""

MAX_STEPS: Final = 10_000
"""A step is a token that is scanned or a node that is walked: some microseconds."""

_MANY: Final = 2048
_MAX_PARSED: Final = 8192
_PARSED_OF_A_STEP: Final = 2048
_MAX_LINES: Final = 40
_BYTES_OF_A_STEP: Final = 64
_LONG_QUOTE: Final = 200
_TAKEN_OUT: Final = "\ue000"
TAKEN_OUT: Final = re.compile("\ue000([0-9]+)\ue000")
"""Stands in the tree for a heredoc or for quoted text that the grammar need not see."""

HERE_STRING: Final = "\ue001"
"""Stands before the word of ``<<<``, which the grammar does not know behind all commands."""

_PLAIN: Final = re.compile(r"""[^\\'"`$#<>()}\n]+""")
_STARTS: Final = r"(?:[\n;&|(){]|\b(?:do|then|else)\b)"
_BEFORE_GROUPS: Final = re.compile(
    rf"({_STARTS}[ \t]*)(?:time(?:[ \t]+-p)?|coproc(?:[ \t]+[A-Za-z_]\w*)?|(!))[ \t]+(?=\{{\s)"
)
_CASES: Final = re.compile(rf"{_STARTS}[ \t]*(case)[ \t]|(?:^|[\s;])(esac)\b")
_EMPTY_LOOP: Final = re.compile(rf"({_STARTS}[ \t]*)for[ \t]+\w+[ \t]+in[ \t]*;")
_PLAIN_IN_QUOTES: Final = re.compile(r"[^\\\"`$]+")
_BACKQUOTED: Final = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_ANSI_C: Final = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_HERE_STRING: Final = re.compile(r"<<<[ \t]*")
_HEREDOC: Final = re.compile(
    r"""<<(-?)[ \t]*((?:\\.|'[^'\n]*'|"[^"\n]*"|[^\s;&|<>()'"\\`])+)""", re.DOTALL
)
_LONG_WORD: Final = re.compile(rf"[^\s;&|={{,]{{{_LONG_QUOTE},}}")
_EXPANDS: Final = re.compile(r"""\$[\w@*#?$!"'-]""")
_QUOTES: Final = re.compile(r"""['"\\]""")
_OPENERS: Final = ("$((", "((", "$(", "<(", ">(", "(", "${")


class TooMuchError(Exception):
    """The text is too large or too deep to be read in a hook."""


class Budget:
    """The work that may be spent on one text; shared by all scripts within it."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.steps = steps
        self._depth = 0

    def spend(self, steps: int = 1) -> None:
        """Count steps."""
        self.steps -= steps
        if self.steps < 0:
            raise TooMuchError

    def __enter__(self) -> Self:
        """Go one level deeper."""
        self.spend()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooMuchError
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1


@frozen
class Heredoc:
    """A text that was taken out; ``expands`` where a shell looks for variables in it."""

    body: str
    expands: bool


@define
class Scanner:
    """Takes heredocs and long quotes out of a text, and finds where its lines end."""

    text: str
    budget: Budget
    taken: list[Heredoc]
    pieces: list[str] = field(factory=list)
    lines: list[int] = field(factory=list)
    """Where, in the pieces, a line ends outside all quotes and parentheses."""

    _position: int = 0
    _open: list[str] = field(factory=list)
    _pending: list[tuple[int, str, bool]] = field(factory=list)

    def scan(self) -> bool:
        """Scan the text, and return whether all its quotes and parentheses are closed."""
        enough = self.budget.steps // 2
        while self._position < len(self.text):
            # Of a text that is too large or too deep, the lines before that count.
            if len(self._open) > MAX_DEPTH or self.budget.steps < enough or not self._step():
                return False
        return not self._open

    def scan_body(self) -> bool:
        """Scan the body of a heredoc, in which quotes are text; it becomes a quoted word."""
        self._open, self.pieces = ['"'], ['"']
        while self._position < len(self.text):
            is_body = len(self._open) == 1
            if is_body and self.text.startswith('"', self._position):
                self._replace(1, '\\"')
            elif is_body and self.text.startswith('\\"', self._position):
                self._replace(2, '\\\\\\"')
            elif not self._step():
                return False
        self.pieces.append('"')
        return self._open == ['"']

    def _step(self) -> bool:
        """Go past one token, and return whether there is a whole one."""
        self.budget.spend()
        quoted = self._open[-1:] == ['"']
        plain = (_PLAIN_IN_QUOTES if quoted else _PLAIN).match(self.text, self._position)
        if plain is None:
            return self._quoted() if quoted else self._unquoted()
        if not quoted:
            return self._plain(plain[0])
        is_long = len(plain[0]) > _LONG_QUOTE
        return self._replace(len(plain[0]), self._take_out(plain[0]) if is_long else plain[0])

    def _plain(self, text: str) -> bool:
        """Keep text without signs, less what the grammar does not know."""
        before = self.pieces[-1][-1:] if self.pieces else "\n"
        for case, esac in _CASES.findall(before + text):
            if case:
                self._open.append(case)
            elif esac and self._open[-1:] == ["case"]:
                self._open.pop()
        # A group can be negated as the last command of a pipeline.
        kept = _BEFORE_GROUPS.sub(lambda m: m[1] + ("! : | " if m[2] else ""), before + text)
        kept = _EMPTY_LOOP.sub(r"\1while false;", kept)
        kept = _LONG_WORD.sub(lambda match: self._take_out(match[0]), kept)
        return self._replace(len(text), kept[len(before) :])

    def _keep(self, end: int) -> bool:
        self.pieces.append(self.text[self._position : end])
        self._position = end
        return True

    def _replace(self, length: int, text: str) -> bool:
        self.pieces.append(text)
        self._position += length
        return True

    def _quoted(self) -> bool:
        """Scan a sign between double quotes."""
        text, start = self.text, self._position
        if text[start] == '"':
            self._open.pop()
            return self._keep(start + 1)
        if text[start] == "\\":
            return self._keep(start + 2)
        return self._expansion(start) or self._keep(start + 1)

    def _unquoted(self) -> bool:
        """Scan a sign outside double quotes."""
        sign = self.text[self._position]
        if sign == '"':
            self._open.append(sign)
            return self._keep(self._position + 1)
        return self._handlers.get(sign, Scanner._other)(self)

    def _other(self) -> bool:
        return self._expansion(self._position)

    def _backslash(self) -> bool:
        text, start = self.text, self._position
        if text.startswith("\n", start + 1):
            return self._replace(2, "")
        # The grammar misreads a word that begins a line with a backslash.
        at_start = text[:start].rpartition("\n")[2].strip(" \t") == ""
        escapes = at_start and text[start + 1 : start + 2].isalpha()
        return self._replace(1, "") if escapes else self._keep(start + 2)

    def _number_sign(self) -> bool:
        before = self.text[self._position - 1 : self._position] or "\n"
        if before not in " \t\n;&|()" or self._open[-1:] in (["${"], ["(("]):
            return self._keep(self._position + 1)
        end = self.text.find("\n", self._position)
        return self._keep(len(self.text) if end < 0 else end)

    def _dollar(self) -> bool:
        if not self.text.startswith("$'", self._position):
            return self._expansion(self._position)
        quoted = _ANSI_C.match(self.text, self._position)
        if quoted is None:
            return False
        self.budget.spend(len(quoted[1]) // _BYTES_OF_A_STEP)
        return self._replace(len(quoted[0]), self._take_out(ansi_c(quoted[1])))

    def _less(self) -> bool:
        is_heredoc = self.text.startswith("<<", self._position) and self._opens_heredoc()
        return is_heredoc or self._expansion(self._position)

    def _expansion(self, start: int) -> bool:
        """Scan what begins with a dollar sign, a backquote or a parenthesis."""
        if self.text[start] == "`":
            quoted = _BACKQUOTED.match(self.text, start)
            return quoted is not None and self._keep(quoted.end())
        in_quotes = self._open[-1:] == ['"']
        for opener in _OPENERS:
            if self.text.startswith(opener, start) and (opener[0] == "$" or not in_quotes):
                self._open.append(opener[-2:] if opener[-2:] in {"((", "${"} else "(")
                return self._keep(start + len(opener))
        if self.text[start] == "$" and not in_quotes and not _EXPANDS.match(self.text, start):
            self.pieces.append("\\")  # a lone sign, which the grammar does not know
        return self._keep(start + 1)

    def _single_quoted(self) -> bool:
        start = self._position
        if self._open[-1:] == ["${"] and '"' in self._open:
            return self._keep(start + 1)  # no quote there
        end = self.text.find("'", start + 1)
        if end < 0:
            return False
        if end - start < _LONG_QUOTE:
            return self._keep(end + 1)
        return self._replace(end + 1 - start, self._take_out(self.text[start + 1 : end]))

    def _close(self) -> bool:
        """Close what a parenthesis or a brace ends; one of a ``case`` ends nothing."""
        top = self._open[-1] if self._open else ""
        sign = self.text[self._position]
        if top == "((" and self.text.startswith("))", self._position):
            self._open.pop()
            return self._keep(self._position + 2)
        if top == "((" and sign == ")":
            self._open[-1] = "("  # it was a subshell in a subshell
        elif (top, sign) in {("(", ")"), ("${", "}")}:
            self._open.pop()
        return self._keep(self._position + 1)

    def _take_out(self, body: str, *, expands: bool = False) -> str:
        self.taken.append(Heredoc(body, expands))
        return f"{_TAKEN_OUT}{len(self.taken) - 1}{_TAKEN_OUT}"

    def _opens_heredoc(self) -> bool:
        """Write a heredoc as a redirection from a file."""
        if self._open[-1:] in (["(("], ["${"]):
            return False
        if self.text.startswith("<<<", self._position):
            length = len(_HERE_STRING.match(self.text, self._position)[0])  # type: ignore[index]
            return self._replace(length, f"< {HERE_STRING}")
        match = _HEREDOC.match(self.text, self._position)
        if match is None:
            return False
        delimiter = _QUOTES.sub("", match[2])
        mark = self._take_out("", expands=delimiter == match[2])
        self._pending.append((len(self.taken) - 1, delimiter, match[1] == "-"))
        return self._replace(len(match[0]), f"< {mark} ")

    def _end_line(self) -> bool:
        self._keep(self._position + 1)
        for index, delimiter, strips_tabs in self._pending:
            self.budget.spend()
            tabs, ends = r"\t*" if strips_tabs else "", r"(?:\n|\Z)"
            if self._open:
                ends = r"(?:\n|\Z|(?=\)))"
            last = re.compile(rf"\n{tabs}{re.escape(delimiter)}{ends}")
            match = last.search(self.text, self._position - 1)
            body = self.text[
                self._position : len(self.text) if match is None else match.start() + 1
            ]
            self._position = len(self.text) if match is None else match.end()
            if strips_tabs:
                body = re.sub(r"(?m)^\t+", "", body)
            self.taken[index] = Heredoc(body, self.taken[index].expands)
        self._pending = []
        if not self._open:
            self.lines.append(len(self.pieces))
        return True

    _handlers: ClassVar[Mapping[str, Callable[["Scanner"], bool]]] = {
        "'": _single_quoted,
        "\\": _backslash,
        "#": _number_sign,
        "\n": _end_line,
        ")": _close,
        "}": _close,
        "$": _dollar,
        "<": _less,
    }


def parse_units(text: str, budget: Budget, taken: list[Heredoc]) -> "Iterator[Node]":
    """Parse a text into parts that a shell reads before it runs anything of them."""
    scanner = Scanner(text.replace("\0", "").replace("\r\n", "\n"), budget, taken)
    closed = scanner.scan()
    # A line that is never finished runs nothing.
    ends = [*scanner.lines, *([len(scanner.pieces)] if closed else [])]
    lines = ["".join(scanner.pieces[start:end]) for start, end in pairwise([0, *ends])]
    start = 0
    while start < len(lines):
        for end in _possible_ends(lines, start):
            root = _parse("".join(lines[start:end]), budget)
            if root is not None:
                yield root
                start = end
                break
        else:
            return  # a shell stops at the first mistake


def _possible_ends(lines: list[str], start: int) -> Iterator[int]:
    """Give where a part may end: after many lines, or else as soon as it can be read."""
    length, end = 0, start
    while end < len(lines) and (length := length + len(lines[end])) <= _MANY:
        end += 1
    if end > start + 1:
        yield end
    yield from range(start + 1, min(start + _MAX_LINES, len(lines)) + 1)


def parse_body(body: str, budget: Budget, taken: list[Heredoc]) -> "Node | None":
    """Parse the body of a heredoc as a word in double quotes."""
    scanner = Scanner(body, budget, taken)
    root = _parse(": " + "".join(scanner.pieces), budget) if scanner.scan_body() else None
    return None if root is None else root.children[0].children[-1]


def _parse(text: str, budget: Budget) -> "Node | None":
    """Parse a text; nothing where the grammar finds a mistake, at which it would recover slowly."""
    from tree_sitter import Parser

    data = text.encode("utf-8", "replace")
    budget.spend(len(data) // _BYTES_OF_A_STEP)
    if len(data) > _MAX_PARSED:
        return None

    def gives_up(_offset: int, has_error: bool) -> bool:  # noqa: FBT001 - called by tree-sitter
        budget.steps -= 4 + 4 * len(data) // _PARSED_OF_A_STEP
        return has_error or budget.steps < 0

    try:
        tree = Parser(_language()).parse(
            lambda offset, _point: data[offset:], progress_callback=gives_up
        )
    except ValueError:
        return None
    return None if tree.root_node.has_error else tree.root_node


def _language() -> "Language":
    global _kept_language  # noqa: PLW0603 - costs a millisecond to make
    if _kept_language is None:
        import tree_sitter_bash
        from tree_sitter import Language

        _kept_language = Language(tree_sitter_bash.language())
    return _kept_language


_kept_language: "Language | None" = None

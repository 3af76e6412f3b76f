"""Syntax trees of shell text, and what the grammar underneath needs help with.

The grammar stumbles over whatever follows a here-document's operator on its line. Therefore bodies
are lifted out of the text first, and each operator becomes a redirection from a made-up file.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from attrs import frozen

from grove_tickets.shell.quotes import unterminated_quote
from grove_tickets.shell.words import HEREDOC_QUOTE, UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_MAX_REPARSED_BYTES: Final = 131_072
_DELIMITER: Final = re.compile(rb"""[ \t]*((?:'[^']*'|"[^"]*"|\\.|[^\s;&|<>()'"\\])+)""")
_OPENERS: Final[Mapping[str, str]] = {
    "(": ")",
    "((": "))",
    "$(": ")",
    "$((": "))",
    "<(": ")",
    ">(": ")",
    "${": "}",
    "{": "}",
    "[[": "]]",
    "if": "fi",
    "for": "done",
    "select": "done",
    "while": "done",
    "until": "done",
    "case": "esac",
}


@frozen
class Heredoc:
    """A here-document.

    Attributes:
        body: Its text as written, without its delimiter.
        literal: Whether its delimiter is quoted: nothing in it is expanded.
    """

    body: str
    literal: bool


@frozen
class Script:
    """Shell text, ready to be walked.

    Attributes:
        root: The root of its syntax tree.
        heredocs: Its here-documents by the name of the made-up file that stands for each.
        dead: Spans of bytes that the shell never runs, because of a syntax error.
    """

    root: "Node"
    heredocs: Mapping[str, Heredoc]
    dead: tuple[tuple[int, int], ...]

    def runs(self, node: "Node") -> bool:
        """Tell whether the shell gets as far as a node."""
        return not any(start <= node.start_byte < end for start, end in self.dead)


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


@frozen
class _Operator:
    """The operator of a here-document: its span, and whether it strips tabs (``<<-``)."""

    start: int
    end: int
    strips_tabs: bool


def read_script(source: bytes) -> Script:
    """Read shell text.

    Args:
        source: The text in UTF-8.

    Returns:
        Its syntax tree without the bodies of here-documents, and those. When there are so many
        that it would take long, the whole text counts as dead.
    """
    root = _parser().parse(source).root_node
    heredocs: dict[str, Heredoc] = {}
    reparsed = 0
    while operators := list(_heredoc_operators(root)):
        reparsed += len(source)
        if reparsed > _MAX_REPARSED_BYTES:
            return Script(root, {}, ((0, len(source)),))
        # Behind an error, what looks like an operator may be text: one at a time, then.
        for operator in operators[:1] if root.has_error else reversed(operators):
            name = f"{UNKNOWN}heredoc-{len(heredocs)}"
            source, heredocs[name] = _lift(source, operator, name)
        root = _parser().parse(source).root_node
    return Script(root, heredocs, _dead_spans(root, source))


def expanding_body(text: str) -> "Node | None":
    """Read the body of a here-document in which variables are expanded, as a quoted string.

    Args:
        text: The body.

    Returns:
        The node of the string, or ``None`` when it cannot be read.
    """
    quoted = text.replace('"', HEREDOC_QUOTE)
    root = _parser().parse(f': "{quoted}"'.encode()).root_node
    if root.has_error:
        return None
    return next((node for node in _descendants(root) if node.type == "string"), None)


def parts_of_list(node: "Node") -> list["Node"]:
    """Give the commands of a chain of ``&&`` and ``||``, which the tree nests to the left."""
    parts: list[Node] = []
    while node.type == "list" and node.named_child_count:
        first, *rest = node.named_children
        parts += reversed(rest)
        node = first
    return [*reversed(parts), node] if node.type == "list" else [node, *reversed(parts)]


def assigned_names(node: "Node") -> set[str]:
    """Give the names of all variables that are assigned anywhere below a node."""
    names = set()
    for inner in _descendants(node):
        if inner.type in {"variable_assignment", "for_statement"}:
            target = inner.child_by_field_name("name") or inner.child_by_field_name("variable")
            names.add(text_of(target))
    return names


def text_of(node: "Node | None") -> str:
    """Give the source text of a node."""
    return "" if node is None else (node.text or b"").decode("utf-8", "replace")


def _descendants(node: "Node") -> Iterator["Node"]:
    """Go through a tree in the order of the text, the node itself first."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def _heredoc_operators(root: "Node") -> Iterator[_Operator]:
    before = None
    for node in _descendants(root):
        if node.type == "heredoc_start" and before is not None:
            yield _Operator(before.start_byte, before.end_byte, before.type == "<<-")
        elif node.type == "<" and before is not None and _is_half_operator(before, node):
            strips_tabs = False
            yield _Operator(before.start_byte, node.end_byte, strips_tabs)
        if not node.child_count:
            before = node


def _is_half_operator(before: "Node", node: "Node") -> bool:
    """Tell whether two signs are an operator where the grammar expects none."""
    parent = before.parent
    adjacent = before.type == "<" and before.end_byte == node.start_byte
    return adjacent and parent is not None and parent.type == "ERROR"


def _lift(source: bytes, operator: _Operator, name: str) -> tuple[bytes, Heredoc]:
    """Take the body of one here-document out of the text."""
    delimiter = _DELIMITER.match(source, operator.end)
    end = delimiter.end() if delimiter else operator.end
    raw = delimiter[1] if delimiter else b""
    word = re.sub(rb"""['"\\]""", b"", raw)
    newline = source.find(b"\n", end)
    body_start = len(source) if newline < 0 else newline + 1
    indent = rb"\t*" if operator.strips_tabs else b""
    last = _last_line(source, body_start, indent + re.escape(word))
    body = source[body_start : last.start() if last else len(source)]
    if indent:
        body = re.sub(rb"(?m)^\t+", b"", body)
    after = source[last.end() :] if last else b""
    line = source[: operator.start] + b"<" + name.encode() + source[end:body_start]
    return line + after, Heredoc(body.decode("utf-8", "replace"), raw != word)


def _last_line(source: bytes, start: int, pattern: bytes) -> re.Match[bytes] | None:
    """Find the line that ends a body; ``EOF)`` is good enough where no line is exact."""
    exact = re.compile(rb"(?m)^" + pattern + rb"(?:\n|\Z)").search(source, start)
    return exact or re.compile(rb"(?m)^" + pattern + rb"(?=[)`])").search(source, start)


def _dead_spans(root: "Node", source: bytes) -> tuple[tuple[int, int], ...]:
    """Find what is never run: the lines from the first unterminated construct on."""
    broken = _descendants(root) if root.has_error else ()
    starts = [node.start_byte for node in broken if _is_unterminated(node)]
    quote = unterminated_quote(source)
    if quote is not None:
        starts.append(quote)
    return ((_start_of_line(root, source, min(starts)), len(source) + 1),) if starts else ()


def _is_unterminated(node: "Node") -> bool:
    if node.type != "ERROR":
        return node.is_missing
    kinds = [child.type for child in node.children]
    return any(kinds.count(opener) > kinds.count(closer) for opener, closer in _OPENERS.items())


def _start_of_line(root: "Node", source: bytes, position: int) -> int:
    """Go back to where the shell started to read the line that holds a position."""
    start = source.rfind(b"\n", 0, position) + 1
    for child in reversed(root.children):
        if child.start_byte < start <= child.end_byte:
            start = source.rfind(b"\n", 0, child.start_byte) + 1
    return start

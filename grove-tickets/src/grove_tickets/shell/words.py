r"""Words of a shell command, as far as its text tells them.

A word is a string in which ``UNKNOWN`` stands for each part that only the running shell knows:
``"bd-$N"`` is ``bd-`` followed by ``UNKNOWN``.
"""

import re
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

UNKNOWN: Final = "\ufffc"
HEREDOC_QUOTE: Final = "\ufffb"
"""Stands for a double quote in a here-document, where it does not quote."""

NEW_LINE: Final = "\ufffa"
"""Begins a word that stands first on a line and begins with a backslash: the grammar takes it for
a continuation of the line before."""

_MAX_ALTERNATIVES: Final = 100
_EXPANSIONS: Final = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"}
)
_GLOB: Final = re.compile(r"\\(?s:(.))|([*?\[])")
_IN_QUOTES: Final = re.compile(r'\\([$`"\\\n])')
_IN_HEREDOC: Final = re.compile(r"\\([$`\\\n])")
_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}|\{(-?\d{1,4})\.\.(-?\d{1,4})\}")
_ANSI_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|([0-7]{1,3})|(?s:(.)))"
)
_SURROGATES: Final = range(0xD800, 0xE000)
_ANSI_LETTERS: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
}


def is_known(word: str) -> bool:
    """Tell whether the text alone says what a word is."""
    return UNKNOWN not in word


def arguments_of(node: "Node", variables: Mapping[str, str]) -> list[str]:
    """Give the words that a child of a command becomes.

    Args:
        node: The child.
        variables: Variables whose values are known.

    Returns:
        No word for a comment, one for most others, several after brace expansion and splitting.
    """
    if node.type in {"comment", "ERROR", "$"}:  # the last is the sign of `$"…"`
        return []
    if node.type == "command_name":
        return [word for part in node.named_children for word in _words_of(part, variables)]
    return _words_of(node, variables) if node.is_named else [_source(node)]


def add_words(words: list[str], found: list[str], *, adjacent: bool) -> None:
    """Add words to a command; the grammar splits some words, whose parts are joined again.

    Args:
        words: The command's words so far; changed.
        found: The words to add; changed.
        adjacent: Whether no blank stands between both.
    """
    if adjacent and words and found and not found[0].startswith(NEW_LINE):
        words[-1] += found.pop(0)
    words += found


def split_lines(words: list[str]) -> list[tuple[str, ...]]:
    """Split words where a new line begins.

    Args:
        words: Words of a command, and of others that the grammar took for its arguments.

    Returns:
        The words of each command.
    """
    lines: list[list[str]] = [[]]
    for word in words:
        if word.startswith(NEW_LINE):
            lines.append([])
        lines[-1].append(word.removeprefix(NEW_LINE))
    return [tuple(line) for line in lines]


def _words_of(node: "Node", variables: Mapping[str, str]) -> list[str]:
    if node.type in {"concatenation", "brace_expression", "word"}:
        text = _source(node)
        if "{" in text and not re.search(r"""[\\'"$`]""", text):
            return [_mark_globs(word) for word in _brace_expand(text)]
    value = value_of(node, variables)
    if node.type in {"simple_expansion", "expansion"} and is_known(value):
        return value.split()
    return [value]


def value_of(node: "Node", variables: Mapping[str, str]) -> str:
    """Give the text of a word, without splitting it.

    Args:
        node: A word of the syntax tree, or a part of one.
        variables: Variables whose values are known.

    Returns:
        Its text, with ``UNKNOWN`` for what only the running shell knows.
    """
    match node.type:
        case "word" | "number" | "variable_name" | "extglob_pattern":
            text = _mark_globs(_source(node))
        case "raw_string":
            text = _source(node)[1:-1]
        case "ansi_c_string":
            text = _ANSI_ESCAPE.sub(_ansi_character, _source(node)[2:-1])
        case "string":
            text = _interpolate(node, variables, _IN_QUOTES)[1:-1]
        case "concatenation":
            parts = [
                value_of(child, variables) if child.is_named else _source(child)
                for child in node.children
            ]
            text = "".join(parts)
        case "simple_expansion" | "expansion":
            text = _variable(node, variables)
        case _:
            text = UNKNOWN
    return text


def heredoc_text(body: "Node", variables: Mapping[str, str]) -> str:
    """Give the text that a here-document with an unquoted delimiter hands to its command.

    Args:
        body: Its body, read as a quoted string.
        variables: Variables whose values are known.

    Returns:
        The text, with ``UNKNOWN`` for what only the running shell knows.
    """
    return _interpolate(body, variables, _IN_HEREDOC)[1:-1].replace(HEREDOC_QUOTE, '"')


def _source(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _mark_globs(text: str) -> str:
    """Undo backslashes, and mark what the shell would compare with file names."""
    if text.startswith("\n"):
        return NEW_LINE + _mark_globs(text.lstrip("\n"))

    def mark(match: re.Match[str]) -> str:
        escaped = match[1]
        if escaped is None:
            return UNKNOWN
        return "" if escaped == "\n" else escaped

    return _GLOB.sub(mark, text)


def _interpolate(node: "Node", variables: Mapping[str, str], escapes: re.Pattern[str]) -> str:
    """Put the values of expansions into a text; the tree leaves blanks between them out."""

    def plain(start: int, end: int) -> str:
        text = raw[start - node.start_byte : end - node.start_byte].decode("utf-8", "replace")
        return escapes.sub(lambda match: match[1].removeprefix("\n"), text)

    raw = node.text or b""
    parts = []
    position = node.start_byte
    for child in node.children:
        if child.type in _EXPANSIONS:
            parts += [plain(position, child.start_byte), value_of(child, variables)]
            position = child.end_byte
    return "".join([*parts, plain(position, node.end_byte)])


def _variable(node: "Node", variables: Mapping[str, str]) -> str:
    names = [child for child in node.children if child.type not in {"$", "${", "}"}]
    if len(names) != 1 or names[0].type != "variable_name":
        return UNKNOWN
    return variables.get(_source(names[0]), UNKNOWN)


def _ansi_character(match: re.Match[str]) -> str:
    hexadecimal, unicode, octal, letter = match.groups()
    if letter is not None:
        return _ANSI_LETTERS.get(letter, letter)
    code = int(octal, 8) if octal else int(hexadecimal or unicode, 16)
    return UNKNOWN if code == 0 or code in _SURROGATES else chr(code)


def _brace_expand(text: str) -> list[str]:
    """Expand braces; those within braces, or very many, stay unknown."""
    parts: list[list[str]] = []
    position = 0
    total = 1
    for match in _BRACES.finditer(text):
        choices = _choices(match)
        total *= len(choices)
        if total > _MAX_ALTERNATIVES:
            return [UNKNOWN]
        parts += [[text[position : match.start()]], choices]
        position = match.end()
    parts.append([text[position:]])
    words = ["".join(combined) for combined in product(*parts)]
    return [UNKNOWN] if total > 1 and _BRACES.search(words[0]) else words


def _choices(match: re.Match[str]) -> list[str]:
    if match[1] is not None:
        return match[1].split(",")
    first, last = int(match[2]), int(match[3])
    step = 1 if last >= first else -1
    return [str(number) for number in range(first, last + step, step)]

"""Changing a JSON text in one place, and leaving every other byte of it as it is."""

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from attrs import frozen

from grove_core.errors import CodecError

ValuePath = Sequence[str | int]

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_INDENTATION: Final = re.compile(r"[ \t]*")
_DEFAULT_UNIT: Final = "  "


def parse(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Read JSON as strictly as the client does."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise CodecError(f"{where}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise CodecError(str(error)) from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)


def add(text: str, container: ValuePath, value: object, key: str | None = None) -> str:
    """Add to the end of an array or an object."""
    style = _style_of(text)
    start, _ = _find(text, container)
    children, close = _children(text, start)
    label = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}{style.colon}"
    if children:
        last = children[-1]
        lead = text[_space_before(text, last.start) : last.start]
        if not _LINE_END.search(lead):
            lead = style.comma.removeprefix(",")
            return f"{text[: last.end]},{lead}{label}{style.inline(value)}{text[last.end :]}"
        added = label + style.lines(value, _after_line_end(lead))
        return f"{text[: last.end]},{lead}{added}{text[last.end :]}"
    if not style.is_lined:
        return f"{text[: start + 1]}{label}{style.inline(value)}{text[close:]}"
    base = _indentation_of_line(text, start)
    inner = base + style.unit
    added = style.newline + inner + label + style.lines(value, inner) + style.newline + base
    return text[: start + 1] + added + text[close:]


def replace(text: str, path: ValuePath, value: object) -> str:
    """Put another value in place of one."""
    style = _style_of(text)
    start, end = _find(text, path)
    is_lined = style.is_lined and _LINE_END.search(text[start:end])
    base = _indentation_of_line(text, start)
    written = style.lines(value, base) if is_lined else style.inline(value)
    return text[:start] + written + text[end:]


def remove(text: str, path: ValuePath) -> str:
    """Take a value out of its array or object."""
    *parent, step = path
    start, _ = _find(text, parent)
    children, close = _children(text, start)
    index = _index(children, step)
    if len(children) == 1:
        return text[: start + 1] + text[close:]
    if index == len(children) - 1:
        return text[: children[index - 1].end] + text[children[index].end :]
    return text[: children[index].start] + text[children[index + 1].start :]


@frozen
class _Child:
    """A member or an element."""

    key: str | None
    start: int
    value: int
    end: int


def _find(text: str, path: ValuePath) -> tuple[int, int]:
    start = _skip(text, 0)
    end = _DECODER.raw_decode(text, start)[1]
    for step in path:
        children, _ = _children(text, start)
        child = children[_index(children, step)]
        start, end = child.value, child.end
    return start, end


def _index(children: Sequence[_Child], step: str | int) -> int:
    if isinstance(step, int):
        return step
    # Of a key that stands twice, the last one holds.
    return max(index for index, child in enumerate(children) if child.key == step)


def _children(text: str, start: int) -> tuple[Sequence[_Child], int]:
    """Return what an array or object holds, and where its closing bracket is."""
    is_object = text[start] == "{"
    position = _skip(text, start + 1)
    children: list[_Child] = []
    while text[position] not in "]}":
        begin, key = position, None
        if is_object:
            key, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        end = _DECODER.raw_decode(text, position)[1]
        children.append(_Child(key, begin, position, end))
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return children, position


@frozen
class _Style:
    """How a text is laid out."""

    unit: str
    newline: str
    is_lined: bool
    comma: str
    colon: str

    def inline(self, value: object) -> str:
        """Write a value on one line."""
        return json.dumps(value, ensure_ascii=False, separators=(self.comma, self.colon))

    def lines(self, value: object, base: str) -> str:
        """Write a value that begins on a line of this indentation."""
        written = json.dumps(
            value, ensure_ascii=False, indent=self.unit, separators=(",", self.colon)
        )
        return written.replace("\n", self.newline + base)


def _style_of(text: str) -> _Style:
    start = _skip(text, 0)
    children, _ = _children(text, start)
    first = children[0] if children else None
    line_end = _LINE_END.search(text)
    newline = line_end[0] if line_end else "\n"
    if first is None:
        return _Style(_DEFAULT_UNIT, newline, is_lined=True, comma=", ", colon=": ")
    lead = text[start + 1 : first.start]
    is_lined = _LINE_END.search(lead) is not None
    unit = _after_line_end(lead) if is_lined else ""
    between = text[first.start : first.value]
    is_tight = first.key is not None and between.endswith('":')
    return _Style(
        unit,
        newline,
        is_lined=is_lined,
        comma="," if is_tight else ", ",
        colon=":" if is_tight else ": ",
    )


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _space_before(text: str, position: int) -> int:
    while text[position - 1] in " \t\r\n":
        position -= 1
    return position


def _after_line_end(space: str) -> str:
    return space[max(space.rfind("\n"), space.rfind("\r")) + 1 :]


def _indentation_of_line(text: str, position: int) -> str:
    begin = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1
    match = _INDENTATION.match(text, begin)
    return match[0] if match else ""

"""Markdown taken apart as far as the readers of notes and solutions need it."""

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from grove_core.interchange.yaml_problems import problem_in

_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
# What follows backquotes holds none: else it is code within a line.
_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_FRONT_MATTER_END: Final = frozenset({"---", "..."})
_LONGEST_FRONT_MATTER: Final = 400
_FIRST_FRONT_LINE: Final = 2
_COMMENT_START: Final = "<!--"
_COMMENT_END: Final = "-->"


class Line(NamedTuple):
    """A line of a text."""

    number: int
    text: str
    is_code: bool


class Section(NamedTuple):
    """A heading and what stands below it, up to the next heading of any level."""

    number: int
    headings: tuple[str, ...]
    lines: Sequence[Line]


class FrontMatter(NamedTuple):
    """What stands between the rules at the top of a file."""

    values: dict[str, Any]
    start: int
    problem: str = ""


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the YAML at the top of a file."""
    if not lines or lines[0].strip() != "---":
        return FrontMatter({}, 1)
    reach = lines[1 : _LONGEST_FRONT_MATTER + 1]
    end = next((at for at, line in enumerate(reach, 1) if line.rstrip() in _FRONT_MATTER_END), None)
    if end is None:
        return FrontMatter({}, 1)
    import yaml

    try:
        # The loader that makes texts of everything: neither dates nor objects, and `no` stays `no`.
        values = yaml.load("\n".join(lines[1:end]), yaml.BaseLoader)  # noqa: S506 - safe as well
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return FrontMatter({}, end + 2, problem_in(error, _FIRST_FRONT_LINE))
    if values and not isinstance(values, dict):
        return FrontMatter({}, 2)  # words or a list between two rules, which are as good as others
    return FrontMatter(values or {}, end + 2)


def without_comments(text: str) -> str:
    """Blank out HTML comments; the numbers of lines stay."""
    kept: list[str] = []
    at = 0
    # An expression would look for the end once for each beginning that has none.
    while (start := text.find(_COMMENT_START, at)) >= 0:
        end = text.find(_COMMENT_END, start + len(_COMMENT_START))
        if end < 0:
            break
        kept += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + len(_COMMENT_END)
    return "".join([*kept, text[at:]])


def sections_of(lines: Sequence[str], start: int = 1) -> list[Section]:
    """Divide a text at its headings; those inside of code are none."""
    sections: list[Section] = []
    above: list[tuple[int, str]] = []
    body: list[Line] = []
    number = start
    for line in _marked(lines, start):
        match = None if line.is_code else _HEADING.fullmatch(line.text)
        if match is None:
            body.append(line)
            continue
        sections.append(Section(number, tuple(title for _, title in above), body))
        level = len(match[1])
        above = [one for one in above if one[0] < level] + [(level, match[2])]
        number, body = line.number, []
    sections.append(Section(number, tuple(title for _, title in above), body))
    return [one for one in sections if one.headings or any(line.text.strip() for line in one.lines)]


def _marked(lines: Sequence[str], start: int) -> list[Line]:
    marked: list[Line] = []
    opened = ""
    for number, text in enumerate(lines[start - 1 :], start):
        fence = _FENCE.fullmatch(text)
        if fence is None:
            marked.append(Line(number, text, is_code=bool(opened)))
            continue
        marked.append(Line(number, text, is_code=True))
        if not opened:
            opened = fence[1]
        elif fence[1].startswith(opened) and not fence[2].strip():
            opened = ""
    return marked

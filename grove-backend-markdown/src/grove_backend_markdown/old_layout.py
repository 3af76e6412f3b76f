"""Entries of an older layout, which are read but never written."""

import re
from collections.abc import Sequence
from typing import Final

from grove_backend_markdown.fields import NAMES, OLD_NAMES
from grove_backend_markdown.lines import (
    Field,
    Section,
    field_of,
    heading_of,
    is_blank,
    is_field,
    next_visible,
)
from grove_backend_markdown.markup import BLANKS
from grove_core import is_learning_id

_HEADING: Final = "## "
_RULE: Final = "---"
_NEXT_IN_LINE: Final = re.compile(r"[ \t]*\|[ \t]*(?=\*\*[A-Za-z ]+:\*\*)")
_RENAMED: Final = {"context files": "files"}
_WHOLE_LINE: Final = frozenset({"summary", "relevance"})


def read_old_section(lines: Sequence[str], position: int) -> Section | None:
    """Read an entry of the older layout."""
    if not _begins_old(lines, position):
        return None
    fields, start = _read_fields(lines, position + 1)
    if tags := fields.get("tags"):
        words = (word.strip("#,") for word in tags.value.split())
        fields["tags"] = tags._replace(value=",".join(words))
    rule, following = _end_of_detail(lines, start)
    detail = "\n".join(line.removesuffix("\r") for line in lines[start:rule])
    return Section(
        learning_id=lines[position].removeprefix(_HEADING).strip(BLANKS),
        summary=_unescaped(fields["summary"].value) if "summary" in fields else "",
        fields=fields,
        repeated=(),
        detail=detail.strip() or None,
        end=min(rule + 1, following),
        is_old=True,
    )


def _begins_old(lines: Sequence[str], position: int) -> bool:
    line = lines[position]
    if not line.startswith(_HEADING) or not is_learning_id(line[len(_HEADING) :].strip(BLANKS)):
        return False
    following = next_visible(lines, position + 1)
    return following < len(lines) and is_field(lines[following], OLD_NAMES)


def _begins_new(lines: Sequence[str], position: int) -> bool:
    heading = heading_of(lines[position])
    if heading is None or not is_learning_id(heading[0]):
        return False
    following = next_visible(lines, position + 1)
    return following < len(lines) and is_field(lines[following], NAMES)


def _read_fields(lines: Sequence[str], position: int) -> tuple[dict[str, Field], int]:
    """Read up to the first blank line after the summary, as the older program did."""
    fields: dict[str, Field] = {}
    while position < len(lines) and not lines[position].startswith("#"):
        line = lines[position]
        if is_blank(line) and "summary" in fields:
            break
        for name, value in _fields_in(line):
            fields.setdefault(_RENAMED.get(name, name), Field(position, value))
        position += 1
    return fields, position


def _fields_in(line: str) -> list[tuple[str, str]]:
    first = field_of(line)
    if first is None or first[0] not in OLD_NAMES:
        return []
    if first[0] in _WHOLE_LINE:
        return [first]
    return [field for part in _NEXT_IN_LINE.split(line) if (field := field_of(part))]


def _end_of_detail(lines: Sequence[str], start: int) -> tuple[int, int]:
    """Find the last rule before the next entry, and that entry; the rule may be missing."""
    rule = None
    position = start
    while position < len(lines):
        line = lines[position]
        if line.strip(BLANKS) == _RULE:
            rule = position
        elif line.startswith("#") and (
            _begins_old(lines, position) or _begins_new(lines, position)
        ):
            break
        position += 1
    return position if rule is None else rule, position


def _unescaped(summary: str) -> str:
    return summary.replace(r"\#", "#").replace(r"\|", "|")

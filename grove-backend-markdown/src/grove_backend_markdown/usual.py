"""Entries that stand as grove wrote them, which almost all do: read by one regular expression."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from grove_backend_markdown.lines import read_quote
from grove_backend_markdown.markup import BLANKS, split_list
from grove_backend_markdown.values import CATEGORIES, CONFIDENCES, CRITERIA, SCOPES, STATUSES
from grove_core import Criterion, Learning, is_learning_id, parse_instant

_START: Final = "### ["
_STATUS_LINE: Final = 4
_MOST_LINES: Final = 13  # a heading, ten fields, a blank line, the first line of the detail
_HEAD: Final = re.compile(
    r"### \[(?P<id>[\w-]+)\] (?P<summary>\S.*)\n"
    r"- \*\*Category:\*\* (?P<category>\w+)\n"
    r"- \*\*Scope:\*\* (?P<scope>\w+)\n"
    r"- \*\*Confidence:\*\* (?P<confidence>\w+)\n"
    r"- \*\*Status:\*\* (?P<status>\w+)\n"
    r"(?:- \*\*Criteria:\*\* (?P<criteria>.*)\n)?"
    r"(?:- \*\*Tags:\*\* (?P<tags>.*)\n)?"
    r"(?:- \*\*Files:\*\* (?P<files>.*)\n)?"
    r"(?:- \*\*Supersedes:\*\* (?P<supersedes>.*)\n)?"
    r"- \*\*Origin:\*\* (?:ticket (?P<ticket>[^|\s]+) \| )?session (?P<session>[^|\s]+)\n"
    r"- \*\*Created:\*\* (?P<created>\S+)\n"
    r"\n(?=>)"
)


class UsualEntry(NamedTuple):
    """An entry that stands as grove wrote it."""

    learning: Learning
    status: int
    end: int


def read_usual_entry(lines: Sequence[str], position: int) -> UsualEntry | None:
    """Read an entry in which nothing is unusual."""
    if not lines[position].startswith(_START):
        return None
    match = _HEAD.match("\n".join(lines[position : position + _MOST_LINES]))
    if match is None or _is_escaped(match[0]):
        return None
    detail, end = read_quote(lines, position + match[0].count("\n"), ends_in_cr=False)
    try:
        learning = _learning_of(match, detail)
    except (KeyError, ValueError, OverflowError):
        return None
    return UsualEntry(learning, position + _STATUS_LINE, end)


def _is_escaped(head: str) -> bool:
    return "\\" in head or "&#" in head or "\r" in head


def _learning_of(match: re.Match[str], detail: str) -> Learning:
    (
        learning_id,
        summary,
        category,
        scope,
        confidence,
        status,
        criteria,
        tags,
        files,
        supersedes,
        ticket,
        session,
        created,
    ) = match.groups()
    if not is_learning_id(learning_id):
        raise ValueError(learning_id)
    return Learning(
        id=learning_id,
        category=CATEGORIES[category],
        summary=summary.strip(BLANKS),
        detail=detail,
        session_id=session,
        timestamp=parse_instant(created),
        scope=SCOPES[scope],
        confidence=CONFIDENCES[confidence],
        criteria_met=_criteria_of(criteria or ""),
        tags=split_list(tags or ""),
        context_files=split_list(files or ""),
        ticket_id=ticket,
        status=STATUSES[status],
        supersedes=split_list(supersedes or ""),
    )


@lru_cache(maxsize=256)  # few combinations are in use
def _criteria_of(words: str) -> frozenset[Criterion]:
    return frozenset([CRITERIA[word] for word in split_list(words)])

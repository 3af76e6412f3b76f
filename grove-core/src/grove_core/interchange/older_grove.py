"""Learnings in the layout of the older program: an id as heading, fields in bold, the detail."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Final

from grove_core.identifiers import is_learning_id, is_session_id
from grove_core.interchange.entries import (
    Entry,
    complete,
    left_out,
    read_instant,
)
from grove_core.model.learning import DETAIL_LENGTH_MAX, LearningStatus, Scope
from grove_core.reflection.candidates import read_enum

_HEADING: Final = re.compile(r"## (grove:)?(\S+)[ \t]*")
_FIELD: Final = re.compile(r"\*\*([A-Z][A-Za-z ]*):\*\*[ \t]*(.*)")
_NEXT_FIELD: Final = re.compile(r"[ \t]*\|[ \t]*(?=\*\*[A-Z][A-Za-z ]*:\*\*)")
_RULE: Final = "\n---"


def read_older_learnings(text: str, _: PurePath) -> list[Entry]:
    """Read a file of learnings of the older program."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    starts = [*_starts(lines), len(lines)]
    return [_read_entry(lines[start:end], start + 1) for start, end in pairwise(starts)]


def _starts(lines: Sequence[str]) -> Iterator[int]:
    """Find the headings that a field follows; in a detail, another heading may stand alone."""
    following = ""
    starts = []
    for at, line in reversed(list(enumerate(lines))):
        match = _HEADING.fullmatch(line)
        if match and is_learning_id(match[2]) and _FIELD.match(following):
            starts.append(at)
        following = line if line.strip() else following
    return reversed(starts)


def _read_entry(lines: Sequence[str], number: int) -> Entry:
    heading = _HEADING.fullmatch(lines[0])
    fields, end = _read_fields(lines)
    if heading is None or "summary" not in fields:
        reason = "it has no summary; give it a line such as `**Summary:** …`"
        return left_out(number, lines[0], reason, is_fault=True)
    # The rule that ends an entry is the last one, if only blanks follow.
    text = "\n".join(["", *lines[end:]]).rstrip().removesuffix(_RULE).strip()
    when = f"\n\nRelevant when: {fields['relevance']}" if fields.get("relevance") else ""
    if len(text + when) <= DETAIL_LENGTH_MAX:
        text += when
    files = fields.get("context files") or fields.get("files", "")
    raw: dict[str, Any] = {
        "category": fields.get("category", ""),
        "summary": fields["summary"].replace(r"\#", "#").replace(r"\|", "|"),
        "detail": text,
        "tags": [tag for word in fields.get("tags", "").split() if (tag := word.strip("#,"))],
        "criteria_met": _items(fields.get("criteria", "")),
        "context_files": _items(files),
        **{name: fields[name] for name in ("scope", "confidence") if name in fields},
        **({"scope": Scope.PERSONAL.value} if heading[1] else {}),
    }
    session = fields.get("session", "")
    return Entry(
        line=number,
        fields=raw,
        learning_id=heading[2],
        timestamp=read_instant(fields.get("created")),
        status=read_enum(LearningStatus, fields.get("status")) or LearningStatus.ACTIVE,
        ticket_id=fields.get("ticket") or None,
        session_id=session if is_session_id(session) else None,
        notes=tuple(complete(raw)),
    )


def _read_fields(lines: Sequence[str]) -> tuple[dict[str, str], int]:
    """Read up to the first blank line behind the summary, or the first line that is no field."""
    fields: dict[str, str] = {}
    at = 1
    for at, line in enumerate(lines[1:], 1):  # noqa: B007 - where it ends
        matches = [_FIELD.fullmatch(part.strip()) for part in _NEXT_FIELD.split(line)]
        if (line.strip() and not all(matches)) or (not line.strip() and "summary" in fields):
            break
        for match in filter(None, matches):
            fields.setdefault(match[1].lower(), match[2].strip())
    return fields, at


def _items(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]

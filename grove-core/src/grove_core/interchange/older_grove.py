"""Learnings in the layout of the older program: an id as heading, fields in bold, the detail."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from grove_core.identifiers import is_learning_id, is_session_id
from grove_core.interchange.entries import (
    Entry,
    LeftOut,
    Reading,
    complete,
    left_out,
    read_instant,
)
from grove_core.model.learning import DETAIL_LENGTH_MAX, LearningStatus, Scope
from grove_core.reflection.candidates import read_enum

_HEADING: Final = re.compile(r"## (?:grove:)?(\S+)[ \t]*")
_FIELD: Final = re.compile(r"\*\*([A-Z][A-Za-z ]*):\*\*[ \t]*(.*)")
_NEXT_FIELD: Final = re.compile(r"[ \t]*\|[ \t]*(?=\*\*[A-Z][A-Za-z ]*:\*\*)")
_WHOLE_LINE: Final = frozenset({"summary", "relevance"})
_NAMES: Final = frozenset(
    """category summary scope confidence status tags ticket session relevance criteria created files
    context files""".split()
) | {"context files"}
_CURRENT: Final = re.compile(r"### \[[A-Za-z0-9_-]+\]")
_PERSONAL_HEADING: Final = "## grove:"
_RULE: Final = "---"


def read_older_learnings(text: str) -> Reading:
    """Read a file of learnings of the older program."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    entries: list[Entry] = []
    out: list[LeftOut] = []
    starts = list(_starts(lines))
    for start, end in pairwise([*starts, len(lines)]):
        read = _read_entry(lines, start, end)
        if isinstance(read, Entry):
            entries.append(read)
        else:
            out.append(read)
    before = lines[: starts[0]] if starts else lines
    current = [at for at, line in enumerate(before) if _CURRENT.match(line)]
    if current:
        reason = (
            "an entry of the current layout, as those below; `grove export` in its project writes"
            " what `grove import jsonl` reads"
        )
        out.append(left_out(current[0] + 1, lines[current[0]], reason, is_fault=True))
    return Reading(entries=tuple(entries), left_out=tuple(out))


def _starts(lines: Sequence[str]) -> Iterator[int]:
    """Find the headings that a field follows; in a detail, another heading may stand alone."""
    for at, line in enumerate(lines):
        match = _HEADING.fullmatch(line)
        if match is None or not is_learning_id(match[1]):
            continue
        # Not a slice: of a large file, each heading would copy all that is below it.
        below = (lines[place] for place in range(at + 1, len(lines)))
        following = next((one for one in below if one.strip()), "")
        if any(name in _NAMES for name, _ in _fields_in(following)):
            yield at


def _fields_in(line: str) -> list[tuple[str, str]]:
    """Read the fields of a line: one, or several with bars between them."""
    first = _FIELD.fullmatch(line)
    if first is None:
        return []
    if first[1].lower() in _WHOLE_LINE:
        return [(first[1].lower(), first[2].strip())]
    matches = [_FIELD.fullmatch(part.strip()) for part in _NEXT_FIELD.split(line)]
    return [(match[1].lower(), match[2].strip()) for match in matches if match is not None]


def _read_entry(lines: Sequence[str], start: int, end: int) -> Entry | LeftOut:
    fields, place = _read_fields(lines, start + 1, end)
    match = _HEADING.fullmatch(lines[start])
    if match is None or "summary" not in fields:
        reason = "it has no summary; give it a line such as `**Summary:** …`"
        return left_out(start + 1, lines[start], reason, is_fault=True)
    raw, notes = _raw(fields, _detail(lines[place:end]))
    if lines[start].startswith(_PERSONAL_HEADING):
        raw["scope"] = Scope.PERSONAL.value
    status = read_enum(LearningStatus, fields.get("status"))
    return Entry(
        line=start + 1,
        fields=raw,
        learning_id=match[1],
        timestamp=read_instant(fields.get("created")),
        status=status or LearningStatus.ACTIVE,
        ticket_id=fields.get("ticket") or None,
        session_id=session if is_session_id(session := fields.get("session", "")) else None,
        notes=notes,
    )


def _read_fields(lines: Sequence[str], at: int, end: int) -> tuple[dict[str, str], int]:
    """Read up to the first blank line behind the summary, or the first line that is no field."""
    fields: dict[str, str] = {}
    while at < end:
        found = _fields_in(lines[at])
        if lines[at].strip() and not found:
            break
        if not lines[at].strip() and "summary" in fields:
            break
        for name, value in found:
            fields.setdefault(name, value)
        at += 1
    return fields, at


def _detail(lines: Sequence[str]) -> str:
    """Take the text up to the rule that ends the entry: the last one, if only blanks follow."""
    text = "\n".join(lines).strip()
    head, rule, after = text.rpartition(f"\n{_RULE}")
    if text == _RULE:
        return ""
    return head.rstrip() if rule and not after.strip() else text


def _raw(fields: Mapping[str, str], detail: str) -> tuple[dict[str, object], tuple[str, ...]]:
    relevance = fields.get("relevance", "")
    notes: list[str] = []
    if relevance:
        longer = f"{detail}\n\nRelevant when: {relevance}"
        fits = len(longer) <= DETAIL_LENGTH_MAX
        detail = longer if fits else detail
        notes.append("relevance: put at the end of the detail" if fits else "relevance: left out")
    files = fields.get("context files") or fields.get("files", "")
    raw: dict[str, object] = {
        "category": fields.get("category", ""),
        "summary": fields["summary"].replace(r"\#", "#").replace(r"\|", "|"),
        "detail": detail,
        "tags": [tag for word in fields.get("tags", "").split() if (tag := word.strip("#,"))],
        "criteria_met": [one.strip() for one in fields.get("criteria", "").split(",")],
        "context_files": [one.strip() for one in files.split(",") if one.strip()],
        **{name: fields[name] for name in ("scope", "confidence") if name in fields},
    }
    return raw, (*notes, *complete(raw))

"""JSON Lines: what ``grove export`` writes, and simpler files of other programs."""

import json
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any, Final

from attrs import fields

from grove_core.codec import learning_to_dict
from grove_core.identifiers import is_learning_id, is_session_id
from grove_core.interchange.entries import (
    Entry,
    complete,
    left_out,
    read_instant,
)
from grove_core.model.learning import Learning, LearningStatus
from grove_core.reflection.candidates import CANDIDATE_FIELDS, kind_of, listed, read_enum
from grove_core.text import clean_line

# What other programs call our fields, the likeliest first.
_ALSO: Final[Mapping[str, str]] = {
    "summary": "title name headline",
    "detail": "details content text body description lesson learning",
    "category": "type kind",
    "tags": "labels keywords topics",
    "context_files": "files paths file",
    "criteria_met": "criteria",
    "id": "learning_id",
    "timestamp": "created_at created date ts time",
    "ticket_id": "ticket issue",
    "session_id": "session",
}
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    one.name: (one.name, *_ALSO.get(one.name, "").split()) for one in fields(Learning)
}
_KNOWN: Final = frozenset(name for names in _NAMES.values() for name in names)
_LONGEST_TICKET: Final = 200


def read_jsonl(text: str, _: PurePath) -> list[Entry]:
    """Read a file of JSON Lines."""
    lines = enumerate(text.split("\n"), start=1)
    return [_read_line(at, line) for at, line in lines if line.strip()]


def _read_line(number: int, line: str) -> Entry:
    try:
        sent: object = json.loads(line)
        fault = "" if isinstance(sent, dict) else f"{kind_of(sent)}, not an object"
    except (ValueError, RecursionError) as error:
        sent, fault = None, f"not JSON ({error})"
    if not isinstance(sent, dict):
        return left_out(number, line, f"{fault}; give one object a line", is_fault=True)
    return _entry(number, sent)


def _entry(number: int, sent: dict[str, Any]) -> Entry:
    found: dict[str, Any] = {}
    for name, names in _NAMES.items():
        values = (sent[each] for each in names if sent.get(each) is not None)
        if (value := next(values, None)) is not None:
            found[name] = value
    content = {name: found.pop(name) for name in CANDIDATE_FIELDS if name in found}
    notes = complete(content)
    unknown = [name for name in sent if name not in _KNOWN]
    if unknown:
        notes.append(f"unknown fields were ignored: {listed(unknown)}")
    status = read_enum(LearningStatus, found.get("status", "active"))
    if status is None:
        # Anyone who calls it obsolete does not want it shown, and an archived one can be restored.
        status = LearningStatus.ARCHIVED
        notes.append(f"status: {listed([str(found['status'])])} is unknown; it was archived")
    said = {name: str(value).strip() for name, value in found.items() if type(value) in (str, int)}
    learning_id, session_id = said.get("id", ""), said.get("session_id", "")
    return Entry(
        line=number,
        fields=content,
        learning_id=learning_id if is_learning_id(learning_id) else None,
        timestamp=read_instant(found.get("timestamp")),
        status=status,
        ticket_id=clean_line(said.get("ticket_id", ""), _LONGEST_TICKET) or None,
        session_id=session_id if is_session_id(session_id) else None,
        notes=tuple(notes),
    )


def write_jsonl(learnings: Iterable[Learning]) -> str:
    """Write learnings without any loss."""
    documents = (learning_to_dict(learning) for learning in learnings)
    return "".join(f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents)

"""JSON Lines: what ``grove export`` writes, and simpler files of other programs."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from grove_core.codec import learning_to_dict
from grove_core.identifiers import is_learning_id, is_session_id
from grove_core.interchange.entries import (
    Entry,
    LeftOut,
    Origin,
    Reading,
    complete,
    first_sentence,
    left_out,
    read_instant,
)
from grove_core.model.learning import Learning, LearningStatus, about
from grove_core.reflection.candidates import kind_of, listed, read_enum
from grove_core.text import clean_line, is_conflict_marker, one_line

# By our names: what else a file may call the same, the likeliest first.
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "summary": ("summary", "title", "name", "headline"),
    "detail": ("detail", "details", "content", "text", "body", "description", "lesson", "learning"),
    "category": ("category", "type", "kind"),
    "tags": ("tags", "labels", "keywords", "topics"),
    "context_files": ("context_files", "files", "paths", "file"),
    "scope": ("scope",),
    "confidence": ("confidence",),
    "criteria_met": ("criteria_met", "criteria"),
    "supersedes": ("supersedes",),
}
_BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "learning_id"),
    "timestamp": ("timestamp", "created_at", "created", "date", "ts", "time"),
    "status": ("status",),
    "ticket_id": ("ticket_id", "ticket", "issue"),
    "session_id": ("session_id", "session"),
    "schema_version": ("schema_version",),
}
_KNOWN: Final = frozenset(name for names in (*_NAMES.values(), *_BESIDE.values()) for name in names)
_LONGEST_TICKET: Final = 200


def read_jsonl(text: str, origin: Origin) -> Reading:
    """Read a file of JSON Lines."""
    entries: list[Entry] = []
    out: list[LeftOut] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        read = _read_line(number, line, origin)
        if isinstance(read, Entry):
            entries.append(read)
        else:
            out.append(read)
    return Reading(entries=tuple(entries), left_out=tuple(out))


def _read_line(number: int, line: str, origin: Origin) -> Entry | LeftOut:
    if is_conflict_marker(line.encode("utf-8", "surrogateescape")):
        return left_out(number, line, "a conflict marker of git; both sides were read")
    try:
        sent: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = f"not JSON ({error}); give one object a line"
        return left_out(number, line, reason, is_fault=True)
    if not isinstance(sent, dict):
        reason = f"{kind_of(sent)}, not an object; give one object a line"
        return left_out(number, line, reason, is_fault=True)
    return _entry(number, sent, origin)


def _entry(number: int, sent: dict[str, Any], origin: Origin) -> Entry:
    fields = {name: sent[found] for name, names in _NAMES.items() if (found := _first(sent, names))}
    beside = {
        name: sent[found] for name, names in _BESIDE.items() if (found := _first(sent, names))
    }
    notes = [*_one_text_as_two(fields, origin), *complete(fields)]
    unknown = [name for name in sent if name not in _KNOWN]
    if unknown:
        notes.append(f"unknown fields were ignored: {listed(unknown)}")
    status = read_enum(LearningStatus, beside.get("status"))
    if status is None and isinstance(beside.get("status"), str):
        # Whoever calls it obsolete does not want it shown, and an archived one can be restored.
        status = LearningStatus.ARCHIVED
        notes.append(f"status: {listed([beside['status']])} is unknown; it was archived")
    said = {name: str(value).strip() for name, value in beside.items() if type(value) in (str, int)}
    learning_id, session_id = said.get("id", ""), said.get("session_id", "")
    return Entry(
        line=number,
        fields=fields,
        learning_id=learning_id if is_learning_id(learning_id) else None,
        timestamp=read_instant(beside.get("timestamp")),
        status=status or LearningStatus.ACTIVE,
        ticket_id=clean_line(said.get("ticket_id", ""), _LONGEST_TICKET) or None,
        session_id=session_id if is_session_id(session_id) else None,
        notes=tuple(notes),
    )


def _first(sent: Mapping[str, Any], names: Iterable[str]) -> str | None:
    return next((name for name in names if sent.get(name) is not None), None)


def _one_text_as_two(fields: dict[str, Any], origin: Origin) -> list[str]:
    """Return what has a single text a summary and a detail."""
    detail, summary = fields.get("detail"), fields.get("summary")
    if isinstance(detail, str) and summary is None:
        fields["summary"] = summary = first_sentence(detail)
        if one_line(summary) != one_line(detail):
            return ["summary: the first sentence of the text"]
    elif detail is not None or not isinstance(summary, str):
        return []
    text = detail if isinstance(detail, str) else summary
    if len(text.strip()) >= about("detail").least:
        fields["detail"] = f"{text.strip()}\n\nFrom {origin.name}."
    return ["detail: it had one text only"]


def write_jsonl(learnings: Iterable[Learning]) -> str:
    """Write learnings without any loss."""
    documents = (learning_to_dict(learning) for learning in learnings)
    return "".join(f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents)

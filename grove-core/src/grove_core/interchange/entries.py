"""What a reader finds in a file: entries that may become learnings, and what it leaves out."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from grove_core.clock import parse_instant
from grove_core.model.learning import Category, Criterion, LearningStatus
from grove_core.model.value import Value, frozen
from grove_core.reflection.candidates import clean_tag, listed, read_enum
from grove_core.text import clean_line

# A secret in it must be recognised, so not only what is shown of it is kept.
_LONGEST_TITLE: Final = 10_000
_MOST_TAGS: Final = 4
_TAG_LENGTHS: Final = range(4, 25)
_SPARE_TAG: Final = "imported"


@frozen(kw_only=True, eq=False, repr=False)
class Entry(Value):
    """Something that may become a learning, or with a reason why it cannot."""

    line: int
    fields: Mapping[str, Any]
    learning_id: str | None = None
    timestamp: datetime | None = None
    status: LearningStatus = LearningStatus.ACTIVE
    ticket_id: str | None = None
    session_id: str | None = None
    notes: tuple[str, ...] = ()
    reason: str = ""
    is_fault: bool = False
    rules: tuple["Entry", ...] = ()
    """What a list of rules holds, for those who pick from it."""


def left_out(line: int, text: str, reason: str, *, is_fault: bool = False) -> Entry:
    """Leave a piece of the source out: it is no learning, or a fault, which cannot be read."""
    fields = {"summary": clean_line(text, _LONGEST_TITLE)}
    return Entry(line=line, fields=fields, reason=reason, is_fault=is_fault)


def read_instant(raw: object) -> datetime | None:
    """Read a time: ISO 8601, or seconds since 1970."""
    try:
        if isinstance(raw, int | float):
            return datetime.fromtimestamp(raw, UTC)
        return parse_instant(raw) if isinstance(raw, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def tags_from(*texts: str) -> list[str]:
    """Take tags from the longer words of texts."""
    words = (clean_tag(word) for text in texts for word in re.findall(r"[\w-]*\w", text))
    tags = (tag for tag in words if tag and len(tag) in _TAG_LENGTHS and not tag.isdigit())
    return list(dict.fromkeys(tags))[:_MOST_TAGS] or [_SPARE_TAG]


def complete(fields: dict[str, Any]) -> list[str]:
    """Fill in what the schema demands and a source may leave out; return a note for each."""
    notes = []
    said = fields.get("category")
    if read_enum(Category, said) is None:
        was = f"{listed([said])} is unknown" if isinstance(said, str) else "none was given"
        fields["category"] = Category.CONVENTION.value
        notes.append(f"category: {was}; {fields['category']} was assumed")
    if not fields.get("criteria_met"):
        fields["criteria_met"] = [Criterion.STABLE_FACT.value]
        notes.append(f"criteria_met: {Criterion.STABLE_FACT.value} was assumed")
    if not fields.get("tags"):
        fields["tags"] = tags_from(str(fields.get("summary", "")))
        notes.append(f"tags, taken from the summary: {', '.join(fields['tags'])}")
    return notes

"""What a reader of a foreign format finds in a text: raw entries, and what it has left out."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Any, Final

from attrs import frozen

from grove_core.clock import parse_instant
from grove_core.model.learning import LearningStatus
from grove_core.model.value import Value
from grove_core.text import clean_line

# A secret in it must be recognised, so not only what is shown of it is kept.
_LOOKED_AT: Final = 10_000


@frozen(kw_only=True, eq=False, repr=False)
class Entry(Value):
    """Something that may become a learning."""

    line: int
    fields: Mapping[str, Any]
    learning_id: str | None = None
    timestamp: datetime | None = None
    status: LearningStatus = LearningStatus.ACTIVE
    ticket_id: str | None = None
    session_id: str | None = None
    notes: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class LeftOut(Value):
    """A piece of the source that is no learning, or cannot be read as one."""

    line: int
    title: str
    reason: str
    is_fault: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class Reading(Value):
    """What a text holds, in the order of its lines."""

    entries: tuple[Entry, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class Origin(Value):
    """Where a text came from."""

    name: str
    folder: str = ""
    path: str = ""


def left_out(line: int, text: str, reason: str, *, is_fault: bool = False) -> LeftOut:
    """Leave a piece of the source out."""
    title = clean_line(text, _LOOKED_AT)
    return LeftOut(line=line, title=title, reason=reason, is_fault=is_fault)


def read_instant(raw: object) -> datetime | None:
    """Read when something was written, in the forms that files have it in."""
    try:
        if isinstance(raw, datetime):
            return raw.replace(tzinfo=UTC) if raw.tzinfo is None else raw.astimezone(UTC)
        if isinstance(raw, date):
            return datetime.combine(raw, time(), UTC)
        if isinstance(raw, int | float) and not isinstance(raw, bool):
            return datetime.fromtimestamp(raw, UTC)
        return parse_instant(raw) if isinstance(raw, str) else None
    except (ValueError, OverflowError, OSError):
        return None

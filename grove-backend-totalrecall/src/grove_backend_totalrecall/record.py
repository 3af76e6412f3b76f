"""grove's own record beside the project: what the logs cannot carry, and statuses."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from grove_core import JsonlStore, LearningStatus, format_instant, parse_instant

FILE_NAME: Final = "total-recall.jsonl"
_STATUSES: Final = {status.value: status for status in LearningStatus}
_DIRECTORY: Final = ".grove"
_NEXT: Final = timedelta(microseconds=1)


class StatusChange(NamedTuple):
    """A status that grove has given a learning."""

    at: datetime
    status: LearningStatus
    marks: int


class Recorded(NamedTuple):
    """What the record says of one learning."""

    rest: Mapping[str, Any] | None
    changes: tuple[StatusChange, ...]


NOTHING: Final = Recorded(None, ())


class Record:
    """The record of one project, read when it has changed and not before."""

    def __init__(self, root: Path) -> None:
        self.directory = root / _DIRECTORY
        self.lines = JsonlStore[Mapping[str, Recorded]](
            self.directory / FILE_NAME, {}, fold, inside=root
        )

    def entries(self) -> Mapping[str, Recorded]:
        """Read what is recorded, by id; the same object as long as nothing has changed."""
        return self.lines.state()

    def of(self, learning_id: str) -> Recorded:
        """Return what is recorded of a learning."""
        return self.entries().get(learning_id, NOTHING)

    def add_rest(self, learning_id: str, rest: Mapping[str, Any], at: datetime) -> None:
        """Record what an entry does not give back."""
        self.lines.append({"id": learning_id, "at": format_instant(at), "rest": dict(rest)})

    def add_status(self, learning_id: str, change: StatusChange, note: str = "") -> None:
        """Record a status; it counts as the latest, also where a clock was ahead before."""
        earlier = (one.at + _NEXT for one in self.of(learning_id).changes)
        line: dict[str, Any] = {
            "id": learning_id,
            "at": format_instant(max([change.at, *earlier])),
            "status": change.status.value,
            "marks": change.marks,
        }
        self.lines.append(line | ({"note": note} if note else {}))


def fold(
    known: Mapping[str, Recorded], documents: Iterable[Mapping[str, Any]]
) -> Mapping[str, Recorded]:
    """Add what further lines of the record say."""
    found = dict(known)
    for document in documents:
        learning_id = document.get("id")
        if not isinstance(learning_id, str):
            continue
        one = found.get(learning_id, NOTHING)
        rest, status = document.get("rest"), _STATUSES.get(str(document.get("status")))
        if isinstance(rest, dict):
            found[learning_id] = one._replace(rest={**(one.rest or {}), **rest})
        elif status is not None and (at := _instant(document.get("at"))) is not None:
            changes = (*one.changes, StatusChange(at, status, _count(document.get("marks"))))
            found[learning_id] = one._replace(changes=changes)
    return found


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _instant(text: object) -> datetime | None:
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None

"""grove's own record beside the project: what the logs cannot carry, and statuses."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from grove_core import JsonlStore, LearningStatus, format_instant, parse_instant

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
        path = root / ".grove" / "total-recall.jsonl"
        self.lines = JsonlStore[Mapping[str, Recorded]](path, {}, fold, inside=root)

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
    """Add what further lines of the record say; one that somebody has spoilt says nothing."""
    found = dict(known)
    for document in documents:
        with suppress(ValueError, LookupError, TypeError, AttributeError, OverflowError):
            one = found.get(document["id"], NOTHING)
            if "rest" in document:
                one = one._replace(rest={**(one.rest or {}), **document["rest"]})
            else:
                at, status = parse_instant(document["at"]), LearningStatus(document["status"])
                change = StatusChange(at, status, int(document.get("marks", 0)))
                one = one._replace(changes=(*one.changes, change))
            found[document["id"]] = one
    return found

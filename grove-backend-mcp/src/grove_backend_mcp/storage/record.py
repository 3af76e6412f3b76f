"""grove's own record of a project's learnings, which is the truth on this side of a server."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from attrs import evolve

from grove_backend_mcp.storage.lines import Folded, line_of, objects_in
from grove_core import (
    CodecError,
    Learning,
    LearningStatus,
    append_text,
    format_instant,
    is_learning_id,
    learning_from_dict,
    learning_to_dict,
    parse_instant,
)

_STATUSES: Final = {status.value: status for status in LearningStatus}
_NEXT: Final = timedelta(microseconds=1)


class StatusChange(NamedTuple):
    """A status that a learning was given."""

    at: datetime
    status: LearningStatus


class Recorded(NamedTuple):
    """What some lines of the record say."""

    learnings: Mapping[str, Learning]
    statuses: Mapping[str, StatusChange]

    def now(self, learning: Learning) -> Learning:
        """Return a learning the status it has by now."""
        change = self.statuses.get(learning.id)
        if change is None or change.status is learning.status:
            return learning
        return evolve(learning, status=change.status)

    def get(self, learning_id: str) -> Learning | None:
        """Return a learning as it is now."""
        learning = self.learnings.get(learning_id)
        return None if learning is None else self.now(learning)


NOTHING: Final = Recorded({}, {})


class Record:
    """The record of one project."""

    def __init__(self, path: Path, root: Path) -> None:
        """Read nothing yet."""
        self.path = path
        self.root = root
        self._folded = Folded(path, NOTHING, read_lines, inside=root)

    def contents(self) -> Recorded:
        """Read what is recorded; the same object as long as nothing has changed."""
        return self._folded.value()

    def add(self, learning: Learning, at: datetime) -> bool:
        """Record a learning, unless its id is recorded."""
        if learning.id in self.contents().learnings:
            return False
        line = line_of({"at": format_instant(at), "learning": learning_to_dict(learning)})
        # Another process may have been faster: the text under the lock decides.
        quoted = f'"{learning.id}"'

        def new_line(text: str) -> str:
            about = "\n".join(one for one in text.split("\n") if quoted in one)
            known = read_lines(NOTHING, about.encode("utf-8", "surrogateescape"))
            return "" if learning.id in known.learnings else line

        return append_text(self.path, new_line, inside=self.root)

    def add_status(
        self, learning_id: str, status: LearningStatus, at: datetime, note: str = ""
    ) -> None:
        """Record a status; it counts as the latest, also where a clock was ahead before."""
        before = self.contents().statuses.get(learning_id)
        when = at if before is None else max(at, _after(before.at))
        line: dict[str, Any] = {
            "at": format_instant(when),
            "id": learning_id,
            "status": status.value,
        }
        append_text(self.path, line_of(line | ({"note": note} if note else {})), inside=self.root)


def read_lines(known: Recorded, content: bytes) -> Recorded:
    """Read lines of the record."""
    learnings, statuses = dict(known.learnings), dict(known.statuses)
    for line in objects_in(content):
        learning_id, status = line.get("id"), _STATUSES.get(str(line.get("status")))
        if "learning" in line:
            learning = _learning_in(line["learning"])
            if learning is not None:
                learnings.setdefault(learning.id, learning)
        elif isinstance(learning_id, str) and status and (at := _instant(line.get("at"))):
            before = statuses.get(learning_id)
            change = StatusChange(at, status)
            if before is None or _rank(change) > _rank(before):
                statuses[learning_id] = change
    return Recorded(learnings, statuses)


def _after(instant: datetime) -> datetime:
    try:
        return instant + _NEXT
    except OverflowError:
        return instant  # somebody has written down the end of time


def _rank(change: StatusChange) -> tuple[datetime, str]:
    # Two clones may have changed one in the same instant: any order, but the same for both.
    return change.at, change.status.value


def _learning_in(document: object) -> Learning | None:
    try:
        learning = learning_from_dict(document)
    except CodecError:
        return None
    return learning if is_learning_id(learning.id) else None


def _instant(text: object) -> datetime | None:
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None

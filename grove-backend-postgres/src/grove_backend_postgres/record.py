"""What this machine knows of a project's learnings, so that no one has to wait for the database."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from attrs import evolve

from grove_backend_postgres.outbox import Entry, Outbox, StatusChange, counts, new_learnings
from grove_backend_postgres.pull import Pulled
from grove_backend_postgres.team import Paths
from grove_core import (
    Changes,
    CodecError,
    JsonlStore,
    Learning,
    LearningNotFoundError,
    LearningStatus,
    format_instant,
    learning_from_dict,
    learning_to_dict,
    locked,
    parse_instant,
)

_NEXT: Final = timedelta(microseconds=1)
_MOST_LOOKED_UP: Final = 100


class Row(NamedTuple):
    """A learning as the database has it; ``None`` where a newer grove has written it."""

    learning: Learning | None
    status_at: datetime
    own: bool = False


class Replica(NamedTuple):
    """What the database has told, as far as it was asked."""

    rows: Mapping[str, Row]
    mark: str
    after_loss: bool


_NOTHING: Final = Replica({}, "", after_loss=False)


class Record:
    """The replica of one project, and on top of it what waits for the database.

    Whatever reads both reads the outbox first: what is delivered is in the replica before it leaves
    the outbox.
    """

    def __init__(self, paths: Paths) -> None:
        self.outbox = Outbox(paths.outbox)
        self._paths = paths
        self._lines = JsonlStore(paths.replica, _NOTHING, _fold)

    def learnings(self) -> list[Learning]:
        """Return all learnings, oldest first."""
        return _oldest_first(self._rows())

    def get(self, learning_id: str) -> Learning | None:
        """Find a learning, without reading all of them."""
        row = self._about([learning_id]).get(learning_id)
        return row.learning if row else None

    def changes(self, mark: str) -> Changes:
        """Return what has changed since an earlier answer."""
        place, outbox_mark, lines_mark = [*mark.split("|"), "", ""][:3]
        is_known = place == self._paths.folder.name
        waiting = self.outbox.since(outbox_mark if is_known else "")
        tail = self._lines.since(lines_mark if is_known else "")
        ids = {entry.learning_id for entry in waiting.entries}
        has_gone = any("gone" in one for one in tail.documents)
        whole = tail.whole or has_gone
        rows = self._rows() if whole else self._about(ids, tail.documents)
        return Changes(
            learnings=tuple(_oldest_first(rows)),
            mark=f"{self._paths.folder.name}|{waiting.mark}|{tail.mark}",
            whole=whole,
        )

    def add(self, learning: Learning) -> bool:
        """Have a learning wait for the database, unless its id is known."""
        with self._alone():
            is_new = learning.id not in self._about([learning.id])
            if is_new:
                # From here on it is safe, whatever becomes of this process.
                self.outbox.add([learning])
        return is_new

    def set_status(
        self, learning_id: str, status: LearningStatus, now: datetime, note: str = ""
    ) -> Learning:
        """Change a learning's status, and have that wait for the database."""
        with self._alone():
            row = self._about([learning_id]).get(learning_id)
            if row is None or row.learning is None:
                raise LearningNotFoundError(
                    f"there is no learning {learning_id} in {self._paths.folder}"
                )
            was = row.learning.status
            if was is not status:
                at = max(now, row.status_at + _NEXT)
                change = StatusChange(status=status, at=at, was=was, note=note)
                self.outbox.add_change(learning_id, change)
        return evolve(row.learning, status=status)

    def mark(self) -> str:
        """Return the mark of the latest pull; empty before the first."""
        return self._lines.state().mark

    def undelivered(self) -> list[Learning]:
        """Return the learnings that the database has not got, or not with the status they have."""
        return _oldest_first(self._about(self.outbox.all().ids))

    def note_delivered(self, delivered: Collection[Entry]) -> None:
        """Take out of the outbox what the database has: not before, so that nothing is lost."""
        written = {one.learning_id for one in delivered if isinstance(one.what, Learning)}
        rows = self._about({one.learning_id for one in delivered})
        # What is known already may be newer: somebody else has changed its status meanwhile.
        self._append(
            {one: row._replace(own=row.own or one in written) for one, row in rows.items()}
        )
        self.outbox.remove(delivered)

    def take_in_found(self, learnings: Collection[Learning]) -> None:
        """Keep learnings that a search has found in the database before a pull has brought them."""
        known = self._about([one.id for one in learnings])
        self._append({one.id: Row(one, one.timestamp) for one in learnings if one.id not in known})

    def take_in(self, pulled: Pulled, *, asked_with: str) -> int:
        """Add a page of what the database has told; return how much of it is new to people."""
        known, before = self._lines.state(), self._rows()
        # A database that does not know its own mark has lost its latest changes.
        after_loss = known.after_loss or (pulled.whole and asked_with != "")
        own = {one for one, row in known.rows.items() if row.own}
        told = {
            one.id: Row(one, pulled.status_times[one.id], own=one.id in own)
            for one in pulled.learnings
        }
        if after_loss:
            self._tell_statuses_again(told, before)
        unread = {one: Row(None, _EARLIEST) for one in pulled.unreadable if one not in known.rows}
        new = {one: row for one, row in told.items() if known.rows.get(one) != row}
        self._append(new | unread, {"mark": pulled.mark, "after_loss": after_loss})
        after = self._rows()
        return sum(one not in before or before[one].learning != after[one].learning for one in told)

    def is_all(self, total: int | None) -> bool:
        """Return whether the replica has as many learnings as the database."""
        known = self._lines.state()
        return not known.after_loss and total in {None, len(known.rows)}

    def drop_others(self, there: Collection[str]) -> bool:
        """Forget what the database has no longer; return whether the rest is all it has.

        What somebody has deleted goes here as well. What a database has lost comes back from
        no matter who wrote it.
        """
        known = self._lines.state()
        others = {one: row for one, row in known.rows.items() if one not in there}
        if known.after_loss:
            shown = self._about(others)
            own = [shown[one].learning for one, row in others.items() if row.own]
            waiting = new_learnings(self.outbox.all().entries)
            self.outbox.add(one for one in own if one is not None and one.id not in waiting)
        self._lines.append({"gone": [*others], "after_loss": False})
        return len(known.rows) - len(others) == len(there)

    def _tell_statuses_again(self, told: Mapping[str, Row], before: Mapping[str, Row]) -> None:
        """Have the database told once more of statuses that it has lost."""
        for learning_id, row in told.items():
            here = before.get(learning_id)
            if here is None or here.learning is None or here.status_at <= row.status_at:
                continue
            assert row.learning is not None, "what cannot be read is not among it"
            status, was = here.learning.status, row.learning.status
            if status is not was:
                change = StatusChange(status=status, at=here.status_at, was=was)
                self.outbox.add_change(learning_id, change)

    def _alone(self) -> AbstractContextManager[int]:
        """Keep other processes from finding at the same time that an id is new."""
        return locked(self._paths.write_lock)

    def _rows(self) -> dict[str, Row]:
        waiting = self.outbox.all().entries
        return _on_top(self._lines.state().rows, waiting)

    def _about(
        self, ids: Collection[str], told: Collection[Mapping[str, Any]] = ()
    ) -> dict[str, Row]:
        """Return a few rows, and those of some lines; where they are few, no other is read."""
        wanted = {*ids, *(str(one["id"]) for one in told if "id" in one)}
        if len(ids) > _MOST_LOOKED_UP:
            rows = self._rows()
        else:
            waiting = self.outbox.about(wanted)
            lines = [*told, *self._lines.naming(*ids)]
            rows = _on_top(_fold(_NOTHING, lines).rows, waiting)
        return {one: row for one, row in rows.items() if one in wanted}

    def _append(self, rows: Mapping[str, Row], *further: Mapping[str, Any]) -> None:
        lines = [_line_of(one, row) for one, row in rows.items()]
        if lines or further:
            self._lines.append(*lines, *further)


_EARLIEST: Final = parse_instant("1970-01-01T00:00:00Z")


def _line_of(learning_id: str, row: Row) -> dict[str, Any]:
    return {
        "id": learning_id,
        "learning": None if row.learning is None else learning_to_dict(row.learning),
        "at": format_instant(row.status_at),
        "own": row.own,
    }


def _fold(known: Replica, documents: Iterable[Mapping[str, Any]]) -> Replica:
    rows, mark, after_loss = dict(known.rows), known.mark, known.after_loss
    for document in documents:
        try:
            if "id" in document:
                learning, at = _learning_in(document), parse_instant(document["at"])
                rows[document["id"]] = Row(learning, at, own=document["own"])
        except (ValueError, LookupError, TypeError, AttributeError):
            # Somebody has changed the line: one learning less than the database has, which shows.
            continue
        for gone in document.get("gone", ()):
            rows.pop(gone, None)
        mark = document.get("mark", mark)
        after_loss = document.get("after_loss", after_loss)
    return Replica(rows, mark, after_loss)


def _learning_in(document: Mapping[str, Any]) -> Learning | None:
    try:
        return learning_from_dict(document["learning"])
    except CodecError:
        return None


def _on_top(rows: Mapping[str, Row], waiting: Iterable[Entry]) -> dict[str, Row]:
    """Put what waits on top of what the database has told."""
    found = dict(rows)
    for one in waiting:
        row = found.get(one.learning_id)
        if isinstance(one.what, Learning):
            if row is None:
                found[one.learning_id] = Row(one.what, one.what.timestamp, own=True)
        elif row is not None and row.learning is not None:
            change = one.what
            if counts(change, row.learning.status, row.status_at):
                learning = evolve(row.learning, status=change.status)
                found[one.learning_id] = row._replace(learning=learning, status_at=change.at)
    return found


def _oldest_first(rows: Mapping[str, Row]) -> list[Learning]:
    read: Sequence[Learning] = [one.learning for one in rows.values() if one.learning is not None]
    return sorted(read, key=lambda one: one.timestamp)

"""What waits for the database, on this machine: a file that is there before anything is sent."""

import json
import secrets
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from grove_backend_postgres.changing import StatusChange
from grove_core import (
    CodecError,
    Learning,
    LearningStatus,
    append_text,
    edit_text,
    format_instant,
    learning_from_dict,
    learning_to_dict,
    parse_instant,
    read_bytes,
)

_TOKEN_BYTES: Final = 8


class Entry(NamedTuple):
    """Something that waits."""

    line: bytes
    learning_id: str
    what: Learning | StatusChange


class Tail(NamedTuple):
    """The end of the file."""

    token: str
    end: int
    entries: tuple[Entry, ...]
    unreadable: int


class Outbox:
    """The file of one project."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self.path = path

    def since(self, token: str, end: int) -> Tail:
        """Read what has come after an earlier look."""
        content = read_bytes(self.path) or b""
        whole_lines = content.rfind(b"\n") + 1
        # Somebody may be writing the last line; one that lacks nothing but its end counts.
        if _entry_of(content[whole_lines:]) is None:
            content = content[:whole_lines]
        first, _, _ = content.partition(b"\n")
        now = _token_in(first)
        start = end if now and now == token and end <= len(content) else 0
        lines = [line for line in content[start:].split(b"\n") if line.strip()]
        entries = tuple(filter(None, map(_entry_of, lines)))
        unreadable = len(lines) - len(entries) - sum(1 for line in lines if _token_in(line))
        return Tail(now, len(content), entries, unreadable)

    def all(self) -> Tail:
        """Read everything."""
        return self.since("", 0)

    def add(self, learnings: Iterable[Learning]) -> None:
        """Have learnings wait."""
        self._append({"learning": learning_to_dict(one)} for one in learnings)

    def add_change(self, learning_id: str, change: StatusChange) -> None:
        """Have a change of a learning's status wait."""
        at, status, was = format_instant(change.at), change.status.value, change.was.value
        note = {"note": change.note} if change.note else {}
        self._append([{"id": learning_id, "status": status, "at": at, "was": was, **note}])

    def add_lines(self, lines: Collection[bytes]) -> None:
        """Have wait what waited in another file, unless it waits here already."""
        there = {one.line for one in self.all().entries}
        new = [line.decode("utf-8", "surrogateescape") for line in lines if line not in there]
        self._append_lines(new)

    def remove(self, entries: Collection[Entry]) -> None:
        """Take out what the database has; everything else stays as it is."""
        gone = {one.line.decode("utf-8", "surrogateescape") for one in entries}

        def rest(text: str) -> str:
            lines = [line for line in text.split("\n") if line.strip() and line not in gone]
            kept = [line for line in lines if not _token_in(line)]
            return "".join(f"{line}\n" for line in (_first_line(), *kept))

        if gone:
            edit_text(self.path, rest)

    def _append(self, documents: Iterable[dict[str, Any]]) -> None:
        self._append_lines([json.dumps(each) for each in documents])

    def _append_lines(self, lines: Sequence[str]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        if not text:
            return
        if not self.path.exists():
            append_text(self.path, lambda there: "" if there else f"{_first_line()}\n")
        append_text(self.path, text)


def status_changes(entries: Iterable[Entry]) -> Iterator[tuple[str, StatusChange]]:
    """Return what waits that is about a status, each with the learning's id."""
    for entry in entries:
        if isinstance(entry.what, StatusChange):
            yield entry.learning_id, entry.what


def new_learnings(entries: Iterable[Entry]) -> dict[str, Learning]:
    """Return the learnings that wait, by id."""
    return {one.learning_id: one.what for one in entries if isinstance(one.what, Learning)}


def _first_line() -> str:
    return json.dumps({"outbox": secrets.token_hex(_TOKEN_BYTES)})


def _token_in(line: bytes | str) -> str:
    document = _document(line)
    token = document.get("outbox")
    return token if isinstance(token, str) else ""


def _entry_of(line: bytes) -> Entry | None:
    document = _document(line)
    try:
        if "learning" in document:
            learning = learning_from_dict(document["learning"])
            return Entry(line, learning.id, learning)
        change = StatusChange(
            status=LearningStatus(document["status"]),
            at=parse_instant(document["at"]),
            was=LearningStatus(document["was"]),
            note=str(document.get("note", "")),
        )
        return Entry(line, str(document["id"]), change)
    except (CodecError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def _document(line: bytes | str) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}

"""How learnings have fared, read from the text of event logs as fast as it can be.

``aggregate`` says the same, and more, of events that were read one by one. Hooks rank learnings by
these numbers, and reading ten thousand events into objects takes several times what a hook may
take. Here the lines are parsed together and folded as they are; lines of older versions, and any
that this module has doubts about, go the usual way through the codec.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from grove_core.errors import CodecError
from grove_core.model.statistics import LearningStats

if TYPE_CHECKING:
    from grove_core.model.events import StatsEvent

ReadEvent = Callable[[str], "StatsEvent | None"]
"""Reads a line as an event; ``None`` for events of a newer grove, ``CodecError`` for no event."""

_VERSION: Final = 1
# Without one of these a line says nothing of a learning's use; `\\u` may write any of them.
_WORDS: Final = ("surfaced", "referenced", "dismissed", "corrected", "rated", "\\u")
_LENGTH_OF_INSTANT: Final = len("2026-02-06T10:00:00Z")


def usage_of(logs: Iterable[str], read: ReadEvent) -> Mapping[str, LearningStats]:
    """Count how learnings have fared.

    Args:
        logs: The texts of event logs, JSON Lines; what cannot be read in them does not count.
        read: The codec's reader, for lines that are not plainly what this version writes.

    Returns:
        The numbers by learning, as ``aggregate`` would have them.
    """
    usage: defaultdict[str, _Usage] = defaultdict(_Usage)
    for log in logs:
        lines = [line for line in log.split("\n") if line.strip()]
        for line, document in zip(lines, _documents(lines), strict=True):
            _count(usage, line, document, read)
    return {learning_id: one.result(learning_id) for learning_id, one in usage.items()}


class _Usage:
    """The counters of one learning."""

    __slots__ = ("corrected", "last", "ratings", "sessions", "tickets")

    def __init__(self) -> None:
        self.sessions: dict[str, set[str]] = {}
        self.last: dict[str, datetime] = {}
        self.tickets: set[str] = set()
        self.corrected = 0
        self.ratings = [0, 0]

    def add_use(self, event: str, session_id: str, moment: datetime, ticket_id: str | None) -> None:
        self.sessions.setdefault(event, set()).add(session_id)
        if event not in self.last or moment > self.last[event]:
            self.last[event] = moment
        if ticket_id and event == "referenced":
            self.tickets.add(ticket_id)

    def result(self, learning_id: str) -> LearningStats:
        referenced: set[str] = self.sessions.get("referenced", set())
        return LearningStats(
            learning_id=learning_id,
            surfaced=len(self.sessions.get("surfaced", ())),
            referenced=len(referenced),
            dismissed=len(self.sessions.get("dismissed", set()) - referenced),
            corrected=self.corrected,
            last_surfaced=self.last.get("surfaced"),
            last_referenced=self.last.get("referenced"),
            referencing_tickets=frozenset(self.tickets),
            useful_ratings=self.ratings[True],
            useless_ratings=self.ratings[False],
        )


def _documents(lines: list[str]) -> list[Any]:
    """Parse lines together; where that does not go well, each by itself."""
    # Whole objects only: then one value for each line means that each line was one.
    if all(line.startswith("{") and line.endswith("}") for line in lines):
        try:
            documents: list[Any] = json.loads(f"[{','.join(lines)}]")
        except (ValueError, RecursionError):
            pass
        else:
            if len(documents) == len(lines):
                return documents
    return [_document(line) for line in lines]


def _document(line: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _count(
    usage: defaultdict[str, _Usage],
    line: str,
    document: Any,  # noqa: ANN401 - any JSON value
    read: ReadEvent,
) -> None:
    try:
        event, learning_id = document["event"], document["learning_id"]
        session_id, ts = document["session_id"], document["ts"]
    except (KeyError, TypeError):
        event = None
    if (
        type(event) is str
        and event in _PLAIN_DETAILS
        and type(learning_id) is type(session_id) is type(ts) is str
        and len(ts) == _LENGTH_OF_INSTANT
        and ts[10] == "T"
        and ts[-1] == "Z"
        and _is_of_this_version(document)
        and _PLAIN_DETAILS[event](document)
    ):
        try:
            moment = datetime.fromisoformat(ts)
        except ValueError:
            return
        usage[learning_id].add_use(event, session_id, moment, document.get("ticket_id"))
    else:
        _count_slowly(usage, line, read)


def _is_of_this_version(document: Mapping[str, Any]) -> bool:
    version = document.get("v")
    return type(version) is int and version == _VERSION and "grove_version" not in document


def _plain_surfaced(document: Mapping[str, Any]) -> bool:
    score = document.get("score", 0.0)
    plain = type(score) is float or (type(score) is int and abs(score) <= 1)
    return plain and isinstance(document.get("via", ""), str)


def _plain_referenced(document: Mapping[str, Any]) -> bool:
    details = (document.get("ticket_id"), document.get("how"))
    return all(isinstance(detail, str | None) for detail in details)


# What every event has is looked at in one place; this is for the rest of its fields.
_PLAIN_DETAILS: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    "surfaced": _plain_surfaced,
    "referenced": _plain_referenced,
    "dismissed": lambda _: True,
}


def _count_slowly(usage: defaultdict[str, _Usage], line: str, read: ReadEvent) -> None:
    if not any(word in line for word in _WORDS):
        return
    from grove_core.model.events import Corrected, Dismissed, Rated, Referenced, Surfaced

    try:
        event = read(line)
    except CodecError:
        return
    match event:
        case Surfaced() | Dismissed():
            usage[event.learning_id].add_use(event.event, event.session_id, event.ts, None)
        case Referenced():
            usage[event.learning_id].add_use(
                event.event, event.session_id, event.ts, event.ticket_id
            )
        case Corrected():
            usage[event.learning_id].corrected += 1
        case Rated():
            usage[event.learning_id].ratings[event.useful] += 1
        case _:
            pass

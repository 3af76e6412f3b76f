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

_USES: Final = frozenset({"surfaced", "referenced", "dismissed"})
_KNOWN: Final = _USES | {"corrected", "rated"}
_VERSION: Final = 1
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
    if not isinstance(document, dict):
        return
    event = document.get("event")
    if not isinstance(event, str) or event not in _KNOWN:
        return
    moment = _moment(document.get("ts"))
    if event in _USES and moment is not None and _is_plain(event, document):
        one = usage[document["learning_id"]]
        one.add_use(event, document["session_id"], moment, document.get("ticket_id"))
    else:
        _count_slowly(usage, line, read)


def _moment(ts: Any) -> datetime | None:  # noqa: ANN401 - any JSON value
    """Read an instant as grove writes it; ``None`` for all others."""
    if not isinstance(ts, str) or len(ts) != _LENGTH_OF_INSTANT or ts[-1] != "Z" or ts[10] != "T":
        return None
    try:
        return datetime.fromisoformat(ts)
    except ValueError:
        return None


def _is_plain(event: str, document: Mapping[str, Any]) -> bool:
    """Tell whether an event is of this version and its fields are what they should be."""
    return (
        type(document.get("v")) is int
        and document["v"] == _VERSION
        and "grove_version" not in document
        and isinstance(document.get("learning_id"), str)
        and isinstance(document.get("session_id"), str)
        and _has_plain_details(event, document)
    )


def _has_plain_details(event: str, document: Mapping[str, Any]) -> bool:
    if event == "surfaced":
        score = document.get("score", 0.0)
        plain = type(score) is float or (type(score) is int and abs(score) <= 1)
        return plain and isinstance(document.get("via", ""), str)
    if event == "referenced":
        return isinstance(document.get("ticket_id"), str | None) and isinstance(
            document.get("how"), str | None
        )
    return True


def _count_slowly(usage: defaultdict[str, _Usage], line: str, read: ReadEvent) -> None:
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

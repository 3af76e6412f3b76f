"""The event log: JSON Lines, append-only, the source of truth for every number."""

from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from grove_core import codec, files
from grove_core.errors import CodecError
from grove_core.model.events import StatsEvent
from grove_core.model.value import Value


@frozen(kw_only=True, eq=False, repr=False)
class LogContent(Value):
    """What a log file holds.

    Attributes:
        events: The events that could be read, in the order of the file.
        unreadable: Numbers of the lines (from 1) that could not: conflict markers, torn writes.
        unknown: How many events a newer grove wrote that this one does not know.
    """

    events: tuple[StatsEvent, ...] = ()
    unreadable: tuple[int, ...] = ()
    unknown: int = 0


class EventLog:
    """One log file."""

    def __init__(self, path: Path, version: str, *, inside: Path | None = None) -> None:
        """Name the file; it is created by the first event.

        Args:
            path: The file.
            version: grove's version, for new lines.
            inside: A directory that symbolic links must not lead out of; ``None`` for anywhere.
        """
        self.path = path
        self._version = version
        self._inside = inside

    def append(self, events: Iterable[StatsEvent]) -> None:
        """Append events, all or none.

        Args:
            events: The events.

        Raises:
            StorageError: They could not be written.
        """
        lines = "".join(codec.event_to_line(event, self._version) for event in events)
        if lines:
            files.append_text(self.path, lines, inside=self._inside)

    def read(self) -> LogContent:
        """Read the whole log; a missing file holds nothing.

        Returns:
            What could be read, and what could not.

        Raises:
            StorageError: The file is there and cannot be read at all.
        """
        events: list[StatsEvent] = []
        unreadable: list[int] = []
        unknown = 0
        for number, line in enumerate((files.read_text(self.path) or "").split("\n"), start=1):
            if not line.strip():
                continue
            try:
                event = codec.event_from_line(line)
            except CodecError:
                unreadable.append(number)
                continue
            if event is None:
                unknown += 1
            else:
                events.append(event)
        return LogContent(events=tuple(events), unreadable=tuple(unreadable), unknown=unknown)

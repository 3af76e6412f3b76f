"""The event log: JSON Lines, append-only, the source of truth for every number."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import frozen

from grove_core import codec, files
from grove_core.errors import CodecError
from grove_core.log_identity import events_target
from grove_core.model.events import StatsEvent
from grove_core.model.value import Value
from grove_core.paths import ProjectPaths


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
        return _parse(files.read_text(self.path) or "")


class ProjectLog:
    """The log of a project: the file of the layout ``single`` and those of ``spread``, as one."""

    def __init__(self, project: ProjectPaths, home: Path, version: str, *, spread: bool) -> None:
        """Look at nothing yet.

        Args:
            project: The project's files.
            home: grove's own directory.
            version: grove's version, for new lines.
            spread: Whether new events go where git has nothing to merge.
        """
        self._project = project
        self._home = home
        self._version = version
        self._spread = spread

    @property
    def path(self) -> Path:
        """Where new events go: the file, or the folder of files."""
        return self._project.events_folder if self._spread else self._project.events_file

    def append(self, events: Iterable[StatsEvent]) -> None:
        """Append events to the file that is this branch's, all or none.

        Args:
            events: The events.

        Raises:
            StorageError: They could not be written.
        """
        root = self._project.root
        target = events_target(os.fspath(root), os.fspath(self._home), spread=self._spread)
        # A cloned project's links must not lead grove's writing out of it.
        EventLog(Path(target), self._version, inside=root).append(events)

    def files(self) -> Sequence[EventLog]:
        """Name the files that are there, each as a log of its own."""
        return [EventLog(path, self._version) for path in self._project.event_files()]

    def read(self) -> LogContent:
        """Read all files as one: in the order of time, and each line once.

        Returns:
            What could be read, and what could not; numbers of lines are those of their files.

        Raises:
            StorageError: A file is there and cannot be read at all.
        """
        seen: set[str] = set()
        contents = [
            _parse(files.read_text(path) or "", seen) for path in self._project.event_files()
        ]
        events = [event for content in contents for event in content.events]
        if len(contents) > 1:
            events.sort(key=lambda event: event.ts)
        return LogContent(
            events=tuple(events),
            unreadable=tuple(number for content in contents for number in content.unreadable),
            unknown=sum(content.unknown for content in contents),
        )


def _parse(text: str, seen: set[str] | None = None) -> LogContent:
    """Read a file's lines; with ``seen``, each only once: merges and migrations may double them."""
    events: list[StatsEvent] = []
    unreadable: list[int] = []
    unknown = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or (seen is not None and line in seen):
            continue
        try:
            event = codec.event_from_line(line)
        except CodecError:
            unreadable.append(number)
            continue
        if seen is not None:
            seen.add(line)
        if event is None:
            unknown += 1
        else:
            events.append(event)
    return LogContent(events=tuple(events), unreadable=tuple(unreadable), unknown=unknown)

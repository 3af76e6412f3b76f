"""Everything that Total Recall remembers, read when it has changed and not before."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from grove_backend_totalrecall.contents import Contents, Known
from grove_backend_totalrecall.places import LARGEST_BYTES, MemoryFile, Places
from grove_backend_totalrecall.reading import Reading, read_log
from grove_backend_totalrecall.record import Record, Recorded
from grove_backend_totalrecall.stamps import Stamp, stamp_of
from grove_core import LearningStatus, StorageError, read_text

_NOTHING: Final = Reading((), (), ())
_METADATA_STATUSES: Final = {
    "superseded": LearningStatus.SUPERSEDED,
    "archived": LearningStatus.ARCHIVED,
}


class Store:
    """The files below Total Recall's root, and grove's record beside the project."""

    def __init__(self, places: Places, record: Record) -> None:
        """Read nothing yet."""
        self.places = places
        self.record = record
        self._cache: dict[Path, tuple[Stamp, Reading]] = {}
        self._known: dict[str, Known] = {}
        self._latest: Contents | None = None
        self._look: object = None
        self._recorded: Mapping[str, Recorded] = {}

    def sources(self) -> list[Path]:
        """Name what is read: as long as it looks the same, nothing has changed."""
        return [*self.places.folders(), self.record.path]

    def contents(self) -> Contents:
        """Read what has changed."""
        readings = [(file, self._read(file)) for file in self.places.files()]
        look = (readings, stamp_of(self.places.metadata))
        recorded = self.record.entries()
        if self._latest is None or self._look != look or self._recorded is not recorded:
            self._latest = Contents(readings, recorded, self._metadata(), self._known)
            self._look, self._recorded = look, recorded
        return self._latest

    def forget(self, path: Path) -> None:
        """Read a file anew next time, however alike it looks."""
        self._cache.pop(path, None)

    def _read(self, file: MemoryFile) -> Reading:
        stamp = stamp_of(file.path)
        if stamp is None:
            return _NOTHING  # gone since, or a link to nowhere
        cached = self._cache.get(file.path)
        if cached is not None and cached[0] == stamp:
            return cached[1]
        if stamp.size > LARGEST_BYTES or not file.path.is_file():
            return _NOTHING  # doctor names it
        try:
            text = read_text(file.path) or ""
        except StorageError:
            return _NOTHING  # one file that cannot be read takes no other with it; doctor names it
        reading = read_log(text, daily=file.day is not None)
        self._cache[file.path] = stamp, reading
        return reading

    def _metadata(self) -> Mapping[str, LearningStatus]:
        """Read the statuses that Total Recall keeps of its durable ids."""
        try:
            if os.path.getsize(self.places.metadata) > LARGEST_BYTES:  # noqa: PTH202 - one call
                return {}
            document = json.loads(read_text(self.places.metadata) or "{}")
        except (OSError, StorageError, ValueError, RecursionError):
            return {}
        if not isinstance(document, dict):
            return {}
        found = {
            key: _METADATA_STATUSES.get(str(value.get("status")))
            for key, value in document.items()
            if isinstance(value, dict)
        }
        return {key: status for key, status in found.items() if status is not None}

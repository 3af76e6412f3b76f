"""Everything that Total Recall remembers, read when it has changed and not before."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from grove_backend_totalrecall.contents import Contents
from grove_backend_totalrecall.paths import MemoryFile, Paths, read_file
from grove_backend_totalrecall.reader import Reading, read_log
from grove_backend_totalrecall.record import Record
from grove_core import LearningStatus, fingerprint_of

_NOTHING: Final = Reading((), (), ())
_STATUSES: Final = {
    "superseded": LearningStatus.SUPERSEDED,
    "archived": LearningStatus.ARCHIVED,
}


class Store:
    """The files below Total Recall's root, and grove's record beside the project."""

    def __init__(self, paths: Paths, record: Record) -> None:
        self.paths = paths
        self.record = record
        self._cache: dict[Path, tuple[str, Reading]] = {}

    def contents(self) -> Contents:
        """Read what has changed."""
        readings = [(file, self._read(file)) for file in self.paths.files()]
        return Contents(readings, self.record.entries(), self._metadata())

    def forget(self, path: Path) -> None:
        """Read a file again next time, even if it looks the same."""
        self._cache.pop(path, None)

    def _read(self, file: MemoryFile) -> Reading:
        fingerprint = fingerprint_of([file.path])
        cached = self._cache.get(file.path)
        if cached is not None and cached[0] == fingerprint:
            return cached[1]
        content = read_file(file.path)
        if content is None:
            return _NOTHING
        reading = read_log(content, daily=file.day is not None)
        self._cache[file.path] = fingerprint, reading
        return reading

    def _metadata(self) -> Mapping[str, LearningStatus]:
        try:
            document: dict[str, Any] = json.loads(read_file(self.paths.metadata) or b"{}")
            words = {key: str(value.get("status")) for key, value in document.items()}
        except (ValueError, RecursionError, AttributeError):
            return {}
        return {key: _STATUSES[word] for key, word in words.items() if word in _STATUSES}

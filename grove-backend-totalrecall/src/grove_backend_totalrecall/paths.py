"""Where Total Recall keeps what it remembers."""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple

from grove_core import StorageError, confined, read_bytes

LARGEST_BYTES: Final = 16 * 1024 * 1024
"""Files beyond that are not read: a log of a day has some kilobytes."""
_ENDING: Final = ".md"
_DEEPEST: Final = 4


def read_file(path: Path) -> bytes | None:
    """Read a file; ``None`` for one that is not there, cannot be read or is too large."""
    try:
        return None if path.stat().st_size > LARGEST_BYTES else read_bytes(path)
    except (OSError, StorageError):
        return None  # one file takes no other with it; doctor names it


class MemoryFile(NamedTuple):
    """A file that Total Recall keeps."""

    path: Path
    name: str
    day: date | None


class Paths:
    """The folders below a root."""

    def __init__(self, root: Path, *, working_memory: bool = False) -> None:
        self.root = root
        self.memory = root / "memory"
        self.daily = self.memory / "daily"
        self.registers = self.memory / "registers"
        self.archive = self.memory / "archive"
        self.metadata = self.memory / ".recall" / "metadata.json"
        self.working_memory = root / "CLAUDE.local.md" if working_memory else None

    def log_of(self, day: date) -> Path:
        """Name the daily log of a day."""
        return self.daily / f"{day.isoformat()}{_ENDING}"

    def files(self) -> Iterator[MemoryFile]:
        """Find everything that is read: what was promoted first, then logs from the oldest."""
        found = self._markdown_in(self.registers)
        if self.working_memory is not None and self._is_inside(self.working_memory):
            found.append(self.working_memory)
        logs = self._markdown_in(self.daily)
        for folder in self._archives():
            for path in self._markdown_in(folder):
                (logs if day_of(path.name) else found).append(path)
        for path in found:
            yield MemoryFile(path, path.relative_to(self.root).as_posix(), None)
        for path in sorted(logs, key=lambda one: one.name):
            yield MemoryFile(path, path.relative_to(self.root).as_posix(), day_of(path.name))

    def folders(self) -> list[Path]:
        """Name the folders and files whose look tells whether anything has changed."""
        found = [self.daily, self.registers, self.metadata, *self._archives()]
        return found if self.working_memory is None else [*found, self.working_memory]

    def _archives(self) -> list[Path]:
        found = []
        for path, names, _ in os.walk(self.archive):
            depth = len(Path(path).relative_to(self.archive).parts)
            names[:] = sorted(names) if depth < _DEEPEST else []
            found.append(Path(path))
        return found or [self.archive]

    def _markdown_in(self, folder: Path) -> list[Path]:
        if not self._is_inside(folder):
            return []
        try:
            with os.scandir(folder) as entries:
                found = sorted((one.name, one.is_symlink()) for one in entries)
        except OSError:
            return []
        named = [(folder / name, is_link) for name, is_link in found if name.endswith(_ENDING)]
        return [path for path, is_link in named if not is_link or self._is_inside(path)]

    def _is_inside(self, path: Path) -> bool:
        """Return whether links stay below the root."""
        try:
            confined(path, self.root)
        except StorageError:
            return False
        return True


def day_of(name: str) -> date | None:
    """Read the day in the name of a daily log."""
    try:
        return date.fromisoformat(name.removesuffix(_ENDING)) if name[4:5] == "-" else None
    except ValueError:
        return None

"""The files with learnings, read when they have changed and not before."""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from grove_backend_markdown.reader import Entry, Problem, Reading, read_entries
from grove_core import StorageError, fingerprint_of, read_bytes, read_text

_ENDING: Final = ".md"
_NOTHING: Final = Reading((), ())
LARGEST_BYTES: Final = 16 * 1024 * 1024
MOST_ENTRIES: Final = 20_000
_HEADING: Final = re.compile(r"^### \[", re.MULTILINE)
_TOO_LARGE: Final = (
    f"what follows is not read: a file has at most {MOST_ENTRIES:,} entries and 16 MiB; a file for"
    ' each is safer (`grove maintain migrate --layout spread`, storage.layout = "spread")'
)


class Located(NamedTuple):
    """An entry and its file."""

    path: Path
    entry: Entry


class LocatedProblem(NamedTuple):
    """A problem and its file."""

    path: Path
    problem: Problem


class Store:
    """One file with learnings, and perhaps a folder with more of them."""

    def __init__(self, path: Path, folder: Path | None, *, spread: bool = False) -> None:
        """Look at nothing yet."""
        self.path = path
        self._folder = folder
        self.spread = spread
        self._cache: dict[Path, tuple[str, Reading]] = {}

    @property
    def target(self) -> Path:
        """Where new learnings go: the file, or the folder of files."""
        return self._folder if self.spread and self._folder is not None else self.path

    def file_for(self, learning_id: str) -> Path:
        """Return which file a new learning is written to."""
        return self.target / f"{learning_id}{_ENDING}" if self.spread else self.path

    def entries(self) -> dict[str, Located]:
        """Read all entries by id; where an id stands twice, the first one."""
        entries: dict[str, Located] = {}
        for path, reading in self._readings():
            for entry in reading.entries:
                entries.setdefault(entry.learning.id, Located(path, entry))
        return entries

    def find(self, learning_id: str) -> Located | None:
        """Find an entry, as ``entries`` has it, and parse no file that does not hold its id."""
        for path in (self.path, *map(Path, self._files_in_folder())):
            entry = self._read(path, holding=learning_id).find(learning_id)
            if entry is not None:
                return Located(path, entry)
        return None

    def problems(self) -> list[LocatedProblem]:
        """Name everything that cannot be read."""
        problems = []
        entries = self.entries()
        for path, reading in self._readings():
            problems += [LocatedProblem(path, problem) for problem in reading.problems]
            for entry in reading.entries:
                first = entries[entry.learning.id].path
                if first != path:
                    message = f"{entry.learning.id} is in {first.name} already, which counts"
                    problems.append(LocatedProblem(path, Problem(entry.first_line, message)))
        return problems

    def contents(self) -> Mapping[str, bytes]:
        """Read what all files hold by now."""
        found = {"": read_bytes(self.path, LARGEST_BYTES)}
        for path in self._files_in_folder():
            found[path.rpartition("/")[2]] = read_bytes(path, LARGEST_BYTES)
        return {name: content for name, content in found.items() if content is not None}

    def forget(self, path: Path) -> None:
        """Read a file again next time, however alike it looks."""
        self._cache.pop(path, None)

    def _readings(self) -> Iterator[tuple[Path, Reading]]:
        yield self.path, self._read(self.path)
        for file in self._files_in_folder():
            path = Path(file)
            yield path, self._read(path)

    def _files_in_folder(self) -> list[str]:
        if self._folder is None:
            return []
        try:
            names = sorted(name for name in os.listdir(self._folder) if name.endswith(_ENDING))  # noqa: PTH208 - names are enough
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StorageError(f"cannot read {self._folder}: {error.strerror or error}") from error
        # Text: making a Path takes as long as reading a small file.
        return [f"{self._folder}/{name}" for name in names]

    def _read(self, path: Path, *, holding: str = "") -> Reading:
        """Read a file; unless it has been parsed, nothing of one that does not hold a text."""
        fingerprint = fingerprint_of([path])
        cached = self._cache.get(path)
        if cached is not None and cached[0] == fingerprint:
            return cached[1]
        text = read_text(path, LARGEST_BYTES + 1)
        if text is None or holding not in text:
            return _NOTHING
        bounded = _bounded(text)
        reading = read_entries(bounded)
        if bounded is not text:
            problem = Problem(bounded.count("\n") + 1, _TOO_LARGE)
            reading = reading._replace(problems=(*reading.problems, problem))
        self._cache[path] = fingerprint, reading
        return reading


def read_whole(path: Path) -> str:
    """Read a file that is to be written again, for which it must not be too large."""
    text = read_text(path, LARGEST_BYTES + 1) or ""
    if _bounded(text) is not text:
        raise StorageError(f"{path}: {_TOO_LARGE}")
    return text


def _bounded(text: str) -> str:
    """Cut a text where it holds more than is read, before an entry."""
    if len(text) < LARGEST_BYTES and text.count("\n### [") < MOST_ENTRIES:
        return text
    starts = [one.start() for one in islice(_HEADING.finditer(text), MOST_ENTRIES + 1)]
    if len(starts) > MOST_ENTRIES:
        return text[: starts[-1]]
    is_cut = len(text.encode("utf-8", "surrogateescape")) > LARGEST_BYTES
    return text[: starts[-1] if starts else 0] if is_cut else text

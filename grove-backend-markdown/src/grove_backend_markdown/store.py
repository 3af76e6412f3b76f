"""The files with learnings: all read one after the other, or one found in them."""

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from grove_backend_markdown.reader import Entry, Problem, Reading, read_entries
from grove_core import Learning, StorageError, read_bytes

_ENDING: Final = ".md"
LARGEST_BYTES: Final = 16 * 1024 * 1024
MOST_ENTRIES: Final = 20_000
# Of a file and a folder together; the folder's files count in the order of their names.
MOST_IN_ALL: Final = 100_000
LARGEST_IN_ALL: Final = 64 * 1024 * 1024
_HEADING: Final = re.compile(rb"^### \[", re.MULTILINE)
_TOO_LARGE: Final = (
    f"what follows is not read: a file has at most {MOST_ENTRIES:,} entries and 16 MiB; move some"
    " into files of their own below .grove/learnings"
)
_TOO_MANY: Final = (
    f"from here on nothing is read: a project has at most {MOST_IN_ALL:,} entries and 64 MiB"
)


_Mark = tuple[int, int, int, int]


class Located(NamedTuple):
    """An entry and its file."""

    path: Path
    entry: Entry


class Store:
    """One file with learnings, and perhaps a folder with more of them."""

    def __init__(self, path: Path, folder: Path | None, *, spread: bool = False) -> None:
        """Look at nothing yet."""
        self.path = path
        self._folder = folder
        self.spread = spread
        self._cache: dict[str, tuple[_Mark, bytes, bool]] = {}

    @property
    def target(self) -> Path:
        """Where new learnings go: the file, or the folder of files."""
        return self._folder if self.spread and self._folder is not None else self.path

    def file_for(self, learning_id: str) -> Path:
        """Return which file a new learning is written to; one that is full would hide it."""
        if self._folder is None or not (self.spread or self._is_full()):
            return self.path
        return self._folder / f"{learning_id}{_ENDING}"

    def _is_full(self) -> bool:
        content = read_bytes(self.path, LARGEST_BYTES) or b""
        return len(content) == LARGEST_BYTES or content.count(b"\n### [") >= MOST_ENTRIES

    def learnings(self) -> list[Learning]:
        """Read all learnings; where an id stands twice, the first one."""
        found: dict[str, Learning] = {}
        for _, reading in self._readings():
            for entry in reading.entries:
                found.setdefault(entry.learning.id, entry.learning)
        return list(found.values())

    def find(self, learning_id: str) -> Located | None:
        """Find an entry, as ``learnings`` has it, and parse no file that does not hold its id."""
        wanted = learning_id.encode()
        for path in (str(self.path), *self._files_in_folder()):
            content, is_whole = self._read(path)
            entry = _parsed(content, is_whole).find(learning_id) if wanted in content else None
            if entry is not None:
                return Located(Path(path), entry)
        return None

    def look(self) -> tuple[int, list[str]]:
        """Count the learnings, and name everything that cannot be read."""
        problems: list[str] = []
        places: dict[str, Path] = {}
        for path, reading in self._readings():
            found = [*reading.problems]
            if path != self.path and not reading.entries and not found:
                found.append(Problem(1, "there is no learning in this file"))
            for entry in reading.entries:
                first = places.setdefault(entry.learning.id, path)
                if first != path:
                    message = f"{entry.learning.id} is in {first.name} already, which counts"
                    found.append(Problem(entry.first_line, message))
            name = path.relative_to(self.path.parent).as_posix()
            problems += [f"{name} line {one.line}: {one.message}" for one in found]
        return len(places), problems

    def contents(self) -> Mapping[str, bytes]:
        """Read what all files hold by now."""
        found: dict[str, bytes] = {}
        entries = size = 0
        for path in (str(self.path), *self._files_in_folder()):
            if entries >= MOST_IN_ALL or size >= LARGEST_IN_ALL:
                break
            read = _read_bounded(path)
            if read is not None:
                found["" if path == str(self.path) else path.rpartition("/")[2]] = read[0]
                entries += read[0].count(b"### [")
                size += len(read[0])
        return found

    def forget(self, path: Path) -> None:
        """Read a file again next time, however alike it looks."""
        self._cache.pop(str(path), None)

    def _readings(self) -> Iterator[tuple[Path, Reading]]:
        entries = size = 0
        for path in (str(self.path), *self._files_in_folder()):
            if entries >= MOST_IN_ALL or size >= LARGEST_IN_ALL:
                yield Path(path), Reading((), (Problem(1, _TOO_MANY),))
                break
            read = _read_bounded(path)
            if read is not None:
                reading = _parsed(*read)
                yield Path(path), reading
                entries += len(reading.entries)
                size += len(read[0])

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

    def _read(self, path: str) -> tuple[bytes, bool]:
        """Read what counts of a file, unless it looks as it did when it was read before."""
        try:
            status = os.stat(path)  # noqa: PTH116 - text, as above
        except OSError:
            return b"", True
        mark = status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
        cached = self._cache.get(path)
        if cached is None or cached[0] != mark:
            cached = self._cache[path] = mark, *(_read_bounded(path) or (b"", True))
        return cached[1:]


@lru_cache(maxsize=1)
def _parsed(content: bytes, is_whole: bool) -> Reading:  # noqa: FBT001 - as it was read
    reading = read_entries(content.decode("utf-8", "surrogateescape"))
    if is_whole:
        return reading
    problem = Problem(content.count(b"\n") + 1, _TOO_LARGE)
    return reading._replace(problems=(*reading.problems, problem))


def read_whole(path: Path) -> str:
    """Read a file that is to be written again, for which it must not be too large."""
    content, is_whole = _read_bounded(path) or (b"", True)
    if not is_whole:
        raise StorageError(f"{path}: {_TOO_LARGE}")
    return content.decode("utf-8", "surrogateescape")


def _read_bounded(path: Path | str) -> tuple[bytes, bool] | None:
    """Read what counts of a file, which is cut before an entry, and whether that is all."""
    content = read_bytes(path, LARGEST_BYTES + 1)
    if content is None:
        return None
    if len(content) <= LARGEST_BYTES and content.count(b"\n### [") < MOST_ENTRIES:
        return content, True
    starts = [one.start() for one in islice(_HEADING.finditer(content), MOST_ENTRIES + 1)]
    if len(content) <= LARGEST_BYTES and len(starts) <= MOST_ENTRIES:
        return content, True
    return content[: starts[-1] if starts else 0], False

"""The state of the Python environment, to tell whether anything was installed or removed since."""

import os
import sys
import time
import zlib
from stat import S_ISDIR

# Directory times are coarse: an installation just after a look can leave the same one behind.
_SETTLED_AFTER_NS = 2_000_000_000
_METADATA_SUFFIXES = (".dist-info", "egg-info", ".egg")

Environment = list[list[str | int]]
"""Where distributions are, in Python's order: path, modification time in nanoseconds, inode."""


def look() -> Environment:
    """Look at the directories in which distributions are installed."""
    rows = [_state(entry) for entry in sys.path if isinstance(entry, str)]
    return [row for row in rows if row]


def _state(entry: str) -> list[str | int]:
    """Look at an entry of ``sys.path``; nothing comes back where no distribution can be."""
    try:
        path = os.path.abspath(entry)
        status = os.stat(path)
        if S_ISDIR(status.st_mode) and not any(
            name.lower().endswith(_METADATA_SUFFIXES) for name in os.listdir(path)
        ):
            return []
    except OSError:
        return []
    return [path, status.st_mtime_ns, status.st_ino]


def looks_the_same(environment: Environment) -> bool:
    """Tell whether nothing was installed or removed since ``look``, without listing directories."""
    try:
        return all(
            [path, status.st_mtime_ns, status.st_ino] == [path, *state]
            for path, *state in environment
            for status in (os.stat(str(path)),)
        )
    except OSError:
        return False


def is_settled(environment: Environment) -> bool:
    """Return whether a state is old enough to be told from the next one."""
    newest = max((int(modified) for _, modified, _ in environment), default=0)
    return newest < time.time_ns() - _SETTLED_AFTER_NS


def cache_file(home: str | os.PathLike[str], name: str) -> str:
    """Name a file of what is known about the environment."""
    environment = zlib.crc32(os.fsencode(sys.prefix))
    return os.path.join(home, "cache", f"{name}-{environment:08x}.json")

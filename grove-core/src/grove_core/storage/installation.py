"""What is installed, by looks at the folders of distributions, and what may be kept of it."""

import json
import os
import sys
import time
import zlib

from grove_core.errors import StorageError
from grove_core.storage.files import read_bytes, replace_text

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

Environment = list[list[str | int]]
"""Where distributions are, in Python's order: path, modification time in nanoseconds, inode."""

_METADATA_SUFFIXES = (".dist-info", "egg-info", ".egg")
# Directory times are coarse: an installation just after a look can leave the same one behind.
_IDLE_NS = 2_000_000_000


def look() -> Environment:
    """Look at the directories in which distributions are installed."""
    rows = [_installed_in(entry) for entry in sys.path if isinstance(entry, str)]
    return [row for row in rows if row]


def _installed_in(entry: str) -> list[str | int]:
    """Look at an entry of ``sys.path``; nothing comes back where no distribution can be."""
    try:
        path = os.path.abspath(entry)
        if os.path.isdir(path) and not any(
            name.lower().endswith(_METADATA_SUFFIXES) for name in os.listdir(path)
        ):
            return []
        status = os.stat(path)
    except OSError:
        return []
    return [path, status.st_mtime_ns, status.st_ino]


def looks_the_same(environment: Environment) -> bool:
    """Check that nothing was installed or removed since ``look``, without listing directories."""
    try:
        return all(
            [path, status.st_mtime_ns, status.st_ino] == [path, *state]
            for path, *state in environment
            for status in (os.stat(str(path)),)
        )
    except OSError:
        return False


def read_cached(home: str, name: str, state: object) -> "Any":  # noqa: ANN401 - any JSON value
    """Return what was found when the environment was in this state; ``None`` when it was not."""
    try:
        document = json.loads(read_bytes(_cache_file(home, name)) or b"{}")
        return document["found"] if document["state"] == state else None
    except (StorageError, ValueError, TypeError, KeyError, RecursionError):
        return None


def write_cached(
    home: str, name: str, state: object, environment: Environment, found: object
) -> None:
    """Keep what was found, once the environment is old enough to be told from the next one."""
    newest = max((int(modified) for _, modified, _ in environment), default=0)
    # Reading makes no home; who writes a session or a setting does.
    if newest >= time.time_ns() - _IDLE_NS or not os.path.isdir(home):
        return
    try:
        replace_text(_cache_file(home, name), json.dumps({"state": state, "found": found}))
    except StorageError:
        return


def _cache_file(home: str, name: str) -> str:
    installation = zlib.crc32(os.fsencode(sys.prefix))
    return os.path.join(home, "cache", f"{name}-{installation:08x}.json")

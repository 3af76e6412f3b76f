"""Whether what is known of a project or an installation may be out of date, by looks at files."""

import os
import sys
import time
import zlib

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

Environment = list[list[str | int]]
"""Where distributions are, in Python's order: path, modification time in nanoseconds, inode."""

ENDS_FOLDER = "ends"
"""In grove's home: what SessionEnd has written down, one file a session."""

# Of this session's shell calls, and no setting.
_NO_SETTING = "GROVE_SESSION_ID"
_METADATA_SUFFIXES = (".dist-info", "egg-info", ".egg")
# Directory times are coarse: an installation just after a look can leave the same one behind.
_IDLE_NS = 2_000_000_000


def ended_sessions(home: str) -> list[str]:
    """List the sessions whose end was written down and is not finished."""
    try:
        return os.listdir(os.path.join(home, ENDS_FOLDER))
    except OSError:
        return []


def fingerprint(root: str, home: str, ticket_marker: str) -> str:
    """Sum up what decides how a session's stops are judged, besides the session and the work."""
    parts = [_nearest_grove(root)]
    settings_files = (
        os.path.join(root, ".grove", "config.toml"),
        os.path.join(home, "config.toml"),
        os.path.join(home, "trust.json"),
    )
    parts += map(_look, settings_files)
    settings = sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name.startswith("GROVE_") and name != _NO_SETTING
    )
    parts.append(f"{zlib.crc32(os.fsencode(chr(0).join(settings))):08x}")
    is_there = bool(ticket_marker) and os.path.lexists(os.path.join(root, ticket_marker))
    return " ".join((*parts, str(is_there)))


def _nearest_grove(root: str) -> str:
    directory = root
    while not os.path.isdir(os.path.join(directory, ".grove")):
        parent = os.path.dirname(directory)
        if parent == directory:
            return "nowhere"
        directory = parent
    return f"{zlib.crc32(os.fsencode(directory)):08x}"


def _look(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return "none"
    return f"{status.st_size}@{status.st_mtime_ns}"


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
    import json

    try:
        with open(_cache_file(home, name), "rb") as file:
            document = json.loads(file.read())
        return document["found"] if document["state"] == state else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def write_cached(
    home: str, name: str, state: object, environment: Environment, found: object
) -> None:
    """Keep what was found, once the environment is old enough to be told from the next one."""
    import json

    from grove_core.errors import StorageError
    from grove_core.storage.files import replace_text

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

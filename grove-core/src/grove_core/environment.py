"""Whether what a session knows of its project may be out of date, told by a few looks at files."""

import os
import zlib

ENDS_FOLDER = "ends"
"""In grove's home: what SessionEnd has written down, one file a session."""
INBOX = os.path.join(".grove", "inbox")
"""In a project: what an agent in a sandbox has handed in, one file each."""

# Of this session's shell calls, and of one of two sets of hooks; no settings.
_NO_SETTINGS = ("GROVE_SESSION_ID", "GROVE_HOOKS")


def ended_sessions(home: str) -> list[str]:
    """List the sessions whose end was written down and is not finished."""
    try:
        return os.listdir(os.path.join(home, ENDS_FOLDER))
    except OSError:
        return []


def handed_in(root: str) -> list[str]:
    """List what waits in a project's inbox, the earliest first."""
    try:
        names = os.listdir(os.path.join(root, INBOX))
    except OSError:
        return []
    return sorted(one for one in names if one.endswith(".json") and not one.startswith("."))


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
        if name.startswith("GROVE_") and name not in _NO_SETTINGS
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

"""What costs next to nothing at the end of a turn: the idle marker, and the note of an end."""

import os
import time
import zlib

from grove_core import __version__
from grove_core.environment import ENDS_FOLDER, fingerprint

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_STATUS_SECONDS = 1.0
_HEAD_LINES = 4


def marker_of(
    session: bytes,
    places: "tuple[str, str, str]",
    work: "tuple[str, Sequence[str], str]",
) -> bytes:
    """Make the marker's content."""
    root, home, ticket_marker = places
    top, excluded, state = work
    found = f"{_digest(session)} {fingerprint(root, home, ticket_marker)} {state}"
    lines = [found, root, ticket_marker, top, *excluded]
    return os.fsencode("\n".join(lines))


def holds(marker: bytes, data: bytes, home: str, session_id: str) -> bool:
    """Return whether a stop finds everything as it was."""
    lines = os.fsdecode(marker).split("\n")
    if len(lines) < _HEAD_LINES or _has_background_work(data):
        return False
    found, root, ticket_marker, top, *excluded = lines
    try:
        with open(os.path.join(home, "sessions", f"{session_id}.json"), "rb") as file:
            session = file.read()
    except OSError:
        return False
    before, _, state = found.rpartition(" ")
    if f"{_digest(session)} {fingerprint(root, home, ticket_marker)}" != before:
        return False
    if not top:
        return True
    from grove_core.git import read_work_tree, state_key, without

    tree = read_work_tree(top, _STATUS_SECONDS)
    if tree is None:
        return False
    paths = without(excluded, (*tree.changed, *tree.untracked))
    return state_key(top, tree.head, paths) == state


def note_end(home: str, session_id: str, reason: bytes) -> bool:
    """Write down that a known session has ended; return whether that was possible."""
    if not os.path.exists(os.path.join(home, "sessions", f"{session_id}.json")):
        return False
    directory = os.path.join(home, ENDS_FOLDER)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    try:
        os.makedirs(directory, 0o700, exist_ok=True)
        descriptor = os.open(os.path.join(directory, session_id), flags, 0o600)
        try:
            os.write(descriptor, b"%d %s" % (time.time(), reason))
        finally:
            os.close(descriptor)
    except OSError:
        return False
    return True


def _digest(session: bytes) -> str:
    return f"{__version__} {len(session)}-{zlib.crc32(session):08x}"


def _has_background_work(data: bytes) -> bool:
    """Return whether the payload lists work that still runs; what is not plain counts as some."""
    place = data.find(b'"background_tasks"')
    if place < 0:
        return False
    rest = data[place + len(b'"background_tasks"') :].lstrip(b" \t\r\n:")
    return rest[:1] != b"[" or rest[1:].lstrip(b" \t\r\n")[:1] != b"]"

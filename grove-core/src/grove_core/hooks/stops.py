"""What stands before a stop: whether anything has changed, and who answers; the note of an end."""

import os
import time
import zlib

from grove_core import __version__
from grove_core.environment import ENDS_FOLDER, fingerprint, handed_in

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SERVER = b"server"
COMMAND = b"command"
WAIT_SECONDS = 25.0
# An answer that no one has taken is of an earlier stop: the client broke that one off.
_FRESH_SECONDS = 30.0
_MARK_BYTES = 64
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05
_STATUS_SECONDS = 1.0
_HEAD_LINES = 3


class Turn:
    """The turn of one of the two that are asked at a stop; the lock is held until ``end``."""

    def __init__(self, home: str, session_id: str, who: bytes) -> None:
        """Wait while the other one answers."""
        self._who = who
        self._file = _open(os.path.join(home, "cache/fast", f"{session_id}.stop"))
        self.is_answered = False
        if self._file is not None and _lock(self._file):
            self.is_answered = self._take(self._file)
            if self.is_answered:
                self.end(answered=False)

    def end(self, *, answered: bool) -> None:
        """Let the other one have its turn."""
        if self._file is None:
            return
        if answered:
            os.pwrite(self._file, b"%s %.6f" % (self._who, time.monotonic()), 0)
        os.close(self._file)
        self._file = None

    def _take(self, file: int) -> bool:
        """Take the other one's answer to this stop, if there is one; an own one is of the last."""
        who, _, at = os.pread(file, _MARK_BYTES, 0).partition(b" ")
        os.ftruncate(file, 0)
        try:
            age = time.monotonic() - float(at)  # the time before the last boot lies ahead
        except ValueError:
            return False
        return who != self._who and 0 <= age < _FRESH_SECONDS


def _open(path: str) -> int | None:
    """Open a file for reading and writing; ``None`` when the home cannot be written."""
    if not os.path.isabs(path):
        return None
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    try:
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            return os.open(path, flags, 0o600)
    except OSError:
        return None


def _lock(file: int) -> bool:
    """Wait for a lock, but not without end."""
    until, pause = time.monotonic() + WAIT_SECONDS, _FIRST_PAUSE
    while time.monotonic() < until:
        try:
            os.lockf(file, os.F_TLOCK, 0)
        except OSError:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        else:
            return True
    return False


# --- nothing has changed since the last stop ------------------------------------------------------


def marker_of(
    session: bytes,
    places: "tuple[str, str, str]",
    work_key: str,
    excluded: "Sequence[str]",
) -> bytes:
    """Make the marker's content; without a key the work is not looked at."""
    root, home, ticket_marker = places
    found = f"{_digest(session)} {fingerprint(root, home, ticket_marker)} {work_key}"
    return os.fsencode("\n".join([found, root, ticket_marker, *excluded]))


def holds(marker: bytes, data: bytes, home: str, session_id: str) -> bool:
    """Return whether a stop finds everything as it was."""
    lines = os.fsdecode(marker).split("\n")
    if len(lines) < _HEAD_LINES or _has_background_work(data):
        return False
    found, root, ticket_marker, *excluded = lines
    try:
        with open(os.path.join(home, "sessions", f"{session_id}.json"), "rb") as file:
            session = file.read()
    except OSError:
        return False
    before, _, work_key = found.rpartition(" ")
    now = f"{_digest(session)} {fingerprint(root, home, ticket_marker)}"
    if now != before or handed_in(root):
        return False
    if not work_key:
        return True
    from pathlib import Path

    from grove_core.git import read_work_tree

    tree = read_work_tree(Path(root), _STATUS_SECONDS, excluded)
    return tree is not None and tree.key() == work_key


def note_end(home: str, session_id: str, reason: bytes) -> bool:
    """Write down that a known session has ended; return whether that was possible."""
    if not os.path.exists(os.path.join(home, "sessions", f"{session_id}.json")):
        return False
    file = _open(os.path.join(home, ENDS_FOLDER, session_id))
    if file is None:
        return False
    try:
        os.ftruncate(file, 0)
        os.write(file, b"%d %s" % (time.time(), reason))
    except OSError:
        return False
    finally:
        os.close(file)
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

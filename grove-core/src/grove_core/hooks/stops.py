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
FOLDER = "cache/fast"
SUFFIX = ".stop"
WAIT_FOR_LOCK_SECONDS = 25.0
WAIT_FOR_SERVER_SECONDS = 1.0
# An answer that no one has taken is of an earlier stop: the client broke that one off.
_FRESH_SECONDS = 30.0
_BEGUN, _ANSWERED, _TAKEN = b"begun", b"answered", b"taken"
_LENGTH = 64
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05
_STATUS_SECONDS = 1.0
_HEAD_LINES = 4


class Turn:
    """The turn of one of the two at a stop; the lock is held until ``end``."""

    def __init__(self, home: str, session_id: str, who: bytes) -> None:
        """Wait for the turn."""
        self._who = who
        self._file = _open(path_of(home, session_id))
        self.is_answered = self._file is not None and self._wait(self._file)

    def end(self, *, answered: bool) -> None:
        """Let the other one have its turn."""
        if self._file is None:
            return
        if answered:
            self._write(self._file, _ANSWERED)
        os.close(self._file)
        self._file = None

    def _wait(self, file: int) -> bool:
        """Wait until the other one has answered, or until it is clear that it will not."""
        started, pause = time.monotonic(), _FIRST_PAUSE
        while time.monotonic() - started < WAIT_FOR_LOCK_SECONDS:
            if _lock(file):
                who, state, at, server = _read(file)
                age = time.monotonic() - at  # the time before the last boot lies ahead
                if who != self._who and state == _ANSWERED and -1.0 < age < _FRESH_SECONDS:
                    self._write(file, _TAKEN)
                    self.end(answered=False)
                    return True
                is_begun = who == SERVER and state == _BEGUN
                waited = time.monotonic() - started
                # A server that lives and is not at it now may come in a moment.
                if self._who == SERVER or is_begun or server <= 0:
                    break
                from grove_core.storage.files import is_running

                if waited >= WAIT_FOR_SERVER_SECONDS or not is_running(server):
                    break
                os.lockf(file, os.F_ULOCK, 0)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        self._write(file, _BEGUN)
        return False

    def _write(self, file: int, state: bytes) -> None:
        server = os.getpid() if self._who == SERVER else _read(file)[3]
        _write(file, self._who, state, server)


def announce(home: str, session_id: str) -> None:
    """Say that the server of this process gets a session's hooks; what no one took is forgotten."""
    file = _open(path_of(home, session_id))
    if file is None:
        return
    if _lock(file):  # else somebody answers a stop just now
        _write(file, SERVER, _TAKEN, os.getpid())
    os.close(file)


def path_of(home: str, session_id: str) -> str:
    """Name a session's file."""
    return os.path.join(home, FOLDER, session_id + SUFFIX)


def _open(path: str) -> int | None:
    """Open a file for reading and writing; ``None`` when the home cannot be written."""
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
    try:
        os.lockf(file, os.F_TLOCK, 0)
    except OSError:
        return False
    return True


def _write(file: int, who: bytes, state: bytes, server: int) -> None:
    line = b"%s %s %.6f %d" % (who, state, time.monotonic(), server)
    os.pwrite(file, line.ljust(_LENGTH), 0)


def _read(file: int) -> tuple[bytes, bytes, float, int]:
    fields = os.pread(file, _LENGTH, 0).split()
    try:
        return fields[0], fields[1], float(fields[2]), int(fields[3])
    except (IndexError, ValueError):
        return b"", b"", 0.0, 0


# --- nothing has changed since the last stop ------------------------------------------------------


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
    now = f"{_digest(session)} {fingerprint(root, home, ticket_marker)}"
    if now != before or handed_in(root):
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

"""Who answers a stop: the session's server, or the command hook below it, never both."""

import os
import time

SERVER = b"server"
COMMAND = b"command"
FOLDER = "cache/fast"
SUFFIX = ".stop"
WAIT_FOR_LOCK_SECONDS = 25.0
WAIT_FOR_SERVER_SECONDS = 1.0
# An answer that nobody has taken is of an earlier stop: the client broke that one off.
_FRESH_SECONDS = 30.0
_BEGUN, _ANSWERED, _TAKEN = b"begun", b"answered", b"taken"
_LENGTH = 64
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05


class Turn:
    """The turn of one of the two at a stop; the lock is held until ``end``."""

    def __init__(self, home: str, session_id: str, who: bytes) -> None:
        """Wait for the turn."""
        self._who = who
        self._descriptor = _open(path_of(home, session_id))
        self.is_answered = self._descriptor is not None and self._wait()

    def end(self, *, answered: bool) -> None:
        """Let the other one have its turn."""
        if self._descriptor is None:
            return
        if answered:
            self._write(_ANSWERED)
        os.close(self._descriptor)
        self._descriptor = None

    def _wait(self) -> bool:
        """Wait until the other one has answered, or until it is clear that it will not."""
        started, pause = time.monotonic(), _FIRST_PAUSE
        while time.monotonic() - started < WAIT_FOR_LOCK_SECONDS:
            if self._lock():
                who, state, at, server = self._read()
                age = time.monotonic() - at  # the time before the last boot lies ahead
                is_fresh = -1.0 < age < _FRESH_SECONDS
                if who != self._who and state == _ANSWERED and is_fresh:
                    self._write(_TAKEN)
                    self.end(answered=False)
                    return True
                if not self._may_come(who, state, server, time.monotonic() - started):
                    break
                self._unlock()
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        self._write(_BEGUN)
        return False

    def _may_come(self, who: bytes, state: bytes, server: int, waited: float) -> bool:
        """Return whether the command hook should wait for the server, which is not at it now."""
        if self._who == SERVER or (who == SERVER and state == _BEGUN):
            return False
        if server <= 0 or waited >= WAIT_FOR_SERVER_SECONDS:
            return False
        from grove_core.storage.files import is_running

        return is_running(server)

    def _lock(self) -> bool:
        try:
            os.lockf(self._file, os.F_TLOCK, 0)
        except OSError:
            return False
        return True

    def _unlock(self) -> None:
        os.lockf(self._file, os.F_ULOCK, 0)

    @property
    def _file(self) -> int:
        assert self._descriptor is not None
        os.lseek(self._descriptor, 0, os.SEEK_SET)  # a lock counts from here
        return self._descriptor

    def _read(self) -> tuple[bytes, bytes, float, int]:
        return _parse(os.pread(self._file, _LENGTH, 0))

    def _write(self, state: bytes) -> None:
        server = os.getpid() if self._who == SERVER else self._read()[3]
        _write(self._file, self._who, state, server)


def announce(home: str, session_id: str) -> None:
    """Say that the server of this process gets a session's hooks; what nobody took is forgotten."""
    descriptor = _open(path_of(home, session_id))
    if descriptor is None:
        return
    try:
        os.lockf(descriptor, os.F_TLOCK, 0)
        _write(descriptor, SERVER, _TAKEN, os.getpid())
    except OSError:
        pass  # somebody answers a stop just now
    finally:
        os.close(descriptor)


def count(home: str, session_id: str, who: bytes) -> None:
    """Count an answered hook in the server's record; without effect where there is none."""
    path = os.path.join(home, FOLDER, session_id + ".server")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            os.write(descriptor, who[:1])
        finally:
            os.close(descriptor)
    except OSError:
        return


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


def _write(descriptor: int, who: bytes, state: bytes, server: int) -> None:
    line = b"%s %s %.6f %d" % (who, state, time.monotonic(), server)
    os.pwrite(descriptor, line.ljust(_LENGTH), 0)


def _parse(line: bytes) -> tuple[bytes, bytes, float, int]:
    fields = line.split()
    try:
        return fields[0], fields[1], float(fields[2]), int(fields[3])
    except (IndexError, ValueError):
        return b"", b"", 0.0, 0

"""Reading and writing files so that other processes, crashes and people's own bytes are safe."""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count

from grove_core.errors import StorageError

StrPath = str | os.PathLike[str]

LOCK_TIMEOUT_SECONDS = 15.0
LARGEST_BYTES = 64 * 1024 * 1024
_LOCK_POLL_SECONDS = 0.005
_LOCK_POLL_SECONDS_MAX = 0.04  # hundreds that wait must not keep the holder from its work
_NEW_FILE_MODE = 0o666
_PRIVATE_FILE_MODE = 0o600
# What ``replace`` names its new files until they are complete; the first group is the process.
_TEMPORARY = r"\..+\.([0-9]{1,9})\.[0-9]+\.tmp"
_STALE_SECONDS = 3600.0
_MOST_ENTRIES = 1000


def read_bytes(path: StrPath, most: int | None = None) -> bytes | None:
    """Read a whole file, or its beginning.

    Args:
        path: The file.
        most: How many bytes at most; ``None`` for all of a file of at most 64 MiB.

    Returns:
        Its content, or ``None`` when there is no such file.

    Raises:
        StorageError: It is there and cannot be read, is larger, or is a pipe or a device.
    """
    try:
        with open(path, "rb", opener=_open_regular) as file:
            content = file.read(LARGEST_BYTES + 1 if most is None else most)
        if len(content) > LARGEST_BYTES:
            raise StorageError(f"{path} is larger than 64 MiB, and grove reads no such file")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    return content


def _open_regular(path: str, flags: int) -> int:
    """Open a file for ``open``; a project may hold anything in its place."""
    # Opening a pipe without a writer would wait.
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    # Python itself has words for a directory.
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file")
    return descriptor


def read_text(path: StrPath, most: int | None = None) -> str | None:
    r"""Read a text file without changing its line endings.

    Bytes that are no UTF-8 survive as surrogates, so that the text can be written back unchanged.

    Args:
        path: The file.
        most: How many bytes at most; ``None`` for all of a file of at most 64 MiB.

    Returns:
        Its text, or ``None`` when there is no such file.

    Raises:
        StorageError: It is there and cannot be read.
    """
    content = read_bytes(path, most)
    return None if content is None else content.decode("utf-8", "surrogateescape")


def is_readable(path: StrPath) -> bool:
    """Return whether a file can be read."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.R_OK)
    except OSError:
        return False


@contextmanager
def locked(
    path: StrPath, *, mode: int = _NEW_FILE_MODE, timeout: float | None = None
) -> Iterator[int]:
    """Hold the exclusive lock of a file, which is created empty when it is not there.

    Args:
        path: The file; its directory must exist.
        mode: Permissions of a new file, before the umask.
        timeout: Seconds to wait for the lock, from when another process last changed the file;
            ``None`` for the usual limit.

    Yields:
        A descriptor open for reading and appending.

    Raises:
        StorageError: The file cannot be opened, or the lock is not to be had in time.
    """
    try:
        descriptor = _lock_current(path, mode, LOCK_TIMEOUT_SECONDS if timeout is None else timeout)
    except OSError as error:
        raise StorageError(f"cannot open {path}: {error.strerror or error}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock_current(path: StrPath, mode: int, seconds: float) -> int:
    """Lock the file that has the name now: another one may replace it while this waits."""
    deadline, pause, found = 0.0, _LOCK_POLL_SECONDS, (0, 0, 0)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, mode)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        except FileNotFoundError:
            pass  # it was removed meanwhile
        except BlockingIOError:
            status = os.fstat(descriptor)
            state = status.st_ino, status.st_size, status.st_mtime_ns
            if found != state:
                # Many may wait on a busy machine: as long as others come to their turn, this will.
                found, deadline = state, time.monotonic() + seconds
            if time.monotonic() >= deadline:
                os.close(descriptor)
                raise StorageError(
                    f"{path} is locked by another process; try again, or find it with `lsof {path}`"
                ) from None
            time.sleep(pause)
            pause = min(2 * pause, _LOCK_POLL_SECONDS_MAX)
        os.close(descriptor)


def append_text(
    path: StrPath,
    text: str | Callable[[str], str],
    *,
    inside: StrPath | None = None,
) -> bool:
    """Append to a file, all or nothing, under its lock.

    A missing final newline of what is there already is healed first. Others may append to the file
    at the same time without the lock: nothing of theirs is lost.

    Args:
        path: The file; it and its directory are created when they are not there.
        text: What to append, usually ending in a newline; or a function that decides it from the
            text already there, under the lock: nothing is written when that gives nothing.
        inside: A directory that symbolic links must not lead out of; ``None`` for anywhere.

    Returns:
        Whether anything was appended.

    Raises:
        StorageError: It could not be written; the file is then as it was.
    """
    path = confined(path, inside)
    make_directory(os.path.dirname(path))
    with locked(path) as descriptor:
        if callable(text):
            text = text(_read_locked(descriptor, path))
        data = _encode(text, path)
        if not data:
            return False
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            data = b"\n" + data
        written = 0
        try:
            # With one write, so that a crash leaves all of it, or a torn last line at worst.
            written = os.write(descriptor, data)
            if written < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301 - taken back
            os.fsync(descriptor)
        except OSError as error:
            _take_back(descriptor, written)
            raise StorageError(f"cannot append to {path}: {error.strerror or error}") from error
    return True


def _take_back(descriptor: int, written: int) -> None:
    """Cut off what was appended, unless something that takes no locks has added to it."""
    with suppress(OSError):
        end = os.lseek(descriptor, 0, os.SEEK_CUR)
        if os.fstat(descriptor).st_size == end:
            os.ftruncate(descriptor, end - written)


def edit_text(
    path: StrPath, change: Callable[[str], str], *, inside: StrPath | None = None
) -> None:
    """Replace a file's text under its lock, by renaming a complete new file into place.

    Permissions are kept, a symbolic link is followed, and nothing is written when nothing changes.

    Args:
        path: The file, which must exist.
        change: From the old text to the new one; see ``read_text`` about bytes and line endings.
        inside: A directory that symbolic links must not lead out of; ``None`` for anywhere.

    Raises:
        StorageError: It could not be read or written; the file is then as it was.
    """
    real = os.path.realpath(confined(path, inside))
    if not os.path.exists(real):
        raise StorageError(f"cannot edit {path}: there is no such file")
    with locked(real) as descriptor:
        before = _read_locked(descriptor, path)
        after = change(before)
        if after != before:
            mode = os.fstat(descriptor).st_mode & 0o7777
            replace(real, _encode(after, path), mode=mode)


def confined(path: StrPath, inside: StrPath | None) -> StrPath:
    """Resolve symbolic links, which may be another one's choice than the user's.

    Args:
        path: A file, which need not exist.
        inside: A directory that its symbolic links must not lead out of; ``None`` for anywhere.

    Returns:
        Where it leads, as a ``str``; the path itself, as it is, when it may lead anywhere.

    Raises:
        StorageError: It leads out of the directory.
    """
    if inside is None:
        return path
    real = os.path.realpath(path)
    base = os.path.realpath(inside)
    if real != base and not real.startswith(f"{base.rstrip('/')}/"):
        raise StorageError(
            f"{path} leads to {real}, which is outside of {inside}; nothing was written: "
            "replace the symbolic link by a file of its own"
        )
    return real


def _encode(text: str, path: StrPath) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise StorageError(f"cannot write {path}: the text is no Unicode: {error}") from error


def _read_locked(descriptor: int, path: StrPath) -> str:
    size = os.fstat(descriptor).st_size
    if size > LARGEST_BYTES:
        raise StorageError(f"{path} is larger than 64 MiB, and grove edits no such file")
    try:
        content = os.pread(descriptor, size, 0)
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    return content.decode("utf-8", "surrogateescape")


def replace(path: StrPath, content: bytes, *, mode: int = _PRIVATE_FILE_MODE) -> None:
    """Put a complete new file in place of a file, or leave the old one."""
    directory, name = os.path.split(path)
    temporary = os.path.join(directory, f".{name}.{os.getpid()}.{time.monotonic_ns()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            os.fchmod(descriptor, mode)
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
    _remove_leftovers(directory)


def replace_text(path: StrPath, text: str) -> None:
    """Put a complete new text in place of a file of the user's own, or leave the old one.

    Args:
        path: The file; it and its directory are created when they are not there, for the
            user alone.
        text: Its new text.

    Raises:
        StorageError: It could not be written; the old file is then still there.
    """
    make_directory(os.path.dirname(path))
    replace(path, _encode(text, path))


def set_aside(path: StrPath, content: bytes) -> str:
    """Keep what a file says beside it, where it cannot be understood."""
    numbered = (f"{path}.corrupt-{number}" for number in count(1))
    free = next(name for name in numbered if not os.path.lexists(name))
    replace(free, content)
    return free


def _remove_leftovers(directory: StrPath) -> None:
    """Remove what processes that were killed while replacing a file have left behind."""
    with suppress(OSError):
        names = os.listdir(directory)
        if len(names) > _MOST_ENTRIES:
            return
        for name in names:
            match = re.fullmatch(_TEMPORARY, name) if name.endswith(".tmp") else None
            if match is None or is_running(int(match[1])):
                continue
            leftover = os.path.join(directory, name)
            if time.time() - os.lstat(leftover).st_mtime >= _STALE_SECONDS:
                os.unlink(leftover)


def make_directory(path: StrPath) -> None:
    """Create a directory and its parents where they are missing."""
    try:
        if os.path.isdir(path):
            return
        own = os.path.abspath(os.path.expanduser(os.environ.get("GROVE_HOME") or "~/.grove"))
        if os.path.commonpath([own, os.path.abspath(path)]) == own:
            os.makedirs(own, mode=0o700, exist_ok=True)
        os.makedirs(path, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise StorageError(f"cannot create {path}: a file is in the way; move it away") from error
    except OSError as error:
        raise StorageError(f"cannot create {path}: {error.strerror or error}") from error


def is_running(process: int) -> bool:
    """Return whether a process is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is another user's
    return True


def fingerprint_of(paths: Iterable[StrPath]) -> str:
    """Take the fingerprint of files: another one than before says that they have changed.

    Args:
        paths: Files and folders, whether they are there or not; of a folder also the files in it.

    Returns:
        Their times, sizes and inodes, as text; another one after any change.
    """
    lines = []
    for path in [os.fspath(one) for one in paths]:
        parts = [
            f"{name!r} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"
            for name, status in sorted(_statuses(path).items())
        ]
        lines.append(f"{path!r}: {'; '.join(parts)}")
    return "\n".join(lines)


def largest_size(paths: Iterable[StrPath]) -> int:
    """Return the size of the largest of files, and of the files in folders."""
    statuses = (one for path in paths for one in _statuses(os.fspath(path)).values())
    return max((one.st_size for one in statuses if not stat.S_ISDIR(one.st_mode)), default=0)


def _statuses(path: str) -> dict[str, os.stat_result]:
    try:
        status = os.stat(path)
        if not stat.S_ISDIR(status.st_mode):
            return {"": status}
        with os.scandir(path) as entries:
            return {"": status, **{entry.name: _status(entry) for entry in entries}}
    except OSError:
        return {}


def _status(entry: "os.DirEntry[str]") -> os.stat_result:
    try:
        return entry.stat()
    except OSError:
        return entry.stat(follow_symlinks=False)  # a link that leads nowhere

"""What tells from outside that a file or a folder has changed."""

import os
from stat import S_ISDIR

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

Stamp = str
"""Times, sizes and inodes of some files, as text; another one after any change of them."""


def stamp_of(paths: "Iterable[str | os.PathLike[str]]") -> Stamp:
    """Look at files, and at the files in folders."""
    return "\n".join(_stamp(os.fspath(path)) for path in paths)


def largest_size(paths: "Iterable[str | os.PathLike[str]]") -> int:
    """Find the largest of files, and of the files in folders."""
    statuses = (one for path in paths for one in _statuses(os.fspath(path)).values())
    return max((one.st_size for one in statuses if not S_ISDIR(one.st_mode)), default=0)


def _stamp(path: str) -> str:
    parts = [
        f"{name!r} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"
        for name, status in sorted(_statuses(path).items())
    ]
    return f"{path!r}: {'; '.join(parts)}"


def _statuses(path: str) -> dict[str, os.stat_result]:
    """Look at a file, or at a folder and what is right in it."""
    try:
        status = os.stat(path)
        if not S_ISDIR(status.st_mode):
            return {"": status}
        with os.scandir(path) as entries:
            return {"": status, **{entry.name: _status(entry) for entry in entries}}
    except OSError:
        return {}


def _status(entry: "os.DirEntry[str]") -> os.stat_result:
    """Look at what is in a folder; of a link that leads nowhere, at the link itself."""
    try:
        return entry.stat()
    except OSError:
        return entry.stat(follow_symlinks=False)

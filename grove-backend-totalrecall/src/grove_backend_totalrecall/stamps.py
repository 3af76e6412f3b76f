"""How a file looks: as long as it looks the same, it is not read again."""

from pathlib import Path
from typing import NamedTuple


class Stamp(NamedTuple):
    """What changes about a file when somebody changes it."""

    inode: int
    size: int
    modified: int
    changed: int


def stamp_of(path: Path) -> Stamp | None:
    """Look at a file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

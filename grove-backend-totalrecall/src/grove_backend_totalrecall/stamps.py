"""How a file looks: as long as it looks the same, it is not read again."""

from pathlib import Path
from typing import NamedTuple


class Stamp(NamedTuple):
    """What changes about a file when somebody changes it.

    Attributes:
        inode: Which file it is.
        size: How long it is, in bytes.
        modified: When its content was written last, in nanoseconds; may be set back.
        changed: When anything about it was changed last, permissions too, in nanoseconds.
    """

    inode: int
    size: int
    modified: int
    changed: int


def stamp_of(path: Path) -> Stamp | None:
    """Look at a file.

    Args:
        path: The file.

    Returns:
        How it looks; ``None`` when it is not there or cannot be looked at.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

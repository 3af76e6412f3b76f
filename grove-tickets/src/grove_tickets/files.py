"""Reads files that anyone may have put into a repository: no pipes, devices or giants."""

import os
import stat
from pathlib import Path
from typing import Final

# A pipe that nobody writes to would block the opening.
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def read_file(path: Path, limit: int) -> bytes | None:
    """Read a regular file."""
    content = _read(path, 0, limit + 1)
    return content if content is not None and len(content) <= limit else None


def read_last_lines(path: Path, limit: int) -> bytes | None:
    """Read the end of a regular file that grows line by line."""
    return _read(path, limit, limit)


def _read(path: Path, last: int, limit: int) -> bytes | None:
    """Read from the start, or the whole lines among the last bytes where ``last`` is given."""
    try:
        descriptor = os.open(path, _FLAGS)
        with open(descriptor, "rb", buffering=0) as stream:  # noqa: PTH123 - an open descriptor
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return None
            is_cut = 0 < last < status.st_size
            if is_cut:
                stream.seek(status.st_size - last)
            content = b""
            while len(content) < limit and (chunk := stream.read(limit - len(content))):
                content += chunk
    except (OSError, ValueError):
        return None
    return content.partition(b"\n")[2] if is_cut else content

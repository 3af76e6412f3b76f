"""Taking the prints of files that differ from the last commit, to be measured against later."""

import os
from stat import S_ISLNK, S_ISREG

from grove_core.line_hashes import ContentPrint, print_of

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Bounds of what is read and kept: beyond them a file counts by its size and time alone, and a file
# that the baseline had no room for counts once it is younger than the baseline.
MOST_FILES = 300
MOST_FILE_BYTES = 512 * 1024
MOST_LINES = 5_000
MOST_LINES_IN_ALL = 50_000


def looks_at(top: str, paths: "Sequence[str]") -> "Iterator[tuple[str, ContentPrint]]":
    """Take the prints of files, within bounds."""
    room = MOST_LINES_IN_ALL
    for path in paths[:MOST_FILES]:
        look = look_at(top, path)
        hashes = look.line_hashes if look.lines <= room else None
        room -= look.lines if hashes is not None else 0
        yield path, look._replace(line_hashes=hashes)


def look_at(top: str, path: str) -> ContentPrint:
    """Take a file's print; a file that is gone has no lines, and a link is what it says."""
    full = os.path.join(top, path)
    try:
        status = os.lstat(full)
        if S_ISLNK(status.st_mode):
            return print_of(os.fsencode(os.readlink(full)), most_lines=MOST_LINES)
        if not S_ISREG(status.st_mode):
            return ContentPrint(digest="special", lines=0, line_hashes=None)
        with open(full, "rb") as file:
            content = file.read(MOST_FILE_BYTES)
    except OSError:
        return ContentPrint(digest="", lines=0, line_hashes="")
    look = print_of(content, most_lines=MOST_LINES)
    if status.st_size <= MOST_FILE_BYTES or look.is_binary:
        return look
    digest = f"{status.st_size}@{status.st_mtime_ns}"
    return look._replace(digest=digest, line_hashes=None)

"""Telling how many lines of a file have changed since an earlier look, without keeping its text."""

import base64
import struct
import zlib
from collections import Counter
from typing import Final, NamedTuple

_TEXT_PROBE_BYTES: Final = 8000
# Binary files have no lines, whatever changes in them.
_BINARY: Final = "binary"


class ContentPrint(NamedTuple):
    """What is kept of a file's content."""

    digest: str
    lines: int
    line_hashes: str | None

    @property
    def is_binary(self) -> bool:
        """Whether the content is binary."""
        return self.digest == _BINARY


def print_of(content: bytes, *, most_lines: int) -> ContentPrint:
    """Take the print of a content."""
    if is_binary(content):
        return ContentPrint(digest=_BINARY, lines=0, line_hashes=None)
    digest = f"{len(content)}-{zlib.crc32(content):08x}"
    lines = content.splitlines()
    packed = None
    if len(lines) <= most_lines:
        hashes = [zlib.crc32(line) for line in lines]
        packed = base64.b64encode(struct.pack(f"<{len(hashes)}I", *hashes)).decode("ascii")
    return ContentPrint(digest=digest, lines=len(lines), line_hashes=packed)


def is_binary(content: bytes) -> bool:
    """Return whether a content is binary, as git does: a zero byte near its beginning."""
    return b"\0" in content[:_TEXT_PROBE_BYTES]


def changed_lines(before: ContentPrint, after: ContentPrint) -> int:
    """Count added plus deleted lines between two contents of a file; moved lines do not count."""
    if before.digest == after.digest or before.is_binary or after.is_binary:
        return 0
    if before.line_hashes is None or after.line_hashes is None:
        return max(1, abs(after.lines - before.lines))
    old, new = _unpack(before.line_hashes), _unpack(after.line_hashes)
    return max(1, (old - new).total() + (new - old).total())


def _unpack(line_hashes: str) -> Counter[int]:
    packed = base64.b64decode(line_hashes)
    return Counter(struct.unpack(f"<{len(packed) // 4}I", packed))

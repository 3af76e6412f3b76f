"""Ratings on standard input, which may be a pipe that nobody ever closes."""

import os
import select
import sys
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.errors import GroveError
from grove_core.reflection.limits import SUBMISSION_BYTES_MAX

FIRST_SECONDS: Final = 1.0
"""How long a pipe may take to say something, unless it was named with ``--file -``."""
_NEXT_SECONDS: Final = 10.0
_CHUNK: Final = 65_536
_STDIN: Final = Path("-")
_SILENT: Final = (
    f"nothing came on standard input within {FIRST_SECONDS:.0f} second, so these are the learnings"
    " to rate; to send ratings that take longer: --file -"
)


@frozen
class Input:
    """What was sent."""

    data: bytes = b""
    note: str = ""


def read_input(path: Path | None) -> Input:
    """Read what was sent."""
    if path is not None and path != _STDIN:
        try:
            return Input(path.read_bytes())
        except OSError as error:
            raise GroveError(f"cannot read {path}: {error.strerror}") from error
    if sys.stdin is None and path is not None:
        raise GroveError("standard input is closed; give the ratings there, or in a file")
    if sys.stdin is None or (path is None and sys.stdin.isatty()):
        return Input()
    return _read_all(sys.stdin.fileno(), None if path is not None else FIRST_SECONDS)


def _read_all(descriptor: int, patience: float | None) -> Input:
    """Read to the end; a pipe that says nothing in time has nothing to say."""
    read = bytearray()
    while len(read) <= SUBMISSION_BYTES_MAX:
        if not select.select([descriptor], [], [], patience)[0]:
            if not read:
                return Input(note=_SILENT)
            raise GroveError(
                f"standard input has sent {len(read)} bytes and does not end; close it, or give"
                " the ratings with --file"
            )
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            break
        read += chunk
        patience = _NEXT_SECONDS
    return Input(bytes(read))

"""The mark of an answer: as much of each file as it takes to see what is new in it."""

import json
from collections.abc import Mapping
from typing import NamedTuple
from zlib import crc32

from grove_core import __version__


class FileMark(NamedTuple):
    """What a file was when it was read."""

    size: int
    checksum: int
    settled: int
    settled_checksum: int
    ids: tuple[str, ...]


def write_mark(files: Mapping[str, FileMark]) -> str:
    """Put the marks of all files into one text."""
    # Another version may read the same file otherwise.
    body = json.dumps([__version__, files], separators=(",", ":"))
    return f"{crc32(body.encode()):08x} {body}"


def read_mark(text: str) -> Mapping[str, FileMark] | None:
    """Take a mark apart."""
    checksum, _, body = text.partition(" ")
    if not text.isascii() or checksum != f"{crc32(body.encode()):08x}":
        return None
    try:
        version, files = json.loads(body)
        marks = {name: _file_mark(values) for name, values in files.items()}
    except (AttributeError, RecursionError, TypeError, ValueError):
        return None
    return marks if version == __version__ else None


def _file_mark(values: list[object]) -> FileMark:
    size, checksum, settled, settled_checksum, ids = values
    return FileMark(
        _number(size), _number(checksum), _number(settled), _number(settled_checksum), _texts(ids)
    )


def _number(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(value)
    return value


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise ValueError(values)
    return tuple(values)

"""The lines of a collection's files; what is wrong with one is named with place and mend."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grove_core.clock import parse_instant
from grove_core.errors import GroveError
from grove_core.stats.log_lines import microseconds


class CollectionError(GroveError):
    """A file of a collection cannot be used; the message names the file, the line and the mend."""


class Fields:
    """An object of a file, and where it stands, for whoever has to mend it."""

    def __init__(self, path: Path, number: int, line: str) -> None:
        self._path, self._number = path, number
        self._values = object_of(line, f"{path}:{number}")

    def text(self, name: str, *, needed: bool = False) -> str:
        """Read a text."""
        value = self._values.get(name)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not value.strip()):
            wrong = "is missing" if name not in self._values else "is no text"
            raise fault(self._path, self._number, f"{name} {wrong}; every line needs one")
        return self._whole(name, value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Read a list of texts."""
        value = self._values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise fault(self._path, self._number, f'{name} is no list of texts, such as ["a", "b"]')
        return tuple(self._whole(name, one) for one in value)

    def _whole(self, name: str, text: str) -> str:
        """Refuse half a character, which JSON can write and no index or terminal takes."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(text[error.start]):04x}"
            what = (
                f"{name} holds {half}, which is half a character; write the other half or delete it"
            )
            raise fault(self._path, self._number, what) from error
        return text

    def instant(self, name: str) -> int:
        """Read a time."""
        text = self.text(name)
        if not text.strip():
            return 0
        try:
            return microseconds(parse_instant(text))
        except (ValueError, OverflowError) as error:
            mend = "write it as 2026-02-06T10:00:00Z"
            raise fault(self._path, self._number, f"{name} is no time; {mend}") from error


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Return the lines of a file that hold something; JSON texts may hold any other separator."""
    for number, line in enumerate(text_of(path).split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def text_of(path: Path) -> str:
    """Read a file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise fault(path, line, "is no UTF-8; convert the file") from error
    except OSError as error:
        raise CollectionError(f"cannot read {path}: {error.strerror}") from error


def object_of(text: str, where: str) -> Mapping[str, Any]:
    """Read a JSON object."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise CollectionError(f"{where} is no JSON ({error}); write one object") from error
    except RecursionError as error:
        raise CollectionError(f"{where} is nested too deeply; write one plain object") from error
    if not isinstance(value, dict):
        raise CollectionError(f"{where} is JSON, but no object; write one in braces")
    return value


def fault(path: Path, number: int, what: str) -> CollectionError:
    """Name what is wrong with a line."""
    return CollectionError(f"{path}:{number} {what}")

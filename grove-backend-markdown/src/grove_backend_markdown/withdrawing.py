"""Taking out an entry that was only lent."""

import re
from pathlib import Path
from typing import Final

from grove_core import StorageError, edit_text

_STATUS: Final = "\n- **Status:** "
_NOTE: Final = r"(?: \([^\n]*\))?"


def without_entry(path: Path, entry: str, *, inside: Path | None, is_own: bool) -> bool:
    """Take an entry out of a file, as long as no person has changed a byte of it."""
    taken: list[bool] = []

    def rest(text: str) -> str:
        before, found, after = _around(text, entry)
        taken.append(found)
        left = before + after
        if not (found and is_own and not left and not path.is_symlink()):
            return left
        # Under the file's lock: whoever waits for it looks again whether the file is still there.
        _remove(path)
        return text

    edit_text(path, rest, inside=inside)
    return taken[-1]


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise StorageError(f"cannot remove {path}: {error.strerror or error}") from error


def _around(text: str, entry: str) -> tuple[str, bool, str]:
    """Split a text around an entry that stands at a line's start and ends where it did."""
    # A quoted line behind it, or prose without a blank line, has become part of it.
    found = re.search(rf"^{_pattern(entry)}(?=\n|\Z)", text, re.MULTILINE)
    return (
        (text, False, "") if found is None else (text[: found.start()], True, text[found.end() :])
    )


def _pattern(entry: str) -> str:
    above, status, below = entry.partition(_STATUS)
    value, end, below = below.partition("\n")
    return f"{re.escape(above + status + value)}{_NOTE}{re.escape(end + below)}"

"""Taking out an entry that was only lent."""

from pathlib import Path

from grove_core import StorageError, edit_text, read_text


def without_entry(path: Path, entry: str, *, inside: Path | None) -> bool:
    """Take an entry out of a file, as long as nobody has changed a byte of it.

    The blank line above it stays, since it may be somebody else's; a file that holds nothing else
    goes with it.

    Args:
        path: The file.
        entry: The entry as it was written.
        inside: A directory that symbolic links must not lead out of; ``None`` for anywhere.

    Returns:
        Whether it was taken out.

    Raises:
        StorageError: The file could not be changed.
    """
    taken: list[bool] = []

    def rest(text: str) -> str:
        before, found, after = _around(text, entry)
        taken.append(found)
        return before + after

    if read_text(path) == entry:
        try:
            path.unlink()
        except OSError as error:
            raise StorageError(f"cannot remove {path}: {error.strerror or error}") from error
        return True
    edit_text(path, rest, inside=inside)
    return taken[-1]


def _around(text: str, entry: str) -> tuple[str, bool, str]:
    """Split a text around an entry that stands at a line's start and ends where it did."""
    start = text.find(f"\n{entry}") + 1 if not text.startswith(entry) else 0
    found = text.startswith(entry, start)
    end = start + len(entry)
    # A quoted line behind it, or prose without a blank line, has become part of it.
    if not found or not (end == len(text) or text[end] == "\n"):
        return text, False, ""
    return text[:start], True, text[end:]

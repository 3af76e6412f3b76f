"""Pauses: for a while, hooks neither ask for anything nor show anything."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from grove_core.clock import format_instant, parse_instant
from grove_core.errors import StorageError
from grove_core.storage import files

LONGEST: Final = timedelta(days=1)


class Pauses:
    """The pauses of a project and of its sessions, each in a file of its own."""

    def __init__(self, folder: Path, project_key: str) -> None:
        self._folder = folder
        self._project_key = project_key

    def until(self, session_id: str | None, now: datetime) -> datetime | None:
        """Return until when hooks pause, if they do."""
        paths = [self._path(one) for one in (None, session_id) if one or self._project_key]
        ends = [end for path in paths if (end := _read(path)) is not None]
        return max((end for end in ends if now < end <= now + LONGEST), default=None)

    def begin(self, session_id: str | None, end: datetime) -> None:
        """Pause the project, or a session."""
        files.make_directory(self._folder)
        files.replace_text(self._path(session_id), f"{format_instant(end)}\n")

    def end(self, session_id: str | None) -> bool:
        """Go on; tell whether there was a pause."""
        path = self._path(session_id)
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StorageError(f"cannot end the pause in {path}: {error.strerror}") from error
        return True

    def _path(self, session_id: str | None) -> Path:
        return self._folder / (f"session-{session_id}" if session_id else self._project_key)


def _read(path: Path) -> datetime | None:
    try:
        return parse_instant((files.read_text(path) or "").strip())
    except (StorageError, ValueError):
        return None

"""The small files per session that let a hook see without any import that it has nothing to do."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from grove_core.errors import StorageError
from grove_core.storage import files


class Prefilter:
    """The files of all sessions, ``<cache>/fast/<session id>`` and ``<session id>.files``."""

    def __init__(self, cache: Path) -> None:
        """Name the directory."""
        self._directory = cache / "fast"

    def exists(self, session_id: str) -> bool:
        """Return whether a session has a file."""
        return os.path.exists(self._directory / session_id)  # noqa: PTH110 - never raises

    def write(self, session_id: str, words: Iterable[str], *, close_waits: bool) -> None:
        """Write a session's file whole; without effect when the home cannot be written."""
        # The empty line at the end tells a whole file from one that was cut off.
        lines = ["1" if close_waits else "0", *sorted(words), "", ""]
        self._replace(session_id, "\n".join(lines).encode())

    def set_close_waits(self, session_id: str, *, close_waits: bool) -> None:
        """Change the flag of a session's file; without effect when there is none."""
        with suppress(OSError):
            descriptor = os.open(self._directory / session_id, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.pwrite(descriptor, b"1" if close_waits else b"0", 0)
            finally:
                os.close(descriptor)

    def watch_files(self, session_id: str, noted: Path) -> None:
        """Let hooks look whether a learning names a file that is touched."""
        self._replace(f"{session_id}.files", os.fsencode(noted) + b"\n")

    def forget_files(self, session_id: str) -> None:
        """Let hooks look at no touched file any more."""
        with suppress(OSError):
            self._files(session_id).unlink(missing_ok=True)

    def watches_files(self, session_id: str) -> bool:
        """Return whether hooks look at the files that are touched."""
        return os.path.exists(self._files(session_id))  # noqa: PTH110 - never raises

    def let_be(self, session_id: str, path: str) -> None:
        """Say that there is nothing more to show of a file; without effect when none is watched."""
        if "\n" in path:
            return
        with suppress(OSError, UnicodeError):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
            descriptor = os.open(self._files(session_id), flags)
            try:
                os.write(descriptor, path.encode() + b"\n")
            finally:
                os.close(descriptor)

    def set_idle(self, session_id: str, marker: bytes) -> None:
        """Keep under which fingerprint a stop had nothing to do (see ``hooks.stops``)."""
        self._replace(f"{session_id}.idle", marker)

    def remove(self, session_id: str) -> None:
        """Remove a session's files."""
        for suffix in ("", ".files", ".idle", ".stop"):
            with suppress(OSError):
                (self._directory / f"{session_id}{suffix}").unlink(missing_ok=True)

    def _replace(self, name: str, content: bytes) -> None:
        with suppress(StorageError):
            files.make_directory(self._directory)
            files.replace(self._directory / name, content)

    def _files(self, session_id: str) -> Path:
        return self._directory / f"{session_id}.files"

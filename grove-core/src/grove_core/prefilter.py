"""The small file per session that lets a hook see without any import that it has nothing to do.

``hooks/fast.py`` reads it. It is derived from the session and may be deleted at any time: hooks
then take their full way.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from grove_core import files
from grove_core.errors import StorageError


class Prefilter:
    """The files of all sessions, ``<cache>/fast/<session id>``."""

    def __init__(self, cache: Path) -> None:
        """Name the directory.

        Args:
            cache: grove's directory of derived files.
        """
        self._directory = cache / "fast"

    def exists(self, session_id: str) -> bool:
        """Tell whether a session has a file.

        Args:
            session_id: The session.

        Returns:
            Whether it has.
        """
        return os.path.exists(self._directory / session_id)  # noqa: PTH110 - never raises

    def write(self, session_id: str, words: Iterable[str], *, close_waits: bool) -> None:
        """Write a session's file whole; without effect when the home cannot be written.

        Args:
            session_id: The session.
            words: The words without which no call can close a ticket; of several with a blank
                between, all must be there.
            close_waits: Whether a close waits for confirmation.
        """
        # The empty line at the end tells a whole file from one that was cut off.
        lines = ["1" if close_waits else "0", *sorted(words), "", ""]
        with suppress(StorageError):
            files.make_directory(self._directory)
            files.replace(self._directory / session_id, "\n".join(lines).encode())

    def set_close_waits(self, session_id: str, *, close_waits: bool) -> None:
        """Change the flag of a session's file; without effect when there is none.

        Args:
            session_id: The session.
            close_waits: Whether a close waits for confirmation.
        """
        with suppress(OSError):
            descriptor = os.open(self._directory / session_id, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.pwrite(descriptor, b"1" if close_waits else b"0", 0)
            finally:
                os.close(descriptor)

    def remove(self, session_id: str) -> None:
        """Remove a session's file.

        Args:
            session_id: The session.
        """
        with suppress(OSError):
            (self._directory / session_id).unlink(missing_ok=True)

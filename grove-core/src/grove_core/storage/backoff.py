"""Leave a server that fails alone for a while, and longer each time."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from attrs import evolve

from grove_core.codec import from_json, plain
from grove_core.errors import CodecError, StorageError
from grove_core.model.value import Value, frozen
from grove_core.storage.files import read_bytes, replace_text

_FIRST_PAUSE: Final = timedelta(minutes=1)
_LONGEST_PAUSE: Final = timedelta(hours=1)
_LONGEST_EXPONENT: Final = 10
_LONGEST_DETAIL: Final = 500


@frozen(kw_only=True, eq=False, repr=False)
class Backoff(Value):
    """How a server has failed lately: the pause doubles from one minute with each failure.

    A value: ``after_failure`` gives the next one, and ``write`` stores it for other processes.

    Attributes:
        server: Which server this is about; what is stored about another one does not count.
        failures: How often it has failed in a row.
        failed_at: When it failed last, UTC; ``None`` when it has not.
        detail: What was wrong then.
        longest: The longest pause.
    """

    server: str = ""
    failures: int = 0
    failed_at: datetime | None = None
    detail: str = ""
    longest: timedelta = _LONGEST_PAUSE

    def until(self) -> datetime | None:
        """Say until when the server is left alone.

        Returns:
            The instant, or ``None`` when it has not failed.
        """
        if self.failed_at is None or not self.failures:
            return None
        pause: timedelta = _FIRST_PAUSE * 2 ** min(self.failures - 1, _LONGEST_EXPONENT)
        return self.failed_at + min(pause, self.longest)

    def is_open(self, now: datetime) -> bool:
        """Check whether the server is to be left alone.

        Args:
            now: The time, UTC.

        Returns:
            Whether a pause lasts; not so when the clock was set back behind the failure.
        """
        until = self.until()
        return until is not None and self.failed_at is not None and self.failed_at <= now < until

    def after_failure(self, now: datetime, detail: str) -> "Backoff":
        """Count one more failure.

        Args:
            now: When it failed, UTC.
            detail: What was wrong, for people.

        Returns:
            How the server has failed now.
        """
        failures, detail = self.failures + 1, detail[:_LONGEST_DETAIL]
        return evolve(self, failures=failures, failed_at=now, detail=detail)

    def write(self, path: Path) -> None:
        """Store it.

        Args:
            path: A file of its own.

        Raises:
            StorageError: It could not be written.
        """
        document = {name: each for name, each in plain(self).items() if name != "longest"}
        replace_text(path, json.dumps(document, default=plain))

    @classmethod
    def read(
        cls, path: Path, server: str = "", *, longest: timedelta = _LONGEST_PAUSE
    ) -> "Backoff":
        """Read what was stored.

        Args:
            path: The file.
            server: Which server it is to be about.
            longest: The longest pause.

        Returns:
            How the server has failed; no failure where the file is missing, damaged, or about
            another server.
        """
        try:
            stored = from_json(cls, read_bytes(path) or b"{}")
        except (StorageError, CodecError):
            stored = cls()
        if stored.server != server or stored.failures < 1 or stored.failed_at is None:
            return cls(server=server, longest=longest)
        return evolve(stored, detail=stored.detail[:_LONGEST_DETAIL], longest=longest)

"""A database that fails is left alone for a while, and longer each time."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from grove_core import StorageError, format_instant, parse_instant, read_text, replace_text

_FIRST_PAUSE: Final = timedelta(minutes=1)
_LONGEST_PAUSE: Final = timedelta(minutes=10)
_LONGEST_EXPONENT: Final = 4
_LONGEST_DETAIL: Final = 500


class Breaker(NamedTuple):
    """How a database has failed lately."""

    failures: int = 0
    failed_at: datetime = datetime.min.replace(tzinfo=UTC)
    detail: str = ""

    def is_open(self, now: datetime) -> bool:
        """Return whether the database is to be left alone."""
        if not self.failures or self.failed_at > now:
            return False
        pause: timedelta = _FIRST_PAUSE * 2 ** min(self.failures - 1, _LONGEST_EXPONENT)
        return now - self.failed_at < min(pause, _LONGEST_PAUSE)


def read_breaker(path: Path) -> Breaker:
    """Read how a database has failed."""
    try:
        document = json.loads(read_text(path) or "{}")
        return Breaker(
            max(0, int(document["failures"])),
            parse_instant(document["failed_at"]),
            str(document["detail"])[:_LONGEST_DETAIL],
        )
    except (StorageError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return Breaker()


def write_failure(path: Path, now: datetime, detail: str) -> None:
    """Note one more failure."""
    failures = read_breaker(path).failures + 1
    document = {"failures": failures, "failed_at": format_instant(now), "detail": detail}
    replace_text(path, json.dumps(document))

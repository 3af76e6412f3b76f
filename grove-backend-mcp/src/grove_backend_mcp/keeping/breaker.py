"""A server that fails is left alone for a while, and longer each time."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core import format_instant, parse_instant

_FIRST_PAUSE: Final = timedelta(minutes=1)
_LONGEST_PAUSE: Final = timedelta(hours=1)
_LONGEST_EXPONENT: Final = 6
_LONGEST_DETAIL: Final = 500


@frozen(kw_only=True)
class Breaker:
    """How a server has failed lately."""

    server: str
    failures: int = 0
    failed_at: datetime | None = None
    detail: str = ""

    def until(self) -> datetime | None:
        """Tell until when the server is left alone; ``None`` when it is not."""
        if self.failed_at is None or not self.failures:
            return None
        pause: timedelta = _FIRST_PAUSE * 2 ** min(self.failures - 1, _LONGEST_EXPONENT)
        return self.failed_at + min(pause, _LONGEST_PAUSE)

    def is_open(self, now: datetime) -> bool:
        """Return whether the server is to be left alone."""
        until = self.until()
        return until is not None and self.failed_at is not None and self.failed_at <= now < until

    def after_failure(self, now: datetime, detail: str) -> "Breaker":
        """Count one more failure."""
        failures = self.failures + 1
        return Breaker(server=self.server, failures=failures, failed_at=now, detail=detail)


def read_breaker(path: Path, server: str) -> Breaker:
    """Read how a server has failed."""
    try:
        document = json.loads(path.read_bytes())
        if document["server"] != server:
            return Breaker(server=server)
        return Breaker(
            server=server,
            failures=max(0, int(document["failures"])),
            failed_at=parse_instant(document["failed_at"]),
            detail=str(document["detail"])[:_LONGEST_DETAIL],
        )
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        OverflowError,
    ):
        return Breaker(server=server)


def text_of(breaker: Breaker) -> str:
    """Write how a server has failed."""
    failed_at = "" if breaker.failed_at is None else format_instant(breaker.failed_at)
    document = {"server": breaker.server, "failures": breaker.failures, "failed_at": failed_at}
    return json.dumps({**document, "detail": breaker.detail[:_LONGEST_DETAIL]})

"""A clock for tests."""

from datetime import UTC, datetime, timedelta
from typing import Final

_START: Final = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class SetClock:
    """Tells the time that it was set to."""

    def __init__(self, now: datetime = _START) -> None:
        """Set the clock."""
        self.set(now)

    def __call__(self) -> datetime:
        """Tell the time."""
        return self.now

    def set(self, now: datetime) -> None:
        """Set the clock."""
        if now.tzinfo is None:
            raise ValueError(f"{now} has no time zone")
        self.now = now.astimezone(UTC)

    def move(self, **duration: float) -> datetime:
        """Move the clock."""
        self.now += timedelta(**duration)
        return self.now

"""A clock for tests."""

from datetime import UTC, datetime, timedelta
from typing import Final

_START: Final = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class SetClock:
    """Tells the time that it was set to; call it where code takes a function that tells the time.

    Attributes:
        now: The time it tells, UTC.
    """

    def __init__(self, now: datetime = _START) -> None:
        """Set the clock.

        Args:
            now: The time, with its zone.
        """
        self.set(now)

    def __call__(self) -> datetime:
        """Tell the time."""
        return self.now

    def set(self, now: datetime) -> None:
        """Set the clock.

        Args:
            now: The time, with its zone.

        Raises:
            ValueError: It has no zone; grove compares no such times.
        """
        if now.tzinfo is None:
            raise ValueError(f"{now} has no time zone")
        self.now = now.astimezone(UTC)

    def move(self, **duration: float) -> datetime:
        """Move the clock.

        Args:
            **duration: By how much, as ``timedelta`` takes it: ``days=1``, ``seconds=-30``.

        Returns:
            The new time.
        """
        self.now += timedelta(**duration)
        return self.now

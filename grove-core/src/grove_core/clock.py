"""Times as text: the one format that grove writes, and a tolerant reader."""

from datetime import UTC, datetime


def now_utc() -> datetime:
    """Tell the time, UTC, to the second: nothing that grove stores needs more."""
    return datetime.now(UTC).replace(microsecond=0)


def format_instant(instant: datetime) -> str:
    """Write an instant as ISO 8601 in UTC.

    Args:
        instant: An aware datetime.

    Returns:
        Text such as ``2026-02-06T10:00:00Z``, with a fraction only where there is one.
    """
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_instant(text: str) -> datetime:
    """Read an ISO 8601 instant; without an offset it is taken as UTC.

    Args:
        text: Text such as ``2026-02-06T10:00:00Z``.

    Returns:
        An aware datetime in UTC.

    Raises:
        ValueError: The text is no ISO 8601 instant.
    """
    instant = datetime.fromisoformat(text.strip())
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)

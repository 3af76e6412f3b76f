"""Times as people write and read them."""

import re
from datetime import datetime, timedelta
from typing import Final

import rich_click as click

from grove_core.clock import format_instant, parse_instant

_DURATION: Final = re.compile(r"([0-9]+)\s*([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_time(text: str, now: datetime, option: str) -> datetime:
    """Parse a date, or a duration that counts back from now."""
    try:
        length = parse_duration(text)
        return parse_instant(text) if length is None else now - length
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is neither a duration such as 30d, 12h or 2w nor a date such as 2026-02-06",
            param_hint=option,
        ) from None


def parse_duration(text: str) -> timedelta | None:
    """Parse a duration such as 30m or 2h."""
    match = _DURATION.fullmatch(text.strip().lower())
    try:
        return None if match is None else timedelta(**{_UNITS[match[2]]: int(match[1])})
    except OverflowError:
        return None


def local_time(instant: datetime) -> str:
    """Write an instant in the time zone of this machine."""
    try:
        return instant.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (OSError, OverflowError, ValueError):
        return format_instant(instant)  # at the ends of the calendar there is no local time

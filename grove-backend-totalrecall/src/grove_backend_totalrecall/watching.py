"""Whether what was in the daily logs is still there, after a program that may change them."""

import os
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple

from grove_backend_totalrecall.installation import DAILY
from grove_backend_totalrecall.places import Places, day_of
from grove_core import StorageError, read_text

_NAMED: Final = 3


class _Look(NamedTuple):
    """What tells of a file that is not read whether it was changed."""

    size: int
    modified: int


class LogsBefore(NamedTuple):
    """The daily logs as they were."""

    today: Path
    text: str
    others: Mapping[str, _Look]


def look_before(places: Places, today: date) -> LogsBefore:
    """Look at the daily logs."""
    path = places.log_of(today)
    others = _looks(places.daily)
    others.pop(path.name, None)
    return LogsBefore(path, _text(path) or "", others)


def damage_since(before: LogsBefore) -> str:
    """Return which daily logs no longer hold what they held; they are not touched."""
    found = list(_damages(before))
    named = [f"{DAILY}/{one}" for one in found[:_NAMED]]
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(named) + more


def _damages(before: LogsBefore) -> Iterator[str]:
    name = before.today.name
    if before.text and (now := _text(before.today)) is None:
        yield f"{name} is gone"
    elif before.text and now is not None and not _holds(now, before.text):
        yield f"{name} has lost or changed lines"
    looks = _looks(before.today.parent)
    for other, look in sorted(before.others.items()):
        if other not in looks:
            yield f"{other} is gone"
        elif looks[other] != look:
            yield f"{other} was changed"


def _holds(text: str, old: str) -> bool:
    lines = map(str.strip, text.split("\n"))
    return text.startswith(old) or all(
        line in lines for line in map(str.strip, old.split("\n")) if line
    )


def _text(path: Path) -> str | None:
    try:
        return read_text(path) if path.is_file() else None
    except (StorageError, OSError):
        return None


def _looks(daily: Path) -> dict[str, _Look]:
    found = {}
    try:
        with os.scandir(daily) as entries:
            for one in entries:
                if day_of(one.name) and one.is_file():
                    status = one.stat()
                    found[one.name] = _Look(status.st_size, status.st_mtime_ns)
    except OSError:
        return found
    return found

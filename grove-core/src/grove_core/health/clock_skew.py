"""The clock: nothing that grove has written comes from the future."""

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.clock import format_instant
from grove_core.health.check import Check, ok, warning

_TOLERANCE: Final = timedelta(minutes=5)
_MOST_FILES: Final = 1_000
_LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


@frozen(kw_only=True)
class Moment:
    """Something that has a time."""

    what: str
    at: datetime


def newest_file(directories: Iterable[Path]) -> Moment | None:
    """Find the file that was written last, by the file system's clock."""
    found: list[tuple[float, str]] = []
    for directory in directories:
        try:
            with os.scandir(directory) as entries:
                for _, entry in zip(range(_MOST_FILES), entries, strict=False):
                    found.append((entry.stat(follow_symlinks=False).st_mtime, entry.path))
        except OSError:
            continue
    if not found:
        return None
    seconds, path = max(found)
    return Moment(what=path, at=datetime.fromtimestamp(min(seconds, _LATEST), UTC))


def judge_clock(now: datetime, moments: Sequence[Moment]) -> Sequence[Check]:
    """Return whether the clock agrees with what was written before."""
    name = "clock"
    newest = max(moments, key=lambda one: one.at, default=None)
    if newest is None or newest.at - now <= _TOLERANCE:
        return [ok(name, f"{format_instant(now)}; nothing is from the future")]
    detail = f"it is {format_instant(now)}, yet {newest.what} is of {format_instant(newest.at)}"
    mend = (
        "Set the clock (or the one of the file server); until then recency and the breaker's"
        " cooldown are reckoned wrongly"
    )
    return [warning(name, detail, mend)]

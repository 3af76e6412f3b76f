"""How old what is known of a server is, by a file's time alone."""

import os

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STALE_SECONDS = 600
"""A start of a session has a server asked anew when the latest time is longer ago."""
PAUSE_SECONDS = 300
"""A server that does not answer is not asked with every start."""
BEGUN = "synchronise.begun"
"""Written last, among the files derived from a project, when its servers began to be asked."""

_MINUTE = 60
_HOUR = 3600
_DAY = 86_400


def seconds_since(path: str, now: float) -> float | None:
    """Return how long ago a file was written."""
    try:
        age = now - os.stat(path).st_mtime
    except OSError:
        return None
    return max(0.0, age) if age > -_MINUTE else None


def is_stale(mark: str, now: float) -> bool:
    """Return whether a server is to be asked anew."""
    age = seconds_since(mark, now)
    return age is None or age > STALE_SECONDS


def sentences(sources: "Iterable[Sequence[str]]", now: float) -> "list[str]":
    """Return how old what is known of servers is."""
    return [
        f"What {source} holds is known here {_as_of(seconds_since(mark, now))}."
        for source, mark in sources
        if source
    ]


def _as_of(age: float | None) -> str:
    if age is None:
        return "only as far as it was written here: it has not answered yet"
    if age < _MINUTE:
        return "as of just now"
    for unit, name in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if age >= unit:
            count = int(age // unit)
            return f"as of {count} {name}{'' if count == 1 else 's'} ago"
    raise AssertionError("a minute is the least")

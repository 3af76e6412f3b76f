"""The event logs: readable, line by line."""

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.errors import StorageError
from grove_core.health.check import Check, broken, ok, warning
from grove_core.stats.log import EventLog

_MOST_LINES: Final = 10
_MANY_UNKNOWN: Final = "events are of a newer grove and do"


@frozen(kw_only=True)
class LogFacts:
    """One event log as it is.

    Attributes:
        name: What to call it.
        path: The file.
        complaint: Why it cannot be read at all; empty when it can.
        count: How many events it holds.
        unreadable: Numbers of the lines that cannot be read.
        unknown: How many events a newer grove wrote.
        newest: When the newest event happened, if there is one.
    """

    name: str
    path: Path
    complaint: str = ""
    count: int = 0
    unreadable: tuple[int, ...] = ()
    unknown: int = 0
    newest: datetime | None = None


def gather_log(name: str, log: EventLog) -> LogFacts:
    """Read an event log.

    Args:
        name: What to call it.
        log: The log; it may not exist.

    Returns:
        The facts.
    """
    path = Path(log.path)
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - never raise
        return LogFacts(name=name, path=path, complaint=f"{path} is no plain file")
    try:
        content = log.read()
    except StorageError as error:
        return LogFacts(name=name, path=path, complaint=str(error))
    return LogFacts(
        name=name,
        path=path,
        count=len(content.events),
        unreadable=content.unreadable,
        unknown=content.unknown,
        newest=max((event.ts for event in content.events), default=None),
    )


def judge_logs(logs: Iterable[LogFacts]) -> Sequence[Check]:
    """Tell whether every event counts.

    Args:
        logs: The event logs.

    Returns:
        A check for each.
    """
    return [_judge(facts) for facts in logs]


def _judge(facts: LogFacts) -> Check:
    name = facts.name
    if facts.complaint:
        mend = f"Mend the permissions of {facts.path}, or move it out of the way"
        return broken(name, facts.complaint, mend)
    if facts.unreadable:
        numbers = ", ".join(str(number) for number in facts.unreadable[:_MOST_LINES])
        more = len(facts.unreadable) - _MOST_LINES
        numbers += f" and {more} more" if more > 0 else ""
        if len(facts.unreadable) == 1:
            detail = f"{facts.path}: line {numbers} cannot be read and does not count"
            mend = "Open the file and mend or delete that line; often it is a merge's marker"
            return warning(name, detail, mend)
        detail = f"{facts.path}: lines {numbers} cannot be read and do not count"
        mend = "Open the file and mend or delete those lines; often they are a merge's markers"
        return warning(name, detail, mend)
    if facts.unknown:
        words = "event is of a newer grove and does" if facts.unknown == 1 else _MANY_UNKNOWN
        detail = f"{facts.path}: {facts.unknown} {words} not count"
        return warning(name, detail, "Upgrade grove-core")
    return ok(name, f"{facts.path}, events: {facts.count}")

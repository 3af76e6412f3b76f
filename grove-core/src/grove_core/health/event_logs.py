"""The event logs: readable, line by line."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from attrs import field, frozen

from grove_core.conflict_markers import is_conflict_marker
from grove_core.health.check import Check, broken, ok, warning
from grove_core.model.events import EVENT_VERSION
from grove_core.model.statistics import LogFault
from grove_core.stats.log_lines import UNKNOWN, EventLine, instant, read_lines

_MOST_LINES: Final = 10
_PORTION: Final = 20_000


class LineFault(Enum):
    """Why a line does not count."""

    MARKER = "marker of a merge conflict"
    TORN = "last line that was not written to its end"
    NEWER = "line in a newer version of the format"
    UNREADABLE = "line that is no event"
    UNKNOWN = "event that only a newer grove knows"


_PLURALS: Final = {
    LineFault.MARKER: "markers of a merge conflict",
    LineFault.TORN: "last lines that were not written to their ends",
    LineFault.NEWER: "lines in a newer version of the format",
    LineFault.UNREADABLE: "lines that are no events",
    LineFault.UNKNOWN: "events that only a newer grove knows",
}
_MENDS: Final = {
    LineFault.MARKER: "grove maintain repair takes them out; the events of both sides count",
    LineFault.TORN: "Delete that line, or leave it: the next event begins a line of its own",
    LineFault.NEWER: "Upgrade grove-core, which then counts them",
    LineFault.UNREADABLE: "grove maintain repair parts events that share a line; mend or delete the"
    " rest, of which git's history may tell what it was",
    LineFault.UNKNOWN: "Upgrade grove-core, which then counts them",
}


@frozen(kw_only=True)
class LogFacts:
    """One event log as it is."""

    name: str
    path: Path
    complaint: str = ""
    count: int = 0
    faults: dict[LineFault, list[int]] = field(factory=dict)
    newest: datetime | None = None


def gather_log(name: str, path: Path) -> LogFacts:
    """Read an event log."""
    if not os.path.exists(path):  # noqa: PTH110 - never raises
        return LogFacts(name=name, path=path)
    if not os.path.isfile(path):  # noqa: PTH113 - never raises
        return LogFacts(name=name, path=path, complaint=f"{path} is no plain file")
    try:
        with path.open("rb") as file:
            return _read(name, path, file)
    except OSError as error:
        complaint = f"cannot read {path}: {error.strerror or error}"
        return LogFacts(name=name, path=path, complaint=complaint)


def _read(name: str, path: Path, file: IO[bytes]) -> LogFacts:
    count, newest = 0, None
    faults: dict[LineFault, list[int]] = {}
    for number, (line, found) in enumerate(_judged(file), start=1):
        if isinstance(found, EventLine):
            count += 1
            newest = found.moment if newest is None else max(found.moment, newest)
        elif found is not None:
            faults.setdefault(_fault_of(line, found), []).append(number)
    return LogFacts(
        name=name,
        path=path,
        count=count,
        faults=faults,
        newest=None if newest is None else instant(newest),
    )


def _judged(file: IO[bytes]) -> Iterator[tuple[bytes, EventLine | str | None]]:
    """Read a part at a time: logs may hold millions of lines."""
    while lines := list(islice(file, _PORTION)):
        yield from zip(lines, read_lines([line.rstrip(b"\n") for line in lines]), strict=True)


def _fault_of(line: bytes, found: str) -> LineFault:
    if found == UNKNOWN:
        return LineFault.UNKNOWN
    if is_conflict_marker(line):
        return LineFault.MARKER
    document = _document(line)
    if document is None:
        return LineFault.UNREADABLE if line.endswith(b"\n") else LineFault.TORN
    version = document.get("v") if isinstance(document, dict) else None
    is_newer = type(version) is int and version > EVENT_VERSION
    return LineFault.NEWER if is_newer else LineFault.UNREADABLE


def _document(line: bytes) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def judge_logs(name: str, logs: Iterable[LogFacts]) -> Sequence[Check]:
    """Return whether every event counts."""
    logs = tuple(logs)
    checks = [check for facts in logs for check in _faults(facts)]
    if checks:
        return checks
    count = sum(facts.count for facts in logs)
    where = str(logs[0].path) if len(logs) == 1 else f"files: {len(logs)}"
    return [ok(name, f"{where}, events: {count}" if logs else "none is there yet")]


def _faults(facts: LogFacts) -> Iterator[Check]:
    if facts.complaint:
        mend = f"Mend the permissions of {facts.path}, or move it out of the way"
        yield broken(facts.name, facts.complaint, mend)
    for fault, lines in facts.faults.items():
        one = len(lines) == 1
        what = f"{len(lines)} {fault.value if one else _PLURALS[fault]}"
        verb = "does" if one else "do"
        detail = f"{_places(facts.path, lines, len(lines))}: {what}, which {verb} not count"
        yield warning(facts.name, detail, _MENDS[fault])


def _places(path: object, lines: Sequence[int], count: int) -> str:
    """Name lines so that an editor finds the first one: ``events.jsonl:3, 7 and 2 more``."""
    shown = lines[:_MOST_LINES]
    more = count - len(shown)
    numbers = ", ".join(str(number) for number in shown)
    return f"{path}:{numbers}" + (f" and {more} more" if more > 0 else "")


def describe_faults(faults: Iterable[LogFault]) -> list[str]:
    """Return what the statistics had to leave out, in fewer words than ``judge_logs``."""
    lines: list[str] = []
    for one in faults:
        if one.unreadable_count:
            places = _places(one.path, one.unreadable, one.unreadable_count)
            lines.append(f"{places} cannot be read and count for nothing; grove doctor says why")
        if one.unknown:
            noun = "event is" if one.unknown == 1 else "events are"
            lines.append(f"{one.path}: {one.unknown} {noun} of a newer grove")
    return lines

"""Event logs, the logs of faults, and what is derived from them."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from grove_core.clock import parse_instant
from grove_core.doctor.check import CheckResult, Examination, broken, ok, warning
from grove_core.event_log import event_files
from grove_core.model.events import EVENT_VERSION
from grove_core.stats.lines import UNKNOWN, EventLine, read_lines

_MOST_LINES: Final = 10
_PORTION: Final = 20_000
_CRASH: Final = re.compile(r"(?P<time>\S+) session=\S+ hook=(?P<text>\S+ .*)")
_ERROR: Final = re.compile(r"(?P<time>\S+) ERROR (?P<text>.*)")

NEWER: Final = "line that only a newer grove understands"
UNREADABLE: Final = "line that is no event"
_FIXES: Final = {
    NEWER: "Upgrade grove-core, which then counts them",
    UNREADABLE: "Delete what is no event, such as a conflict marker; each event has its own line",
}


def event_log(examination: Examination) -> Iterator[CheckResult]:
    """Check that every line of the project's log and of the user's own counts."""
    own = examination.paths.personal_events
    yield from check_logs([*event_files(examination.files), *([own] if own.exists() else [])])


def check_logs(paths: Sequence[Path]) -> Iterator[CheckResult]:
    """Name the lines that do not count, each kind with its fix."""
    count = 0
    for path in paths:
        try:
            with path.open("rb") as file:
                events, faults = _read(file)
        except OSError as error:
            fix = f"Correct the permissions of {path}, or move it out of the way"
            yield broken(f"cannot read {path}: {error.strerror or error}", fix)
            continue
        count += events
        for kind, lines in faults.items():
            shown = ", ".join(map(str, lines[:_MOST_LINES]))
            more = f" and {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else ""
            # So an editor finds the first one.
            yield warning(f"{path}:{shown}{more}: {kind}, which does not count", _FIXES[kind])
    yield ok(f"files: {len(paths)}, events: {count}")


def _read(file: IO[bytes]) -> tuple[int, dict[str, list[int]]]:
    """Count the events, and find the numbers of the lines that hold none, by kind."""
    count, number = 0, 0
    faults: dict[str, list[int]] = {}
    # A part at a time: logs may hold millions of lines.
    while lines := list(islice(file, _PORTION)):
        found = read_lines([line.rstrip(b"\n") for line in lines])
        for line, one in zip(lines, found, strict=True):
            number += 1
            if isinstance(one, EventLine):
                count += 1
            elif one is not None:
                faults.setdefault(_fault_of(line, one), []).append(number)
    return count, faults


def _fault_of(line: bytes, found: str) -> str:
    if found == UNKNOWN:
        return NEWER
    try:
        document: Any = json.loads(line)
    except (ValueError, RecursionError):
        return UNREADABLE
    version = document.get("v") if isinstance(document, dict) else None
    return NEWER if type(version) is int and version > EVENT_VERSION else UNREADABLE


def crashes(examination: Examination) -> Iterator[CheckResult]:
    """Tell of hooks that have crashed within a week."""
    path = examination.paths.crash_log
    for text in _latest(path, _CRASH, examination.now - timedelta(days=7)):
        fix = f"Report it with its traceback from {path}; this goes away a week after it"
        yield warning(text, fix)
    yield ok("none within a week")


def errors(examination: Examination) -> Iterator[CheckResult]:
    """Tell of errors of the last day, in whatever project."""
    path = examination.paths.log_file
    for text in _latest(path, _ERROR, examination.now - timedelta(days=1)):
        yield warning(text, f"Read {path}; this goes away a day after the last one")
    yield ok(f"none in {path} within a day")


def _latest(path: Path, pattern: re.Pattern[str], since: datetime) -> Iterator[str]:
    """Describe the last fault in a log, if it is young enough; tracebacks are indented."""
    logs = [one for one in (path.with_name(f"{path.name}.1"), path) if one.is_file()]
    text = "\n".join(one.read_text(encoding="utf-8", errors="replace") for one in logs)
    for line in reversed(text.splitlines()):
        found = pattern.fullmatch(line)
        if found is not None:
            with suppress(ValueError):
                if parse_instant(found["time"]) >= since:
                    yield f"in all projects, the last at {found['time']}: {found['text']}"
                return

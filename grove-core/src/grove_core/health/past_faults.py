"""What the logs of faults tell: ``crash.log`` and ``grove.log``."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.clock import format_instant, parse_instant
from grove_core.health.check import Check, ok, warning
from grove_core.storage.paths import Paths

_CRASH: Final = re.compile(
    r"(?P<time>\S+) session=(?P<session>\S+) hook=(?P<hook>\S+) (?P<rest>.*)"
)
_ERROR: Final = re.compile(r"(?P<time>\S+) ERROR (?P<rest>.*)")
_CRASH_MATTERS: Final = timedelta(days=7)
_ERROR_MATTERS: Final = timedelta(days=1)
_TAIL_BYTES: Final = 1024 * 1024


@frozen(kw_only=True)
class Fault:
    """A line of a log."""

    at: datetime
    text: str


@frozen(kw_only=True)
class FaultFacts:
    """What the logs hold."""

    crash_log: Path
    crashes: tuple[Fault, ...]
    log_file: Path
    errors: tuple[Fault, ...]


def gather_faults(paths: Paths) -> FaultFacts:
    """Read the newest part of both logs, rotated ones included."""
    return FaultFacts(
        crash_log=paths.crash_log,
        crashes=tuple(read_crashes(_lines(paths.crash_log))),
        log_file=paths.log_file,
        errors=tuple(read_errors(_lines(paths.log_file))),
    )


def read_crashes(lines: Iterable[str]) -> Sequence[Fault]:
    """Find the crashes in the lines of ``crash.log``; tracebacks are indented and passed over."""
    return _faults(lines, _CRASH, lambda found: f"{found['hook']}: {found['rest']}")


def read_errors(lines: Iterable[str]) -> Sequence[Fault]:
    """Find the errors in the lines of ``grove.log``."""
    return _faults(lines, _ERROR, lambda found: found["rest"])


def _faults(
    lines: Iterable[str], pattern: re.Pattern[str], text_of: Callable[[re.Match[str]], str]
) -> Sequence[Fault]:
    faults = []
    for line in lines:
        found = pattern.fullmatch(line)
        if found is None:
            continue
        try:
            faults.append(Fault(at=parse_instant(found["time"]), text=text_of(found)))
        except ValueError:
            continue
    return faults


def _lines(path: Path) -> Sequence[str]:
    return [line for part in (path.with_name(f"{path.name}.1"), path) for line in _tail(part)]


def _tail(path: Path) -> Sequence[str]:
    if not os.path.isfile(path):  # noqa: PTH113 - never raises
        return ()
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return file.read(_TAIL_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return ()


def judge_faults(facts: FaultFacts, now: datetime) -> Sequence[Check]:
    """Return what went wrong lately."""
    return [_crashes(facts, now), _errors(facts, now)]


def _crashes(facts: FaultFacts, now: datetime) -> Check:
    name = "crashes"
    if not facts.crashes:
        return ok(name, "none is on record")
    last = facts.crashes[-1]
    detail = f"the last was at {format_instant(last.at)}, in {last.text}"
    if now - last.at > _CRASH_MATTERS:
        return ok(name, detail)
    mend = f"Report it with its traceback from {facts.crash_log}; this goes away a week after it"
    return warning(name, detail, mend)


def _errors(facts: FaultFacts, now: datetime) -> Check:
    name = "errors"
    recent = [one for one in facts.errors if now - one.at <= _ERROR_MATTERS]
    if not recent:
        return ok(name, f"none in {facts.log_file} within a day")
    last = recent[-1]
    detail = f"within a day, of all projects: {len(recent)}, the last at {format_instant(last.at)}:"
    gone = format_instant(last.at + _ERROR_MATTERS)
    mend = f"Read {facts.log_file}; this goes away a day after the last one, at {gone}"
    return warning(name, f"{detail} {last.text}", mend)

"""Find what is missing where Total Recall is used, and how to fix it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple

from grove_backend_totalrecall.installation import (
    COMMAND_FILE,
    DAILY,
    REGISTERS,
    Form,
    Installation,
    find_installation,
)
from grove_backend_totalrecall.paths import LARGEST_BYTES, Paths, day_of
from grove_core import Health, ProjectContext, StorageError, confined, is_ignored_by_git

_NAMED: Final = 3


class Fault(NamedTuple):
    """Something that is wrong."""

    detail: str
    fix: str


def describe(installation: Installation) -> str:
    """Say in a line what was found."""
    return f"Total Recall ({installation.form.value}) in {installation.root}"


def why_outside(installation: Installation) -> Fault | None:
    """Say that the daily logs lie outside of the root, where nothing is written."""
    return _leads_out(Paths(installation.root).daily, installation.root)


def why_unusable(installation: Installation) -> Fault:
    """Say why nothing can be written where Total Recall is installed."""
    start = _how_to_start(installation)
    if installation.is_only_enabled:
        what = f"the plugin is enabled in {installation.markers[0]} and not used in this project"
        return Fault(f"Total Recall: {what}", start)
    where = f"{describe(installation)} is installed ({', '.join(installation.markers)})"
    return Fault(f"{where} and not initialised: there is no {DAILY}", start)


def _how_to_start(installation: Installation) -> str:
    has_command = installation.form is not Form.HAND_MADE and (
        installation.form is not Form.STANDALONE or COMMAND_FILE in installation.markers
    )
    if has_command:
        return f"Run {installation.command('recall-init')} in the client"
    daily, registers = (_quoted(installation.root / name) for name in (DAILY, REGISTERS))
    return f"Run Total Recall's install.sh there, or: mkdir -p {daily} {registers}"


def check_project(context: ProjectContext, today: date) -> Health:
    """Look whether Total Recall can be written to, and whether all of it can be read."""
    installation = find_installation(context)
    if installation is None:
        return Health(ok=True, detail="not used in this project")
    if not installation.is_initialised:
        why = why_unusable(installation)
        fix = "" if installation.is_only_enabled else why.fix
        return Health(ok=True, detail=why.detail, fix=fix)
    log = Paths(installation.root).log_of(today)
    fault = write_fault(log, installation.root)
    if fault is not None:
        return Health(ok=False, detail=f"{describe(installation)}: {fault.detail}", fix=fault.fix)
    faults = [*_large_logs(log.parent)]
    if REGISTERS in installation.missing:
        faults.append(Fault(f"there is no {REGISTERS}", _how_to_start(installation)))
    said = [describe(installation), *(one.detail for one in faults)]
    if is_ignored_by_git(log):
        said.append("git ignores its daily logs, so other clones do not get them")
    return Health(ok=True, detail="; ".join(said), fix="; ".join(one.fix for one in faults))


def write_fault(log: Path, root: Path) -> Fault | None:
    """Tell why a daily log cannot be written, without touching it."""
    if (fault := _leads_out(log, root)) is not None:
        return fault
    if log.is_symlink():
        # A clone may hold links for all days to come, to files that are not to be appended to.
        if os.path.exists(log):  # noqa: PTH110 - never raises
            return Fault(f"{log} is a symbolic link", f"Replace the symbolic link {log} by a file")
        return Fault(f"{log} is a symbolic link that leads nowhere", f"rm {_quoted(log)}")
    if os.path.lexists(log):
        return _file_fault(log)
    if not os.access(log.parent, os.W_OK | os.X_OK):
        fix = f"chmod u+wx {_quoted(log.parent)}"
        return Fault(f"nothing can be created in {log.parent}", fix)
    return None


def _leads_out(path: Path, root: Path) -> Fault | None:
    between = [one for one in reversed(path.parents) if one.is_relative_to(root)]
    for place in (*between, path):
        try:
            confined(place, root)
        except StorageError:
            leads = f"{place} leads to {os.path.realpath(place)}, outside of {root}"
            fix = f"Replace the symbolic link {place} by what it leads to"
            return Fault(f"{leads}, where nothing is written", fix)
    return None


def _file_fault(log: Path) -> Fault | None:
    if not os.path.isfile(log):  # noqa: PTH113 - never raises
        return Fault(f"{log} is no file", f"Move {log} out of the way")
    if not os.access(log, os.R_OK | os.W_OK):
        return Fault(f"{log} cannot be read and written", f"chmod u+rw {_quoted(log)}")
    if log.stat().st_size > LARGEST_BYTES:
        return _too_large(log)
    return None


def _large_logs(daily: Path) -> Iterator[Fault]:
    """Find logs that are not read."""
    logs = (one for one in sorted(daily.glob("*.md"), reverse=True) if day_of(one.name))
    with suppress(OSError):
        if large := [one for one in logs if one.stat().st_size > LARGEST_BYTES]:
            yield _too_large(*large)


def _too_large(*logs: Path) -> Fault:
    names = ", ".join(f"{DAILY}/{one.name}" for one in logs[:_NAMED])
    more = f" and {len(logs) - _NAMED} more" if len(logs) > _NAMED else ""
    detail = f"{names}{more} is over {LARGEST_BYTES // (1024 * 1024)} MiB, and is not read"
    return Fault(detail, f"Split {logs[0]} into files of {DAILY} or memory/archive/daily")


def _quoted(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))

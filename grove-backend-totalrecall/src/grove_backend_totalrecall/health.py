"""Find what is missing where Total Recall is used, and how to fix it."""

import os
from datetime import date
from pathlib import Path
from typing import NamedTuple

from grove_backend_totalrecall.installation import (
    COMMAND_FILE,
    DAILY,
    REGISTERS,
    Form,
    Installation,
    find_installation,
)
from grove_backend_totalrecall.paths import LARGEST_BYTES, Paths
from grove_core import Health, ProjectContext, StorageError, confined, is_ignored_by_git


class Fault(NamedTuple):
    """Something that is wrong."""

    detail: str
    fix: str


def describe(installation: Installation) -> str:
    """Say in a line what was found."""
    return f"Total Recall ({installation.form.value}) in {installation.root}"


def why_unusable(installation: Installation) -> Fault:
    """Say why nothing can be written where Total Recall is installed."""
    start = _how_to_start(installation)
    if installation.is_only_enabled:
        what = f"the plugin is enabled in {installation.markers[0]} and not used in this project"
        return Fault(f"Total Recall: {what}", start)
    where = f"{describe(installation)} is installed ({', '.join(installation.markers)})"
    return Fault(f"{where} and not initialised: there is no {DAILY}", start)


def _how_to_start(installation: Installation) -> str:
    is_plugin = installation.form in {Form.PLUGIN_USER, Form.PLUGIN_PROJECT}
    if is_plugin or COMMAND_FILE in installation.markers:
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
    said, fix = [describe(installation)], ""
    if REGISTERS in installation.missing:
        said.append(f"there is no {REGISTERS}")
        fix = _how_to_start(installation)
    if is_ignored_by_git(log):
        said.append("git ignores its daily logs, so other clones do not get them")
    return Health(ok=True, detail="; ".join(said), fix=fix)


def write_fault(log: Path, root: Path) -> Fault | None:
    """Tell why a daily log cannot be written, without touching it."""
    if (fault := why_outside(log, root)) is not None:
        return fault
    is_there, folder = log.exists(), log.parent
    is_locked = is_there and not os.access(log, os.R_OK | os.W_OK)
    is_full = is_there and log.stat().st_size > LARGEST_BYTES
    is_closed = not is_there and not os.access(folder, os.W_OK | os.X_OK)
    # A clone may hold links for all days to come, to files that are not to be appended to.
    faults = (
        (
            log.is_symlink(),
            f"{log} is a symbolic link",
            f"Replace the symbolic link {log} by a file",
        ),
        (is_there and not log.is_file(), f"{log} is no file", f"Move {log} out of the way"),
        (is_locked, f"{log} cannot be read and written", f"chmod u+rw {_quoted(log)}"),
        (is_full, f"{log} is too large to be read", f"Split {log} into several files"),
        (is_closed, f"nothing can be created in {folder}", f"chmod u+wx {_quoted(folder)}"),
    )
    return next((Fault(detail, fix) for is_wrong, detail, fix in faults if is_wrong), None)


def why_outside(path: Path, root: Path) -> Fault | None:
    """Say which link leads out of the root, where nothing is written."""
    between = [one for one in reversed(path.parents) if one.is_relative_to(root)]
    for place in (*between, path):
        try:
            confined(place, root)
        except StorageError:
            leads = f"{place} leads to {os.path.realpath(place)}, outside of {root}"
            fix = f"Replace the symbolic link {place} by what it leads to"
            return Fault(f"{leads}, where nothing is written", fix)
    return None


def _quoted(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))

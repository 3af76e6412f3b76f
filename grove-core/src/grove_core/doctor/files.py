"""Directories: grove's own, and the project's ``.grove`` with what git is told of it."""

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from grove_core import git
from grove_core.doctor.check import CheckResult, Examination, broken, ok, warning
from grove_core.install.clone import has_merge_driver, swallowed

_MEBIBYTE: Final = 1024 * 1024
_TIGHT: Final = 100
"""Free space, in MiB, with which little can be kept."""


def home(examination: Examination) -> Iterator[CheckResult]:
    """Check that sessions, logs and what waits can be written."""
    paths = examination.paths
    places = (paths.home, paths.sessions, paths.outbox, paths.cache)
    there = [one for one in places if os.path.lexists(one)] or [_nearest(paths.home)]
    for path in there:
        if not os.path.isdir(path) or not os.access(path, os.W_OK | os.X_OK):  # noqa: PTH112 - never raises
            quoted = shlex.quote(str(path))
            fix = f"chmod u+rwx {quoted}, move away what is no directory, or set GROVE_HOME to a"
            yield broken(f"nothing can be written in {path}", f"{fix} directory that you may write")
    yield ok(str(paths.home))


def permissions(examination: Examination) -> Iterator[CheckResult]:
    """Check that no other user may change what hooks run."""
    path = examination.paths.home
    if not path.is_dir():
        return
    status = path.stat()
    if status.st_mode & 0o002:
        detail = f"every user of this machine may change {path}, and so which program hooks run"
        yield broken(detail, f"chmod o-w {path}")
    if status.st_uid != os.getuid():
        fix = f'chown -R "$(id -un)" {path}, or set GROVE_HOME'
        yield warning(f"{path} belongs to another user", fix)
    yield ok(f"{path} is yours alone to change")


def free_space(examination: Examination) -> Iterator[CheckResult]:
    """Check that the disk is not full."""
    nearest = _nearest(examination.paths.home)
    free = shutil.disk_usage(nearest).free // _MEBIBYTE
    detail = f"{free:,} MiB on the disk of {nearest}"
    yield warning(detail, "Free some space there") if free < _TIGHT else ok(detail)


def _nearest(path: Path) -> Path:
    return next(one for one in (path, *path.parents) if os.path.isdir(one))  # noqa: PTH112 - never raises


def project(examination: Examination) -> Iterator[CheckResult]:
    """Check that the project can keep learnings."""
    paths = examination.files
    directory = paths.grove_directory
    if not paths.initialised:
        detail = f"{paths.root} has no .grove; it is gated only where it has a ticket system"
        yield warning(detail, "If it is to use grove: grove init")
        return
    real = Path(os.path.realpath(directory))
    if not real.is_relative_to(os.path.realpath(paths.root)):
        detail = f"{directory} leads out of the project, to {real}"
        yield broken(detail, "Replace the link by a directory; grove writes to no other")
    places = (directory, paths.learnings_file, paths.learnings_folder, paths.published_events)
    for one in places:
        if os.path.exists(one) and not os.access(one, os.W_OK):  # noqa: PTH110 - never raises
            fix = f"chmod u+w {shlex.quote(str(one))}; or mount its disk so that it can be written"
            yield broken(f"nothing can be written to {one}", fix)
    yield ok(str(directory))


def merge_driver(examination: Examination) -> Iterator[CheckResult]:
    """Name the merge driver that an older grove has registered in this clone."""
    if has_merge_driver(examination.files.root):
        detail = "registered in this clone by an older grove, which this one does not know"
        yield warning(detail, "grove init takes it out")


def ignored(examination: Examination) -> Iterator[CheckResult]:
    """Check that git does not leave learnings out."""
    paths = examination.files
    if not paths.initialised or git.find_top(paths.root) is None:
        return
    for line in swallowed(paths.root):
        detail, _, fix = line.rpartition(": ")
        yield warning(f"{detail}: no one else gets it", f"To share learnings, {fix}")
    yield ok("git ignores nothing of .grove")

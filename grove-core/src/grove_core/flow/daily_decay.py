"""Decay at the start of a session: once a day, within a part of the hook's time."""

import time
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grove_core import files
from grove_core.clock import format_instant, parse_instant
from grove_core.errors import StorageError
from grove_core.plugins.descriptors import Area
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from grove_core.flow.decaying import JudgedLearning
    from grove_core.model.statistics import Statistics

MOST_AT_A_START: Final = 20
MOST_LISTED: Final = 10_000
"""The most learnings that a start reads one by one; of more, only what was counted before."""

_INTERVAL: Final = timedelta(days=1)
# Of the hook's time, since rewriting a large file many times takes seconds.
_SHARE_OF_A_START: Final = 0.2
# With less left of it, nothing is begun: a start that is late says nothing at all. A search that
# was given up after its second leaves less of the usual time: reading all learnings takes long.
_SHARE_THAT_MUST_BE_LEFT: Final = 0.45


def decay_daily(workspace: Workspace, session_id: str) -> None:
    """Archive what is due, at most once a day and within a part of the hook's time.

    What is left goes on at the next start, all of it when the start has little time left. Nothing
    is done while another process curates, and in a project that has no log to say so. What the
    session has been shown stays for now.

    Args:
        workspace: The project.
        session_id: The session that starts.
    """
    areas = _areas_of_the_day(workspace)
    if not areas:
        return
    if not _has_time(workspace):
        workspace.diagnostics.log("info", "decay waits for the next start: little time is left")
        return
    # Where there is nothing to look at, nothing is noted down.
    learnings = len(workspace.finder.index)
    if not learnings:
        return
    counted = _counted(workspace)
    if counted is None and learnings > MOST_LISTED:
        from grove_core.flow.indexing_in_background import index_in_background

        index_in_background(workspace)
        workspace.diagnostics.log("info", "decay waits for the next start: much has to be counted")
        return
    from grove_core.flow.curation import curating

    session = workspace.session(session_id)
    spared = {one.learning_id for one in session.injected} if session is not None else set()
    until = time.process_time() + _SHARE_OF_A_START * _seconds_of_a_start(workspace)
    try:
        with curating(workspace, timeout=0):
            # Another session may have been quicker.
            areas = _areas_of_the_day(workspace)
            if areas and _archive_some(workspace, _due(workspace, areas, counted), spared, until):
                for area in areas:
                    stamp = _stamp(workspace, area)
                    files.make_directory(stamp.parent)
                    files.replace(stamp, format_instant(workspace.now).encode())
        workspace.index_what_was_written()
    except StorageError as error:
        workspace.diagnostics.log("info", f"decay waits for the next start: {error}")


def _seconds_of_a_start(workspace: Workspace) -> float:
    return workspace.config.hooks.deadline_ms / 1000


def _has_time(workspace: Workspace) -> bool:
    if workspace.work_deadline is None:
        return True
    left = workspace.work_deadline - time.process_time()
    return left >= _SHARE_THAT_MUST_BE_LEFT * _seconds_of_a_start(workspace)


def _counted(workspace: Workspace) -> "Statistics | None":
    """Take the numbers if they come without reading all learnings."""
    return workspace.statistics() if workspace.numbers.learnings_are_current else None


def _due(
    workspace: Workspace, areas: Sequence[Area], counted: "Statistics | None"
) -> "tuple[list[JudgedLearning], bool]":
    """Find what is due, the most overdue first, and tell whether that is all."""
    from grove_core.flow.decaying import due_learnings, judged, require_all_events
    from grove_core.stats.decay import DecayState

    if counted is None:
        return due_learnings(workspace, areas), True
    require_all_events(workspace)
    overdue = [one.learning_id for one in counted.going_stale if one.days_left < 0]
    # The numbers name the most urgent only.
    all_named = len(overdue) < len(counted.going_stale) or len(overdue) == (
        counted.going_stale_count
    )
    found = [one for one in map(workspace.library.get, overdue) if one and one.area in areas]
    verdicts = judged(workspace, found, workspace.usage()) if found else []
    return [one for one in verdicts if one.verdict.state is DecayState.DUE], all_named


def _archive_some(
    workspace: Workspace,
    found: "tuple[Sequence[JudgedLearning], bool]",
    spared: Collection[str],
    until: float,
) -> bool:
    """Archive what is due while time lasts; tell whether nothing is left to try."""
    from grove_core.flow.curation import Curated, Outcome
    from grove_core.flow.decaying import archive_due

    archived = 0
    failed: list[Curated] = []
    all_due, is_all = found
    due = [one for one in all_due if one.found.hit.learning.id not in spared]
    if workspace.work_deadline is not None and time.process_time() > workspace.work_deadline:
        return False
    for tried, one in enumerate(due):
        # One at least, so that there is an end to it however slow the machine is.
        if archived >= MOST_AT_A_START or (tried and time.process_time() > until):
            return False
        curated = archive_due(workspace, one, dry_run=False)
        archived += curated.outcome is Outcome.CHANGED
        failed += [curated] if curated.outcome is Outcome.REFUSED else []
    if failed:
        many = f"{len(failed)} learnings are" if len(failed) > 1 else "1 learning is"
        what = f"{many} due and could not be archived"
        workspace.diagnostics.log(
            "warning", f"{what}, such as {failed[0].learning_id}: {failed[0].detail}"
        )
    # Where none of many could be archived, trying the same again would not help.
    return is_all or not archived


def _areas_of_the_day(workspace: Workspace) -> tuple[Area, ...]:
    """Name the areas that were not looked at within a day."""
    areas = (Area.PROJECT, Area.PERSONAL) if workspace.project.initialised else (Area.PERSONAL,)
    return tuple(one for one in areas if _is_due(_stamp(workspace, one), workspace.now))


def _stamp(workspace: Workspace, area: Area) -> Path:
    personal = area is Area.PERSONAL
    return workspace.paths.cache / "decayed" if personal else workspace.project_cache / "decayed"


def last_decay(workspace: Workspace, area: Area) -> datetime | None:
    """Tell when decay last looked at all learnings of an area.

    Args:
        workspace: The project.
        area: The project's learnings or the user's own.

    Returns:
        The time, UTC, or ``None`` when it is not known to have run.
    """
    return _read(_stamp(workspace, area))


def _read(stamp: Path) -> datetime | None:
    try:
        return parse_instant(stamp.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _is_due(stamp: Path, now: datetime) -> bool:
    last = _read(stamp)
    if last is None:
        return True
    # A clock that was wrong once must not stop decay for years.
    return not timedelta(0) <= now - last < _INTERVAL

"""Decay at the start of a session: once a day, it hides on this machine what is due."""

import time
from collections.abc import Iterator
from datetime import timedelta
from heapq import nsmallest
from pathlib import Path
from typing import Final

from grove_core.decayed import HIDDEN_MAX, keep_look, read_look
from grove_core.errors import StorageError
from grove_core.model.learning import LearningStatus
from grove_core.stats.decay import DecayState, DecayVerdict, judge_decay
from grove_core.stats.log_lines import instant, microseconds
from grove_core.workspace import Workspace

_INTERVAL: Final = timedelta(days=1)
# With less left of the hook's time, nothing is begun: a start that is late says nothing at all.
_SHARE_THAT_MUST_BE_LEFT: Final = 0.45


def decay_daily(workspace: Workspace) -> None:
    """Hide what is due, at most once a day; a reflection that stores a learning archives it.

    Where not all learnings and events are read, the next start looks again.

    Args:
        workspace: The project.
    """
    places = [(workspace.paths.decay_file, True)]
    if workspace.project.initialised:
        places.append((workspace.project.decay_file, False))
    places = [one for one in places if _is_time(workspace, one[0])]
    # Where there is nothing to look at, nothing is noted down.
    if not places or not len(workspace.finder.index):
        return
    try:
        _require_everything(workspace)
        for path, personal in places:
            overdue = _overdue(workspace, personal=personal)
            found = nsmallest(HIDDEN_MAX, overdue, key=lambda one: one[1].days_left)
            keep_look(path, workspace.now, ((name, one.reason) for name, one in found))
    except StorageError as error:
        workspace.diagnostics.log("info", f"decay waits for the next start: {error}")


def _is_time(workspace: Workspace, path: Path) -> bool:
    last = read_look(path).at
    # A clock that was wrong once must not stop decay for years.
    return last is None or not timedelta(0) <= workspace.now - last < _INTERVAL


def _require_everything(workspace: Workspace) -> None:
    """Raise ``StorageError`` where what is used could seem unused, or there is no time to look."""
    from grove_core.flow.decaying import require_all_events
    from grove_core.flow.indexing_in_background import index_in_background

    if workspace.work_deadline is not None:
        left = workspace.work_deadline - time.process_time()
        if left < _SHARE_THAT_MUST_BE_LEFT * workspace.config.hooks.deadline_ms / 1000:
            raise StorageError("little time is left")
    if not workspace.finder.complete:
        index_in_background(workspace)
        raise StorageError("not all learnings are indexed")
    require_all_events(workspace)


def _overdue(workspace: Workspace, *, personal: bool) -> Iterator[tuple[str, DecayVerdict]]:
    rule = workspace.personal_decay_rule if personal else workspace.decay_rule
    before = microseconds(workspace.now - timedelta(days=rule.passive_days))
    found = workspace.finder.index.written_before(before, personal=personal)
    usage = workspace.usage() if found else {}
    active = LearningStatus.ACTIVE.value
    for name, created in found:
        verdict = judge_decay(instant(created), active, usage.get(name), workspace.now, rule)
        if verdict.state is DecayState.DUE:
            yield name, verdict

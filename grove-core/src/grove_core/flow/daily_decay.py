"""Decay at the start of a session: once a day, it hides on this machine what is due."""

import time
from datetime import timedelta
from pathlib import Path
from typing import Final

from grove_core.decayed import HIDDEN_MAX, keep_look, read_look
from grove_core.errors import StorageError
from grove_core.model.learning import LearningStatus
from grove_core.stats.decay import DecayState, judge_decay
from grove_core.stats.log_lines import instant, microseconds
from grove_core.workspace import Workspace

_INTERVAL: Final = timedelta(days=1)
# With less left of the hook's time, nothing is begun: a start that is late says nothing at all.
_SHARE_THAT_MUST_BE_LEFT: Final = 0.45
_SHARE_FOR_LOOKING: Final = 0.2
_PORTION: Final = 500
_ACTIVE: Final = LearningStatus.ACTIVE.value


def decay_daily(workspace: Workspace) -> None:
    """Hide what is due, at most once a day; a reflection that stores a learning archives it."""
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
            keep_look(path, workspace.now, _due(workspace, personal=personal))
    except StorageError as error:
        workspace.diagnostics.log("info", f"decay waits for the next start: {error}")


def _is_time(workspace: Workspace, path: Path) -> bool:
    last = read_look(path).at
    # A clock that was wrong once must not stop decay for years.
    return last is None or not timedelta(0) <= workspace.now - last < _INTERVAL


def _require_everything(workspace: Workspace) -> None:
    """Raise ``StorageError`` where what is used could seem unused, or there is no time to look."""
    from grove_core.flow.decaying import require_all_events
    from grove_core.services.sync import index_in_background

    if workspace.work_deadline is not None:
        left = workspace.work_deadline - time.process_time()
        if left < _SHARE_THAT_MUST_BE_LEFT * _seconds_of_a_start(workspace):
            raise StorageError("little time is left")
    if not workspace.finder.complete:
        index_in_background(workspace)
        raise StorageError("not all learnings are indexed")
    require_all_events(workspace)


def _due(workspace: Workspace, *, personal: bool) -> list[tuple[str, str]]:
    """Find what is due and why, the oldest first, as far as a part of the hook's time lasts."""
    rule = workspace.personal_decay_rule if personal else workspace.decay_rule
    before = microseconds(workspace.now - timedelta(days=rule.passive_days))
    older = workspace.finder.index.written_before(before, personal=personal)
    until = time.process_time() + _SHARE_FOR_LOOKING * _seconds_of_a_start(workspace)
    due: list[tuple[str, str]] = []
    for start in range(0, len(older), _PORTION):
        portion = older[start : start + _PORTION]
        usage = workspace.usage([name for name, _ in portion])
        for name, created in portion:
            verdict = judge_decay(instant(created), _ACTIVE, usage.get(name), workspace.now, rule)
            if verdict.state is DecayState.DUE:
                due.append((name, verdict.reason))
        if len(due) >= HIDDEN_MAX or time.process_time() > until:
            break
    return due[:HIDDEN_MAX]


def _seconds_of_a_start(workspace: Workspace) -> float:
    return workspace.config.hooks.deadline_ms / 1000

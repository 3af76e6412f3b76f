"""What grove derives by itself: the statistics cache, and decay once a day."""

import os
import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.clock import format_instant
from grove_core.decayed import read_look
from grove_core.health.check import Check, ok, warning
from grove_core.numbers import FILE_NAME
from grove_core.plugins.descriptors import Area
from grove_core.stats_cache.database import SCHEMA_VERSION
from grove_core.workspace import Workspace

_OVERDUE: Final = timedelta(days=7)


@frozen(kw_only=True)
class CacheFacts:
    """The statistics cache as it is."""

    path: Path
    exists: bool
    fault: str = ""


@frozen(kw_only=True)
class DecayFacts:
    """What is known of decay in a project."""

    last: datetime | None
    days: int
    ran: datetime | None
    has_learnings: bool = True


def gather_cache(workspace: Workspace) -> CacheFacts:
    """Look into the cache, without changing anything and without waiting for anybody."""
    path = workspace.project_cache / FILE_NAME
    if not os.path.lexists(path):
        return CacheFacts(path=path, exists=False)
    try:
        connection = _open(path)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            connection.execute("SELECT count(*) FROM log").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        return CacheFacts(path=path, exists=True, fault=str(error))
    fault = "" if version == SCHEMA_VERSION else f"it is of version {version}"
    return CacheFacts(path=path, exists=True, fault=fault)


def _open(path: Path) -> sqlite3.Connection:
    """Open it so that no file is made beside it, and none that is there is changed."""
    how = "readonly_shm=1" if os.path.lexists(f"{path}-wal") else "immutable=1"
    return sqlite3.connect(f"{path.as_uri()}?mode=ro&{how}", uri=True)


def judge_cache(facts: CacheFacts) -> Sequence[Check]:
    """Return whether numbers are at hand quickly."""
    name = "statistics cache"
    if not facts.exists:
        return [ok(name, "is made when it is first needed")]
    if facts.fault:
        detail = f"{facts.path} cannot be used and is made anew: {facts.fault}"
        return [warning(name, detail, f"grove stats makes it; if this stays: rm {facts.path}")]
    return [ok(name, str(facts.path))]


def gather_decay(workspace: Workspace, ran: datetime | None) -> DecayFacts:
    """Look when decay last ran."""
    days = workspace.config.decay.passive_duration_days
    learnings = (one for one in workspace.library.iterate() if one.area is Area.PROJECT)
    return DecayFacts(
        last=read_look(workspace.project.decay_file).at,
        days=days,
        ran=ran,
        has_learnings=next(learnings, None) is not None,
    )


def judge_decay(facts: DecayFacts) -> Sequence[Check]:
    """Return whether learnings that nobody uses are archived."""
    name = "decay"
    what = f"learnings that nobody uses are archived after {facts.days} days"
    if facts.last is None:
        return [ok(name, f"{what}; it has not run here yet, and does when a session starts")]
    detail = f"{what}; it last ran at {format_instant(facts.last)}"
    overdue = facts.ran is not None and facts.ran - facts.last > _OVERDUE
    if overdue and facts.has_learnings:
        mend = "Run it: grove maintain decay. grove.log may say why sessions did not"
        return [warning(name, f"{detail}, though sessions ran since", mend)]
    return [ok(name, detail)]

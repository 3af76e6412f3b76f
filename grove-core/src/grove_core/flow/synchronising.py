"""Bringing backends and their servers into line, where no hook waits for that."""

import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from grove_core import freshness
from grove_core.flow.background import MOST_SECONDS, run_in_background
from grove_core.model.memory import Synchronised
from grove_core.plugins.descriptors import Freshness
from grove_core.workspace import Workspace

# The rest is for what delivers to other backends, and for the index.
_SECONDS: Final = MOST_SECONDS * 3 / 4


def ages_of(workspace: Workspace) -> Sequence[str]:
    """Return how old what is known of servers is."""
    return freshness.sentences(servers_of(workspace), workspace.now.timestamp())


def servers_of(workspace: Workspace) -> list[tuple[str, str]]:
    """Tell of the project's servers what ``freshness.sentences`` has to know."""
    servers = with_server(workspace)
    return [(one.source if one.lists else "", os.fspath(one.mark)) for one in servers]


def synchronised_at(fresh: Freshness) -> datetime | None:
    """Tell when a backend and its server were in line last."""
    try:
        return datetime.fromtimestamp(int(fresh.mark.stat().st_mtime), UTC)
    except (OSError, ValueError, OverflowError):
        return None


def synchronise_in_background(workspace: Workspace) -> None:
    """Sync with the project's servers if the last sync is old or anything is queued."""
    now = time.time()
    due = any(
        one.waiting or freshness.is_stale(os.fspath(one.mark), now)
        for one in with_server(workspace)
    )
    if due and workspace.project_cache.is_dir():
        mark = workspace.project_cache / freshness.BEGUN
        words = ("maintain", "flush", "--in-background", "-q")
        run_in_background(workspace, words, mark, "ask servers")


def with_server(workspace: Workspace) -> Sequence[Freshness]:
    """Tell of the backends that have a server here how well they stand for it."""
    return [one for one in workspace.library.freshness() if one.source]


def synchronise(workspace: Workspace, *, asked: bool) -> Sequence[tuple[str, Synchronised]]:
    """Bring the project's backends and their servers into line."""
    results = workspace.library.synchronise(_SECONDS, asked=asked)
    if any(done.received for _, done in results):
        workspace.finder.refresh()
    for name, done in results:
        for receipt in done.delivered:
            where = f" ({receipt.location})" if receipt.location else ""
            workspace.diagnostics.log("info", f"{receipt.learning_id} has got to {name}{where}")
        if done.fault:
            workspace.diagnostics.log("warning", f"{name}: {done.fault}")
    return results

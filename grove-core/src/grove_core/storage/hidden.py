"""What decay hides on this machine: stale learnings that are not archived in their files yet."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from attrs import evolve, field

from grove_core.codec import from_json, plain
from grove_core.errors import CodecError, StorageError
from grove_core.model.value import Value, frozen
from grove_core.storage import files

HIDDEN_MAX: Final = 1000
"""The most learnings that are hidden: each search reads their ids."""


@frozen(kw_only=True, eq=False, repr=False)
class Hidden(Value):
    """Since when a learning is hidden, and what decay said of it."""

    since: datetime
    reason: str


@frozen(kw_only=True, eq=False, repr=False)
class DecayRun(Value):
    """When decay last ran, and what is hidden since, by id."""

    at: datetime | None = None
    hidden: Mapping[str, Hidden] = field(factory=dict)


def read_decay_run(path: Path) -> DecayRun:
    """Read the last run; what cannot be read hides nothing, and the next start runs again."""
    try:
        content = files.read_bytes(path)
        return from_json(DecayRun, content) if content else DecayRun()
    except (StorageError, CodecError):
        return DecayRun()


def write_decay_run(path: Path, now: datetime, due: Iterable[tuple[str, str]]) -> None:
    """Hide what is due by now, each with its reason; what was hidden before keeps its time."""
    before = read_decay_run(path).hidden
    hidden = {
        name: Hidden(since=before[name].since if name in before else now, reason=reason)
        for name, reason in due
    }
    _write(path, DecayRun(at=now, hidden=hidden))


def unhide(path: Path, ids: Collection[str]) -> None:
    """Hide learnings no longer: somebody has used, restored or praised them."""
    run = read_decay_run(path)
    if not run.hidden.keys().isdisjoint(ids):
        kept = {name: one for name, one in run.hidden.items() if name not in ids}
        _write(path, evolve(run, hidden=kept))


def _write(path: Path, run: DecayRun) -> None:
    files.replace_text(path, json.dumps(run, default=plain))

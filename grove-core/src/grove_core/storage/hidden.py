"""What decay hides on this machine: stale learnings that are not archived in their files yet."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from attrs import field

from grove_core.clock import format_instant, parse_instant
from grove_core.errors import StorageError
from grove_core.model.value import frozen
from grove_core.storage import files

HIDDEN_MAX: Final = 1000
"""The most learnings that are hidden: each search reads their ids."""


@frozen
class Hidden:
    """Since when a learning is hidden, and what decay said of it."""

    since: datetime
    reason: str


@frozen
class DecayRun:
    """When decay last ran, and what is hidden since, by id."""

    at: datetime | None = None
    hidden: Mapping[str, Hidden] = field(factory=dict)


def read_decay_run(path: Path) -> DecayRun:
    """Read the last run; what cannot be read hides nothing, and the next start runs again."""
    try:
        document = json.loads(files.read_bytes(path) or b"{}")
        return DecayRun(
            parse_instant(document["at"]),
            {
                name: Hidden(parse_instant(one["since"]), str(one["reason"]))
                for name, one in document["hidden"].items()
            },
        )
    except (StorageError, ValueError, KeyError, TypeError, AttributeError):
        return DecayRun()


def write_decay_run(path: Path, now: datetime, due: Iterable[tuple[str, str]]) -> None:
    """Hide what is due by now, each with its reason; what was hidden before keeps its time."""
    before = read_decay_run(path).hidden
    hidden = {
        name: Hidden(before[name].since if name in before else now, reason) for name, reason in due
    }
    _write(path, now, hidden)


def unhide(path: Path, ids: Collection[str]) -> None:
    """Hide learnings no longer: somebody has used, restored or praised them."""
    run = read_decay_run(path)
    if run.at is not None and not run.hidden.keys().isdisjoint(ids):
        _write(path, run.at, {name: one for name, one in run.hidden.items() if name not in ids})


def _write(path: Path, at: datetime, hidden: Mapping[str, Hidden]) -> None:
    document = {
        "at": format_instant(at),
        "hidden": {
            name: {"since": format_instant(one.since), "reason": one.reason}
            for name, one in hidden.items()
        },
    }
    files.replace_text(path, json.dumps(document))

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
class LatestLook:
    """When decay looked at all learnings, and what has been hidden since, by id."""

    at: datetime | None = None
    hidden: Mapping[str, Hidden] = field(factory=dict)


def read_look(path: Path) -> LatestLook:
    """Read what was found; what cannot be read hides nothing, and the next start looks again."""
    try:
        document = json.loads(files.read_bytes(path) or b"{}")
        return LatestLook(
            parse_instant(document["at"]),
            {
                name: Hidden(parse_instant(one["since"]), str(one["reason"]))
                for name, one in document["hidden"].items()
            },
        )
    except (StorageError, ValueError, KeyError, TypeError, AttributeError):
        return LatestLook()


def keep_look(path: Path, now: datetime, due: Iterable[tuple[str, str]]) -> None:
    """Keep what is due by now, each with its reason; what was hidden before keeps its time."""
    before = read_look(path).hidden
    _write(
        path,
        LatestLook(now, {name: Hidden(_since(before, name, now), reason) for name, reason in due}),
    )


def _since(before: Mapping[str, Hidden], name: str, now: datetime) -> datetime:
    return before[name].since if name in before else now


def bring_back(path: Path, ids: Collection[str]) -> None:
    """Hide learnings no longer: somebody has used, restored or praised them."""
    look = read_look(path)
    if look.at is not None and not look.hidden.keys().isdisjoint(ids):
        left = {name: one for name, one in look.hidden.items() if name not in ids}
        _write(path, LatestLook(look.at, left))


def _write(path: Path, look: LatestLook) -> None:
    assert look.at is not None, "somebody has looked"
    document = {
        "at": format_instant(look.at),
        "hidden": {
            name: {"since": format_instant(one.since), "reason": one.reason}
            for name, one in look.hidden.items()
        },
    }
    files.replace_text(path, json.dumps(document))

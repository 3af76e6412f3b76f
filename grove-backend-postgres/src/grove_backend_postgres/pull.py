"""What is new in a project since somebody last asked, a page at a time."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from attrs import frozen

from grove_backend_postgres import statements
from grove_backend_postgres.connection import Row, Transaction
from grove_backend_postgres.rows import read_all
from grove_core import Learning

PAGE: Final = 1000
"""How many learnings are asked for at once: some ten megabytes at most."""
_MARK: Final = re.compile(r"([0-9]{1,18}):([0-9a-f]*):([0-9]{1,18}):(.*)", re.DOTALL)


@frozen(kw_only=True)
class Pulled:
    """A page of what a database has told about a project."""

    learnings: tuple[Learning, ...]
    unreadable: tuple[str, ...]
    status_times: Mapping[str, datetime]
    mark: str
    whole: bool
    is_last: bool = True
    total: int | None = None


class _Place(NamedTuple):
    """How far somebody has come."""

    number: int = 0
    token: str = ""
    after: int = 0
    after_id: str = ""


def pull(sent: Transaction, mark: str, *, most: int = PAGE) -> Pulled:
    """Ask what is new."""
    place = _place_of(mark)
    if place is not None:
        rows = sent.send(statements.CHANGES, **place._asdict(), most=most)
        if rows and rows[0]["known"]:
            return _pulled(sent, rows, whole=False, most=most)
    rows = sent.send(statements.CHANGES, **_Place()._asdict(), most=most)
    return _pulled(sent, rows, whole=True, most=most)


def _place_of(mark: str) -> _Place | None:
    found = _MARK.fullmatch(mark)
    return found and _Place(int(found[1]), found[2], int(found[3]), found[4])


def _pulled(sent: Transaction, rows: Sequence[Row], *, whole: bool, most: int) -> Pulled:
    own = [row for row in rows if row["id"] is not None]
    is_last = len(own) < most
    learnings = read_all(own)
    mark = ""
    if rows:
        revision, token = rows[0]["revision"], rows[0]["token"]
        # After the last page, everything up to its revision was told.
        last = {"own_revision": revision + 1, "id": ""} if is_last else own[-1]
        mark = f"{revision}:{token}:{last['own_revision']}:{last['id']}"
    return Pulled(
        learnings=tuple(learnings.values()),
        unreadable=tuple(row["id"] for row in own if row["id"] not in learnings),
        status_times={
            row["id"]: row["status_at"].astimezone(UTC) for row in own if row["id"] in learnings
        },
        mark=mark,
        whole=whole,
        is_last=is_last,
        total=_total(sent, rows) if is_last else None,
    )


def _total(sent: Transaction, rows: Sequence[Row]) -> int | None:
    """Count the project's learnings; not where somebody has changed it after the page."""
    if not rows:
        return 0
    now = sent.send(statements.TOTAL)
    return int(now[0]["total"]) if now and now[0]["revision"] == rows[0]["revision"] else None

"""What is new in a project since somebody last asked."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from attrs import frozen

from grove_backend_postgres import statements
from grove_backend_postgres.connecting import Row, Transaction
from grove_backend_postgres.rows import read_all
from grove_core import Learning


@frozen(kw_only=True)
class Pulled:
    """What a database has told about a project.

    Attributes:
        learnings: Those that are new or changed since the mark that was asked with.
        unreadable: Ids of those that a newer grove has written and this one can not read.
        status_times: When the status of each of them was last set, by its id: the time when it was
            written, where it never was.
        mark: What to ask with next time.
        whole: Whether these are all learnings of the project, so that others are to be forgotten.
        total: How many the project has now. Where fewer or more are kept here afterwards, somebody
            has deleted rows by hand: ask again with an empty mark.
    """

    learnings: tuple[Learning, ...]
    unreadable: tuple[str, ...]
    status_times: Mapping[str, datetime]
    mark: str
    whole: bool
    total: int


def pull(sent: Transaction, mark: str) -> Pulled:
    """Ask what is new.

    Args:
        sent: Where statements are sent.
        mark: The ``mark`` of what was pulled last; empty for everything.

    Returns:
        What is new, or everything where the mark is not of this database.
    """
    number, _, token = mark.partition(":")
    since = int(number) if number.isdecimal() else 0
    rows = sent.send(statements.CHANGES, number=since, token=token)
    whole = not rows or not rows[0]["known"]
    if rows and whole and since:
        rows = sent.send(statements.CHANGES, number=0, token="")
    return _pulled(rows, whole=whole)


def _pulled(rows: Sequence[Row], *, whole: bool) -> Pulled:
    own = [row for row in rows if row["id"] is not None]
    learnings = read_all(own)
    return Pulled(
        learnings=tuple(learnings.values()),
        unreadable=tuple(row["id"] for row in own if row["id"] not in learnings),
        status_times={
            row["id"]: row["status_at"].astimezone(UTC) for row in own if row["id"] in learnings
        },
        mark=f"{rows[0]['revision']}:{rows[0]['token']}" if rows else "",
        whole=whole,
        total=int(rows[0]["total"]) if rows else 0,
    )

"""The migrations of a database, and what applies them."""

import random
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_backend_postgres import statements
from grove_backend_postgres.connection import Connection
from grove_backend_postgres.faults import DatabaseRefusedError


@frozen(kw_only=True)
class Migration:
    """One step from a version of the tables to the next."""

    number: int
    name: str
    statements: tuple[str, ...]
    optional: bool = False

    @property
    def title(self) -> str:
        """What people are told of it."""
        return f"{self.number} {self.name}"


# Only sent where there is none: the rights are looked at first, and then whether there is one.
CREATE_SCHEMA: Final = "CREATE SCHEMA IF NOT EXISTS {schema}"
CREATE_RECORD: Final = (
    "CREATE TABLE IF NOT EXISTS {schema}.migration (number integer PRIMARY KEY,"
    " name text NOT NULL, applied_at timestamptz NOT NULL)"
)
RECORD: Final = (
    "INSERT INTO {schema}.migration (number, name, applied_at)"
    " VALUES (%(number)s, %(name)s, %(applied_at)s) ON CONFLICT (number) DO NOTHING"
)


def _read(text: str) -> Iterator[Migration]:
    _, *parts = _HEADING.split(text)
    for number, name, optional, body in zip(*[iter(parts)] * 4, strict=True):
        sql = "\n".join(line for line in body.splitlines() if not line.startswith("--"))
        texts = (" ".join(one.split()) for one in sql.split(";"))
        yield Migration(
            number=int(number),
            name=name,
            statements=tuple(filter(None, texts)),
            optional=bool(optional),
        )


_HEADING: Final = re.compile(r"^-- (\d+): (.+?)( \(optional\))?$", re.MULTILINE)
MIGRATIONS: Final = tuple(_read(Path(__file__).with_suffix(".sql").read_text("utf-8")))
"""In their order. All but the first are what a server either has or has not."""

TEXT_SEARCH: Final = 2
POLICIES: Final = 3
VECTORS: Final = 4
NOTES: Final = 6
NEWEST: Final = max(one.number for one in MIGRATIONS)


def missing(applied: frozenset[int]) -> list[Migration]:
    """Name what has not been applied."""
    return [one for one in MIGRATIONS if one.number not in applied]


def is_current(applied: frozenset[int]) -> bool:
    """Return whether everything is there that grove cannot do without."""
    return all(one.optional for one in missing(applied))


# What is there already; another one makes it at this instant.
_DONE: Final = frozenset({"42P07", "42701", "42710", "42P06"})
_RACED: Final = frozenset({"23505", "XX000"})
_NO_TABLE: Final = frozenset({"42P01", "3F000"})


class Migrator:
    """What brings one database's tables up to date."""

    def __init__(self, connection: Connection, schema: str) -> None:
        """Prepare it."""
        self._connection = connection
        self._schema = schema

    def applied(self) -> frozenset[int]:
        """Tell the numbers of what has been applied."""
        try:
            rows = self._connection.run(lambda sent: sent.send(statements.APPLIED))
        except DatabaseRefusedError as error:
            if error.state in _NO_TABLE:
                return frozenset()
            raise
        found = frozenset(int(row["number"]) for row in rows)
        if max(found, default=0) > NEWEST:
            raise DatabaseRefusedError(
                f"the tables of {self._connection.where} are those of a newer grove (migration"
                f" {max(found)}); upgrade grove-backend-postgres on this machine"
            )
        return found

    def prepare(self) -> frozenset[int]:
        """Make the tables where there are none, or none that are new enough."""
        found = self.applied()
        if not is_current(found):
            self.migrate(dry_run=False)
            found = self.applied()
        return found

    def migrate(self, *, dry_run: bool) -> list[str]:
        """Apply what has not been applied."""
        waiting = missing(self.applied())
        if dry_run:
            return [f"{one.title}{' (optional)' if one.optional else ''}" for one in waiting]
        if waiting:
            self._make_record()
        refusals = [(one.title, self._refusal_of(one)) for one in waiting]
        return [f"{title}: not here: {said}" if said else title for title, said in refusals]

    def _make_record(self) -> None:
        there = self._connection.run(
            lambda sent: sent.send(statements.SCHEMA_THERE, name=self._schema)
        )
        if not there:
            self._change(CREATE_SCHEMA)
        self._change(CREATE_RECORD)

    def _refusal_of(self, one: Migration) -> str:
        """Apply one, and give the server's words where it can not have it."""
        try:
            for statement in one.statements:
                self._change(statement)
        except DatabaseRefusedError as error:
            if not one.optional:
                raise
            return error.said
        values = {"number": one.number, "name": one.name, "applied_at": datetime.now(UTC)}
        self._connection.run(lambda sent: sent.send(RECORD, **values))
        return ""

    def _change(self, statement: str) -> None:
        """Send what another process may send at the same time."""
        for is_last in (False, False, False, False, True):
            try:
                self._connection.run(lambda sent: sent.send(statement))
            except DatabaseRefusedError as error:
                if error.state in _DONE:
                    return
                if error.state not in _RACED or is_last:
                    raise
                time.sleep(random.uniform(0.02, 0.1))  # noqa: S311 - so that they do not race again
            else:
                return

"""Bringing the tables up to date, by several at once if need be."""

import random
import time
from datetime import UTC, datetime
from typing import Final

from grove_backend_postgres import statements
from grove_backend_postgres.connecting import Connection, Transaction
from grove_backend_postgres.faults import DatabaseRefusedError
from grove_backend_postgres.migrations import (
    CREATE_RECORD,
    CREATE_SCHEMA,
    RECORD,
    Migration,
    is_current,
    is_newer,
    missing,
)

# What is there already; another one makes it at this instant.
_DONE: Final = frozenset({"42P07", "42701", "42710", "42P06"})
_RACED: Final = frozenset({"23505", "XX000"})
_NO_TABLE: Final = frozenset({"42P01", "3F000"})
_ATTEMPTS: Final = 5


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
        if is_newer(found):
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
            return [f"{_title(one)}{' (optional)' if one.optional else ''}" for one in waiting]
        if waiting:
            self._make_record()
        refusals = {one.number: self._refusal_of(one) for one in waiting}
        return [
            f"{_title(one)}: not here: {said}" if (said := refusals[one.number]) else _title(one)
            for one in waiting
        ]

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
        def send(sent: Transaction) -> None:
            sent.send(statement)

        for attempt in range(_ATTEMPTS):
            try:
                self._connection.run(send)
            except DatabaseRefusedError as error:
                if error.state in _DONE:
                    return
                if error.state not in _RACED or attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(random.uniform(0.02, 0.1))  # noqa: S311 - so that they do not race again
            else:
                return


def _title(one: Migration) -> str:
    return f"{one.number} {one.name}"

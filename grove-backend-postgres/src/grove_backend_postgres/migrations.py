"""The migrations of a database, and what applies them."""

import random
import time
from datetime import UTC, datetime
from typing import Final

from attrs import frozen

from grove_backend_postgres import statements
from grove_backend_postgres.connecting import Connection
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


def _kept_apart(table: str) -> tuple[str, ...]:
    # The policy comes first: with none, a table that is kept apart shows no row at all.
    policy = (
        f"CREATE POLICY grove_project ON {{schema}}.{table}"
        " USING (project = current_setting('grove.project', true))"
    )
    return (
        policy,
        f"ALTER TABLE {{schema}}.{table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {{schema}}.{table} FORCE ROW LEVEL SECURITY",
    )


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

MIGRATIONS: Final = (
    Migration(
        number=1,
        name="tables",
        statements=(
            (
                "CREATE TABLE IF NOT EXISTS {schema}.project (project text PRIMARY KEY,"
                " revision bigint NOT NULL)"
            ),
            (
                "CREATE TABLE IF NOT EXISTS {schema}.revision (project text NOT NULL,"
                " number bigint NOT NULL, token text NOT NULL, PRIMARY KEY (project, number))"
            ),
            (
                "CREATE TABLE IF NOT EXISTS {schema}.learning (project text NOT NULL,"
                " id text NOT NULL, revision bigint NOT NULL, status text NOT NULL,"
                " status_at timestamptz, scope text NOT NULL, category text NOT NULL,"
                " created_at timestamptz NOT NULL, ticket text, tags text[] NOT NULL,"
                " file_names text[] NOT NULL,"
                " summary text NOT NULL, detail text NOT NULL, tag_words text NOT NULL,"
                " part_words text NOT NULL, document text NOT NULL, PRIMARY KEY (project, id))"
            ),
            (
                "CREATE INDEX IF NOT EXISTS learning_by_revision ON {schema}.learning"
                " (project, revision)"
            ),
        ),
    ),
    Migration(
        number=2,
        name="full-text search",
        statements=(
            (
                "ALTER TABLE {schema}.learning ADD COLUMN IF NOT EXISTS words tsvector"
                " GENERATED ALWAYS AS (setweight(to_tsvector('english', summary), 'A')"
                " || setweight(to_tsvector('simple', tag_words), 'B')"
                " || setweight(to_tsvector('english', detail), 'C')"
                " || setweight(to_tsvector('simple', part_words), 'D')) STORED"
            ),
            "CREATE INDEX IF NOT EXISTS learning_by_words ON {schema}.learning USING gin (words)",
        ),
        optional=True,
    ),
    Migration(
        number=3,
        name="row-level security",
        statements=tuple(
            one for table in ("project", "revision", "learning") for one in _kept_apart(table)
        ),
        optional=True,
    ),
    Migration(
        number=4,
        name="vectors",
        statements=(
            # Where it lies by default; what is not named here is looked for in the catalogue alone.
            "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public",
            (
                "CREATE TABLE IF NOT EXISTS {schema}.embedding (project text NOT NULL,"
                " id text NOT NULL, model text NOT NULL, size integer NOT NULL,"
                " vector {vectors}.vector NOT NULL, PRIMARY KEY (project, id, model))"
            ),
        ),
        optional=True,
    ),
    Migration(
        number=5,
        name="row-level security of vectors",
        statements=_kept_apart("embedding"),
        optional=True,
    ),
    Migration(
        number=6,
        name="notes on statuses",
        statements=("ALTER TABLE {schema}.learning ADD COLUMN IF NOT EXISTS status_note text",),
        optional=True,
    ),
)
"""In their order. All but the first are what a server either has or has not."""

TEXT_SEARCH: Final = 2
POLICIES: Final = 3
VECTORS: Final = 4
NOTES: Final = 6
WANTED: Final = max(one.number for one in MIGRATIONS if not one.optional)
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

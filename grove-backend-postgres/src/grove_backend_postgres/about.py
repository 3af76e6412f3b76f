"""What a database server is, and what of it grove can use."""

import re
from typing import Final

from attrs import frozen

from grove_backend_postgres import statements
from grove_backend_postgres.connection import Connection
from grove_backend_postgres.faults import DatabaseRefusedError, printable
from grove_backend_postgres.migrations import (
    POLICIES,
    TEXT_SEARCH,
    VECTORS,
    WANTED,
    is_current,
    missing,
)

_YUGABYTE: Final = re.compile(r"-YB-(\S+)")
_ENGINE: Final = re.compile(r"(\w+)\D*?v?(\d[\w.]*)")
_LONGEST_NAME: Final = 40


@frozen(kw_only=True)
class ServerAbout:
    """What a database server is and can do, as ``--json`` prints it."""

    engine: str
    version: str
    user: str
    tables: int
    tables_wanted: int
    pending_migrations: list[str]
    full_text_search: bool
    row_level_security: bool
    row_level_security_applies: bool
    vectors: bool
    learnings: int
    with_vectors: int

    def described(self) -> str:
        """Say in a line what it is and can do."""
        server = f"{self.engine} {self.version} as {self.user}"
        if not self.tables:
            return f"{server}: no tables yet, they are made when something is first delivered"
        abilities = {
            "full-text search": self.full_text_search,
            "row-level security": self.row_level_security_applies,
            "vectors": self.vectors,
        }
        having = ", ".join(name for name, holds in abilities.items() if holds)
        missing = ", ".join(name for name, holds in abilities.items() if not holds)
        without = f"; without {missing}" if missing else ""
        return f"{server}: {having or 'nothing besides'}{without}"


def describe(
    connection: Connection, applied: frozenset[int], *, schema: str, model: str
) -> ServerAbout:
    """Ask a server what it is."""
    server = connection.run(lambda sent: sent.send(statements.SERVER))[0]
    engine, version = engine_of(server["version"])
    has_policies, has_vectors = POLICIES in applied, VECTORS in applied
    learnings = with_vectors = 0
    if is_current(applied):
        learnings = _count(connection, statements.LEARNINGS_COUNT)
    if has_vectors:
        with_vectors = _count(connection, statements.EMBEDDINGS_COUNT, model=model)
    return ServerAbout(
        engine=engine,
        version=version,
        user=server["name"],
        tables=max((one for one in applied if one <= WANTED), default=0),
        tables_wanted=WANTED,
        pending_migrations=[one.name for one in missing(applied)],
        full_text_search=TEXT_SEARCH in applied,
        row_level_security=has_policies,
        row_level_security_applies=has_policies and _policies_apply(connection, schema),
        vectors=has_vectors,
        learnings=learnings,
        with_vectors=with_vectors,
    )


def engine_of(said: str) -> tuple[str, str]:
    """Read what a server says about itself."""
    if own := _YUGABYTE.search(said):
        return "YugabyteDB", own[1]
    words = _ENGINE.match(said)
    return (words[1], words[2]) if words else (printable(said[:_LONGEST_NAME]), "")


def _count(connection: Connection, statement: str, **values: object) -> int:
    rows = connection.run(lambda sent: sent.send(statement, **values))
    return int(rows[0]["number"])


def _policies_apply(connection: Connection, schema: str) -> bool:
    table = f"{schema}.learning"
    try:
        rows = connection.run(lambda sent: sent.send(statements.POLICIES_APPLY, table=table))
    except DatabaseRefusedError:
        # A database that can not be asked.
        return False
    return bool(rows[0]["active"])

"""What a database server is, and what of it grove can use."""

from attrs import frozen

from grove_backend_postgres import statements
from grove_backend_postgres.connection import Connection
from grove_backend_postgres.faults import DatabaseRefusedError, printable
from grove_backend_postgres.migrations import POLICIES, TEXT_SEARCH, VECTORS, is_current


@frozen(kw_only=True)
class ServerAbout:
    """What a database server is and can do."""

    server: str
    user: str
    has_tables: bool
    is_current: bool
    full_text_search: bool
    row_level_security: bool
    row_level_security_applies: bool
    vectors: bool
    learnings: int
    with_vectors: int

    def described(self) -> str:
        """Say in a line what it is and can do."""
        server = f"{self.server} as {self.user}"
        if not self.has_tables:
            return f"{server}: no tables yet, they are made when something is first delivered"
        abilities = {
            "full-text search": self.full_text_search,
            "row-level security": self.row_level_security_applies,
            "vectors": self.vectors,
        }
        having = ", ".join(name for name, holds in abilities.items() if holds)
        lacking = ", ".join(name for name, holds in abilities.items() if not holds)
        without = f"; without {lacking}" if lacking else ""
        held = f"learnings there: {self.learnings}, with a vector: {self.with_vectors}"
        return f"{server}: {having or 'nothing besides'}{without}; {held}"


def describe(
    connection: Connection, applied: frozenset[int], *, schema: str, model: str
) -> ServerAbout:
    """Ask a server what it is."""
    server = connection.run(lambda sent: sent.send(statements.SERVER))[0]
    has_policies, has_vectors = POLICIES in applied, VECTORS in applied
    learnings = with_vectors = 0
    if is_current(applied):
        learnings = _count(connection, statements.LEARNINGS_COUNT)
    if has_vectors:
        with_vectors = _count(connection, statements.EMBEDDINGS_COUNT, model=model)
    return ServerAbout(
        server=printable(" ".join(server["version"].split()[:2])),
        user=server["name"],
        has_tables=bool(applied),
        is_current=is_current(applied),
        full_text_search=TEXT_SEARCH in applied,
        row_level_security=has_policies,
        row_level_security_applies=has_policies and _policies_apply(connection, schema),
        vectors=has_vectors,
        learnings=learnings,
        with_vectors=with_vectors,
    )


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

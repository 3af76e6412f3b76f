"""A team's learnings in a PostgreSQL database."""

import math
import secrets
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from typing import Any, Self

from grove_backend_postgres import statements
from grove_backend_postgres.about import ServerAbout, describe
from grove_backend_postgres.address import Address
from grove_backend_postgres.connection import Connection, Row, Transaction
from grove_backend_postgres.migrations import NOTES, TEXT_SEARCH, VECTORS, Migrator, is_current
from grove_backend_postgres.outbox import StatusChange, counts
from grove_backend_postgres.pull import PAGE, Pulled, pull
from grove_backend_postgres.rows import clean, read_all, row_of
from grove_backend_postgres.search import ALL_ROWS, admitted_by, asked_by, hits_of, most_rows
from grove_core import (
    BackendError,
    ConfigError,
    Filters,
    Hit,
    Learning,
    LearningStatus,
    Query,
    rule_hits,
)

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Gives a vector for each text, all of the same length."""


class Store:
    """One project's learnings in one database, over one connection that is opened when needed."""

    def __init__(
        self,
        address: Address,
        project: str,
        *,
        deadline: float,
        schema: str = "grove",
        embed: Embed | None = None,
        model: str = "",
    ) -> None:
        """Prepare it; nothing is connected yet."""
        self._connection = Connection(address, project, schema, deadline)
        self._migrator = Migrator(self._connection, schema)
        self._schema = schema
        self._embed = embed
        self._model = model
        self._applied: frozenset[int] | None = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection, where there is one."""
        self._connection.close()

    def add(self, learnings: Collection[Learning]) -> None:
        """Store learnings, all or none; those that are there stay as they are."""
        self._prepare()
        rows = {one.id: row_of(one) for one in learnings}

        def add(sent: Transaction) -> None:
            there = _ids(sent.send(statements.LEARNINGS_THERE, ids=list(rows)))
            new = [row for id_, row in rows.items() if id_ not in there]
            if new:
                revision = _next_revision(sent)
                values = [{**row, "revision": revision} for row in new]
                sent.send_all(statements.LEARNING_ADD, values)

        self._connection.run(add)

    def set_status(self, learning_id: str, change: StatusChange) -> bool:
        """Change a learning's status, unless a change that counts more has come before."""
        self._prepare()
        has_notes = NOTES in self._known()

        def set_status(sent: Transaction) -> bool:
            found = sent.send(statements.LEARNING_STATUS, id=learning_id)
            if not found or not _counts(change, found[0]):
                return False
            if (found[0]["status"], found[0]["status_at"]) == (change.status.value, change.at):
                return True
            # From here on no one else changes this project: what was found may be out of date.
            revision = _next_revision(sent)
            found = sent.send(statements.LEARNING_STATUS, id=learning_id)
            if not found or not _counts(change, found[0]):
                return False
            values = {"status": change.status.value, "at": change.at, "revision": revision}
            sent.send(statements.LEARNING_SET_STATUS, id=learning_id, **values)
            if has_notes:
                note = clean(change.note) or None
                sent.send(statements.STATUS_NOTE, id=learning_id, note=note)
            return True

        return self._connection.run(set_status)

    def changes_since(self, mark: str, *, most: int = PAGE) -> Pulled:
        """Return what is new in the project, a page of it; the tables are made where they must."""
        self._prepare()
        return self._connection.run(lambda sent: pull(sent, mark, most=most))

    def ids(self) -> set[str]:
        """Name all learnings of the project."""
        return _ids(self._connection.run(lambda sent: sent.send(statements.IDS)))

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        """Search the project by full text, tags, files, ticket and, if available, vectors."""
        if not self._has_tables():
            return []
        admitted, most = admitted_by(filters), most_rows(query, filters)
        if query.is_empty or TEXT_SEARCH not in self._known():
            most = most if query.is_empty else ALL_ROWS
            listed = self._connection.run(
                lambda sent: sent.send(statements.LISTED, **admitted, most=most)
            )
            return rule_hits(query, read_all(listed).values(), filters)
        asked = admitted | asked_by(query) | {"most": most} | self._vector_of(query)

        def search(sent: Transaction) -> tuple[list[Row], list[Row]]:
            found = sent.send(statements.FOUND, **asked)
            return found, sent.send(statements.ALIKE, **asked) if "vector" in asked else []

        return hits_of(query, *self._connection.run(search), filters)

    def embed_missing(self, most: int = 64) -> int:
        """Make vectors of learnings that have none of the model; nothing without ``embed``."""
        if self._embed is None or not self._has_tables() or VECTORS not in self._known():
            return 0
        lacking = self._connection.run(
            lambda sent: sent.send(statements.EMBEDDING_MISSING, model=self._model, most=most)
        )
        if not lacking:
            return 0
        texts = [f"{row['summary']}\n{row['detail']}" for row in lacking]
        vectors = vectors_of(self._embed, texts)
        rows = [
            {"id": row["id"], "model": self._model, "size": vector.count(",") + 1, "vector": vector}
            for row, vector in zip(lacking, vectors, strict=True)
        ]
        made = self._connection.run(lambda sent: sent.send_all(statements.EMBEDDING_ADD, rows))
        return len(made)

    def migrate(self, *, dry_run: bool = False) -> Sequence[str]:
        """Make the tables, or bring them up to date; safe when several do so at once."""
        lines = self._migrator.migrate(dry_run=dry_run)
        self._applied = None
        return lines

    def about(self) -> ServerAbout:
        """Return what the server is and can do; makes nothing."""
        return describe(self._connection, self._known(), schema=self._schema, model=self._model)

    def _prepare(self) -> None:
        """Make the tables, where they have not been seen yet."""
        if self._applied is None or not is_current(self._applied):
            self._applied = self._migrator.prepare()

    def _known(self) -> frozenset[int]:
        if self._applied is None:
            self._applied = self._migrator.applied()
        return self._applied

    def _has_tables(self) -> bool:
        return is_current(self._known())

    def _vector_of(self, query: Query) -> dict[str, object]:
        """Return the parameters of a search by meaning; none where there is none, or it fails."""
        texts = (query.text, query.ticket_title, query.ticket_description, query.error_signature)
        text = "\n".join(filter(None, texts))
        if self._embed is None or VECTORS not in self._known() or not text:
            return {}
        try:
            (vector,) = vectors_of(self._embed, [text])
        except BackendError:
            # Words are searched all the same; `grove backends` tries the function.
            return {}
        return {"vector": vector, "size": vector.count(",") + 1, "model": self._model}


def _ids(rows: Sequence[Row]) -> set[str]:
    return {str(row["id"]) for row in rows}


def _next_revision(sent: Transaction) -> int:
    """Begin a revision of the project; another that wants to waits until this one is committed."""
    rows = sent.send(statements.REVISION_NEXT)
    if not rows:
        sent.send(statements.PROJECT_ADD)
        rows = sent.send(statements.REVISION_NEXT)
    revision = int(rows[0]["revision"])
    sent.send(statements.REVISION_ADD, revision=revision, token=secrets.token_hex(8))
    return revision


def _counts(change: StatusChange, row: Row) -> bool:
    return counts(change, LearningStatus(row["status"]), row["status_at"])


def load_embedding(name: str) -> Embed:
    """Import the function that makes vectors."""
    module, _, attribute = name.partition(":")
    try:
        found: Any = getattr(import_module(module), attribute)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"`backends.postgres.embedding` names {name!r}, which can not be imported ({said});"
            " write `module:function` of something that is installed beside grove"
        ) from error
    if not callable(found):
        raise ConfigError(f"`backends.postgres.embedding` names {name!r}, which is no function")
    embed: Embed = found
    return embed


def vectors_of(embed: Embed, texts: Sequence[str]) -> list[str]:
    """Make vectors, and write them as the database reads them."""
    try:
        vectors = [[float(number) for number in vector] for vector in embed(texts)]
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise BackendError(f"the function that makes vectors has failed: {said}") from error
    sizes = {len(vector) for vector in vectors}
    sound = all(math.isfinite(number) for vector in vectors for number in vector)
    if len(vectors) != len(texts) or len(sizes - {0}) != 1 or 0 in sizes or not sound:
        raise BackendError(
            "the function that makes vectors must give one for each text, all of the same length"
            " and of finite numbers"
        )
    return ["[" + ",".join(map(repr, vector)) + "]" for vector in vectors]

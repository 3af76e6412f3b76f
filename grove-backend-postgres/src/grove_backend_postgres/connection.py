"""One connection to a database, its transactions, and what is done when it breaks."""

import logging
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeVar

from grove_backend_postgres import statements
from grove_backend_postgres.address import Address
from grove_backend_postgres.faults import Fault, fault_of, refused, unreachable

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import DictRow
    from psycopg.sql import Composed

T = TypeVar("T")
Row = dict[str, Any]

_CONNECTIONS: Final = 9
"""How often one that breaks is made again, with pauses of some eight seconds in all between."""
_FIRST_PAUSE_SECONDS: Final = 0.05
_LONGEST_PAUSE_SECONDS: Final = 2.0
_GRACE_SECONDS: Final = 0.5
_IDLE_MILLISECONDS: Final = 30_000
"""After which a server ends the transaction of a client that has fallen silent, so that no one
waits for a laptop that was closed in the middle of one."""


class Transaction:
    """What is sent within one transaction."""

    def __init__(self, cursor: "psycopg.Cursor[DictRow]", project: str, schema: str) -> None:
        """Begin it."""
        self._cursor = cursor
        self._project = project
        self._schema = schema
        self._vectors = ""

    def send(self, statement: str, **values: object) -> list[Row]:
        """Send a statement."""
        self._cursor.execute(self._text(statement), {"project": self._project, **values})
        return self._cursor.fetchall() if self._cursor.description else []

    def send_all(self, statement: str, many: Sequence[Mapping[str, object]]) -> list[Row]:
        """Send a statement once for each of many sets of parameters."""
        values = [{"project": self._project, **one} for one in many]
        self._cursor.executemany(self._text(statement), values, returning=True)
        return [row for each in self._cursor.results() for row in each.fetchall()] if many else []

    def _text(self, statement: str) -> "Composed":
        from psycopg.sql import SQL, Identifier

        names = {"schema": Identifier(self._schema)}
        if "{vectors}" in statement:
            names["vectors"] = Identifier(self._where_vectors_are())
        return SQL(statement).format(**names)

    def _where_vectors_are(self) -> str:
        if not self._vectors:
            found = self.send(statements.VECTORS_WHERE)
            # A database that has vectors without an extension has them among its own types.
            self._vectors = str(found[0]["name"]) if found else "pg_catalog"
        return self._vectors


class Connection:
    """One project's connection: opened when it is needed, and again when it breaks."""

    def __init__(self, address: Address, project: str, schema: str, deadline: float) -> None:
        """Prepare it; nothing is connected yet."""
        self.where = address.label
        self._address = address
        self._project = project
        self._schema = schema
        self._deadline = deadline
        self._connection: psycopg.Connection[DictRow] | None = None
        self._timer: threading.Timer | None = None
        self._was_open = False

    def run(self, work: Callable[[Transaction], T]) -> T:
        """Do something in one transaction, from its beginning again where that may help."""
        import psycopg

        for attempt in count():
            try:
                return self._once(work)
            except psycopg.Error as error:
                if not self._may_try_again(error, attempt) or not self._pause(attempt):
                    late = time.monotonic() >= self._deadline
                    raise unreachable(self.where, None if late else error) from error
        raise AssertionError  # it counts for ever

    def close(self) -> None:
        """Close the connection, where there is one."""
        if self._timer is not None:
            self._timer.cancel()
        if self._connection is not None:
            self._connection.close()
        self._timer = self._connection = None

    def _once(self, work: Callable[[Transaction], T]) -> T:
        connection = self._open()
        try:
            with connection.transaction(), connection.cursor() as cursor:
                patience = str(int(self._remaining() * 1000) + 1)
                limits = {"patience": patience, "idle": str(_IDLE_MILLISECONDS)}
                cursor.execute(statements.BEGIN, {"project": self._project, **limits})
                return work(Transaction(cursor, self._project, self._schema))
        finally:
            if connection.closed:
                self.close()

    def _open(self) -> "psycopg.Connection[DictRow]":
        import psycopg
        from psycopg.conninfo import make_conninfo
        from psycopg.rows import dict_row

        remaining = self._remaining()
        if self._connection is None:
            _hush()
            self._connection = psycopg.connect(
                # Text, so that what stands in an address is libpq's and no parameter of psycopg's.
                make_conninfo(**self._address.options(remaining)),
                # A pooler between here and the server may give each transaction another session.
                prepare_threshold=None,
                row_factory=dict_row,
            )
            self._was_open = True
            # The server is to give up first, and to say so.
            patience = self._remaining() + _GRACE_SECONDS
            self._timer = threading.Timer(patience, _cut, [self._connection])
            self._timer.daemon = True
            self._timer.start()
        return self._connection

    def _may_try_again(self, error: "psycopg.Error", attempt: int) -> bool:
        """Return whether the same may succeed now; raise what says that it never will."""
        fault = fault_of(error, lost=self._connection is None)
        if fault is Fault.REFUSED:
            raise refused(self.where, error) from error
        if fault is Fault.LOST:
            self.close()
        # What can not be connected to in the first place is not waited for.
        lost = fault is Fault.LOST and self._was_open and attempt + 1 < _CONNECTIONS
        return lost or fault is Fault.CONFLICT

    def _pause(self, attempt: int) -> bool:
        """Wait a little, and tell whether there is any use in trying again."""
        longest = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2 ** min(attempt, 10))
        seconds = longest * random.uniform(0.5, 1)  # noqa: S311 - so that not all come back at once
        if time.monotonic() + seconds >= self._deadline:
            return False
        time.sleep(seconds)
        return True

    def _remaining(self) -> float:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise unreachable(self.where)
        return remaining


def _hush() -> None:
    """Keep psycopg from printing what becomes of a connection that breaks: errors are told here."""
    logger = logging.getLogger("psycopg")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def _cut(connection: "psycopg.Connection[DictRow]") -> None:
    """End a connection whose other end says nothing: what waits for it fails at once."""
    with suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as own:
        own.shutdown(socket.SHUT_RDWR)

"""SQLite files that hold what can be made anew from something else, and may be deleted any time."""

import os
import sqlite3
from contextlib import contextmanager, suppress

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    T = TypeVar("T")

IN_MEMORY = ":memory:"
BUSY_SECONDS = 0.3
_PRIMARY_CODE = 0xFF  # of an error; the rest of its bits go into detail
# Such as a question from another thread.
_MISUSES = (sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)


class DerivedDatabase:
    """One such file."""

    def __init__(
        self, path: str, *, schema: str, version: int, temporary: str = "", patience: float
    ) -> None:
        """Open nothing yet."""
        self.path = path
        self.patience = patience
        self._schema = schema
        self._version = version
        self._temporary = temporary
        self._connection: sqlite3.Connection | None = None
        self._is_renewed = False

    def open(self) -> sqlite3.Connection:
        """Open the file, once; what cannot be used is made anew."""
        if self._connection is None:
            try:
                self._connection = self._connect()
            except sqlite3.Error as error:
                if is_busy(error):
                    self._keep_nothing()  # another process is making it
                else:
                    self._begin_anew()
        assert self._connection is not None, "a connection in memory can always be had"
        return self._connection

    def mend(self, error: sqlite3.Error) -> None:
        """Make a damaged file anew, once; one that another process is busy with is let alone."""
        if self.path == IN_MEMORY or isinstance(error, _MISUSES):
            raise error
        if is_busy(error) or self._is_renewed:
            self._keep_nothing()
        else:
            self._is_renewed = True
            self._begin_anew()

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _begin_anew(self) -> None:
        """Remove what cannot be used; where nothing can be kept, go on in memory."""
        self.close()
        try:
            if self.path != IN_MEMORY:
                for suffix in ("", "-wal", "-shm"):
                    _remove(self.path + suffix)
            self._connection = self._connect()
        except (sqlite3.Error, OSError):
            self._keep_nothing()

    def _keep_nothing(self) -> None:
        self.close()
        self.path = IN_MEMORY
        self._connection = self._connect()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=self.patience, isolation_level=None)
        try:
            # Readers go on while another process writes, and a commit waits for no disk.
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA cache_size = -65536")
            if self._temporary:
                connection.executescript(self._temporary)
            self._lay_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _lay_tables(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == self._version:
            return
        if version:
            raise sqlite3.DatabaseError(f"the file is of version {version}")
        connection.execute("BEGIN IMMEDIATE")
        if not connection.execute("PRAGMA user_version").fetchone()[0]:
            for statement in self._schema.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self._version}")
        connection.execute("COMMIT")


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> "Iterator[None]":
    """Do several things at once or not at all."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another process has the file, and nothing is wrong with it."""
    code: int = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        try:
            os.unlink(path)
        except (IsADirectoryError, PermissionError):
            from shutil import rmtree

            if not os.path.isdir(path):
                raise
            rmtree(path)


def _write_ahead(connection: sqlite3.Connection) -> None:
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        # It waits for nobody. Where another process is at it, this one need not.
        if not is_busy(error):
            raise

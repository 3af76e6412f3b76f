"""The SQLite file of a replica: opened for each call, and set aside where it is damaged."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, TypeVar

from grove_core import BackendError, StorageError, locked

T = TypeVar("T")

_VERSION: Final = 1
_BUSY_SECONDS: Final = 5.0
_PRIMARY_CODE: Final = 0xFF  # of an error; the rest of its bits go into detail
# What another file would not help against: others are at it, the disk is full, rights are missing.
_NOT_ITS_FAULT: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
    }
)
_SCHEMA: Final = (
    "CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # number: the change of this file that touched it last; delivered: whether the database has it;
    # own: whether it was written on this machine.
    (
        "CREATE TABLE learning (id TEXT PRIMARY KEY, number INTEGER NOT NULL, status TEXT NOT NULL,"
        " status_at TEXT NOT NULL, delivered INTEGER NOT NULL, own INTEGER NOT NULL,"
        " document TEXT NOT NULL) WITHOUT ROWID"
    ),
    "CREATE INDEX learning_by_number ON learning (number)",
    # What a newer grove has written and this one cannot read.
    "CREATE TABLE unreadable (id TEXT PRIMARY KEY) WITHOUT ROWID",
    # Tells this file from any other that had the same place.
    "INSERT INTO state VALUES ('generation', lower(hex(randomblob(8))))",
    f"PRAGMA user_version = {_VERSION}",
)


class ReplicaFile:
    """One such file, which several processes use at once."""

    def __init__(self, path: Path, mark: Path) -> None:
        self.path = path
        self._mark = mark

    @property
    def aside(self) -> Path:
        """Where a damaged file is put; the latest one stays there."""
        return self.path.with_name(f"{self.path.name}.damaged")

    def reading(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do something that changes nothing, on what was there at one moment."""
        try:
            return self._used("BEGIN", work)
        except (BackendError, StorageError):
            if not self._is_missing():
                raise
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as nothing:
            _lay_tables(nothing)
            return work(nothing)

    def writing(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do several things at once or not at all; nobody else writes meanwhile."""
        return self._used("BEGIN IMMEDIATE", work)

    def _used(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        for is_last in (False, True):
            inode = self._inode()
            try:
                with self._open() as connection, _transaction(connection, begin):
                    return work(connection)
            except OSError as error:
                raise BackendError(f"cannot use {self.path}: {error.strerror or error}") from error
            except sqlite3.Error as error:
                code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
                if is_last or code in _NOT_ITS_FAULT:
                    raise BackendError(f"cannot use {self.path}: {error}") from error
                self._set_aside(inode)
        raise AssertionError  # the second time something is raised, or returned

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        with closing(connection):
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != _VERSION:
                _lay_tables(connection)
                self._mark.unlink(missing_ok=True)
            yield connection

    def _is_missing(self) -> bool:
        try:
            self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            pass
        return False

    def _inode(self) -> int:
        try:
            return self.path.stat().st_ino
        except OSError:
            return 0

    def _set_aside(self, inode: int) -> None:
        """Put the damaged file away, unless another process has done so."""
        with locked(self.path.with_name(f"{self.path.name}.lock")):
            if inode and self._inode() == inode:
                try:
                    self.path.replace(self.aside)
                    # It belongs to the damaged file, and SQLite would apply it to the new one.
                    self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)
                except OSError as error:
                    raise BackendError(
                        f"{self.path} is damaged and cannot be put away: {error.strerror or error};"
                        " remove it, nothing is lost with it"
                    ) from error


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def _lay_tables(connection: sqlite3.Connection) -> None:
    """Lay the tables in an empty file; raise where it is another version's."""
    with _transaction(connection, "BEGIN IMMEDIATE"):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == _VERSION:
            return  # another process has been faster
        if version:
            raise sqlite3.DatabaseError(f"the file is of version {version}")
        for statement in _SCHEMA:
            connection.execute(statement)

"""The cache of a project: one SQLite file with what can be rebuilt, safe to delete at any time."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from grove_core.errors import StorageError
from grove_core.storage import files

_T = TypeVar("_T")

FILE_NAME: Final = "cache.sqlite"
SCHEMA_VERSION: Final = 7
IN_MEMORY: Final = ":memory:"
MOST_NAMED: Final = 500
"""What one question may name; how many SQLite allows is a matter of how it was built."""
SECONDS_IN_HOOK: Final = 0.3
"""How long a hook waits for another process that writes."""

_SECONDS: Final = 3.0
# Of the file in memory; the session's server keeps it between hooks.
_KILOBYTES: Final = 32_768
_KILOBYTES_IN_HOOK: Final = 8_192
_SCHEMA: Final = Path(__file__).with_name("cache.sql")
_PRIMARY_CODE: Final = 0xFF  # of an error; the rest of its bits go into detail
# Such as a question from another thread.
_MISUSES: Final = (sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)


class Cache:
    """The file, or a database in memory where no file can be had."""

    def __init__(
        self, path: str = IN_MEMORY, *, seconds: float = _SECONDS, kilobytes: int = _KILOBYTES
    ) -> None:
        self.path = path
        self.generation = 0
        """Another number after each time that everything was lost."""
        self._seconds, self._kilobytes = seconds, kilobytes
        self._connection: sqlite3.Connection | None = None
        self._file: os.stat_result | None = None
        self._was_rebuilt = False

    def open(self) -> sqlite3.Connection:
        """Open the file, once; replace one that cannot be used."""
        if self._connection is None:
            try:
                return self._connect()
            except sqlite3.Error as error:
                self.recover(error)
        assert self._connection is not None, "in memory there is always one"
        return self._connection

    def recover(self, error: sqlite3.Error) -> None:
        """Rebuild a damaged file, once; do without one that another process is busy with."""
        if self.path == IN_MEMORY or isinstance(error, _MISUSES):
            raise error
        self.close()
        if not is_busy(error) and not self._was_rebuilt:
            self._was_rebuilt = True
            with suppress(sqlite3.Error, OSError):
                _remove(self.path)
                self._connect()
                return
        self.path = IN_MEMORY
        self._connect()

    def is_current(self) -> bool:
        """Return whether the file is open, and still the one of its name."""
        if self._file is None:
            return False
        with suppress(OSError):
            return os.path.samestat(self._file, os.stat(self.path))
        return False

    def remove(self) -> None:
        """Delete the file, to begin from nothing."""
        self.close()
        if self.path != IN_MEMORY:
            _remove(self.path)

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = self._file = None

    def _connect(self) -> sqlite3.Connection:
        # One without a name goes on in a file of nobody else's where it would take much memory.
        name = "" if self.path == IN_MEMORY else self.path
        connection = sqlite3.connect(name, timeout=self._seconds, isolation_level=None)
        try:
            try:
                # Readers go on while another process writes, and a commit waits for no disk.
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                # It does not wait. Where another process is at it, this one need not.
                if not is_busy(error):
                    raise
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{self._kilobytes}")
            if name:
                connection.execute("PRAGMA temp_store = MEMORY")
            self._create_tables(connection)
            self._file = os.stat(self.path) if name else None
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        self.generation += 1
        return connection

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == SCHEMA_VERSION:
            return
        if version:
            raise sqlite3.DatabaseError(f"the file is of version {version}")
        with transaction(connection):
            if not connection.execute("PRAGMA user_version").fetchone()[0]:
                for statement in _SCHEMA.read_text("utf-8").split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


class CachedPart:
    """A part of the cache that fills itself when first asked, and again after a loss."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self._filled = 0

    def ask(self, question: Callable[[sqlite3.Connection], _T]) -> _T:
        """Ask the database; where it is damaged, rebuild it and ask again."""
        while True:
            try:
                self.cache.open()
                if self._filled != self.cache.generation:
                    self._filled = self.cache.generation
                    self.fill()
                return question(self.cache.open())
            except sqlite3.Error as error:
                self.cache.recover(error)

    def fill(self) -> None:
        """Bring the part up to date."""

    def is_fresh(self, name: str, fingerprint: str) -> bool:
        """Return whether what is kept under a name was made from what looks like this."""
        return bool(fingerprint) and self.fingerprint(name) == fingerprint

    def fingerprint(self, name: str) -> str:
        """Return the fingerprint of what is kept under a name; empty for nothing."""
        find = "SELECT fingerprint FROM meta WHERE name = ?"
        row = self.ask(lambda connection: connection.execute(find, (name,)).fetchone())
        return row[0] if row else ""

    def set_fingerprint(self, name: str, fingerprint: str) -> None:
        """Note what was put in; where that cannot be written now, it is put in once more."""
        put = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
        with suppress(sqlite3.OperationalError):
            self.cache.open().execute(put, (name, fingerprint))


def cache_in(directory: Path, home: Path, *, in_hook: bool) -> Cache:
    """Open the cache in a directory; a read creates no home where there is none."""
    path = IN_MEMORY
    if home.is_dir():
        with suppress(StorageError):
            files.make_directory(directory)
            path = os.fspath(directory / FILE_NAME)
    if in_hook:
        return Cache(path, seconds=SECONDS_IN_HOOK, kilobytes=_KILOBYTES_IN_HOOK)
    return Cache(path)


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Do several things at once or not at all."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def portions(values: Sequence[Any], size: int = MOST_NAMED) -> Iterator[Sequence[Any]]:
    """Divide what is asked for among questions."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def places(values: Sequence[object]) -> str:
    """Write the placeholders of some values: the text of a question is compiled once."""
    return ",".join("?" * len(values))


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another process has the file, and nothing is wrong with it."""
    code: int = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _remove(path: str) -> None:
    for name in (path, f"{path}-wal", f"{path}-shm"):
        if os.path.isdir(name):
            from shutil import rmtree  # hardly ever needed

            rmtree(name)
        with suppress(FileNotFoundError):
            os.unlink(name)

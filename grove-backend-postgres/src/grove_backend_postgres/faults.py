"""What goes wrong between grove and a database, in words that say what to do."""

import re
from enum import Enum
from typing import TYPE_CHECKING, Final

from grove_core import BackendError

if TYPE_CHECKING:
    import psycopg


class DatabaseUnreachableError(BackendError):
    """The database does not answer, or not in time: the same may succeed later."""


class DatabaseRefusedError(BackendError):
    """The database answers and says no: somebody has to change something, as the message says."""

    def __init__(self, message: str, *, state: str = "", said: str = "") -> None:
        """Make it."""
        super().__init__(message)
        self.state = state
        self.said = said


class Fault(Enum):
    """What to do about an error of a database."""

    CONFLICT = "conflict"
    """Others have changed the same: begin the transaction again."""
    LOST = "lost"
    """The connection is gone, or the server takes no changes just now: connect again."""
    TIME = "time"
    """It took too long."""
    REFUSED = "refused"
    """The same would fail again."""


_CONFLICTS: Final = frozenset({"40001", "40P01"})
# Shutting down, crashed, starting up, a standby that was asked to write; too many connections.
_LOST: Final = frozenset({"57P01", "57P02", "57P03", "57P05", "25006", "25P03", "53300"})
_TIMES: Final = frozenset({"57014", "55P03"})
_FIXES: Final = {
    "28P01": "look at the password in the address, PGPASSWORD or ~/.pgpass",
    "28000": "look at the user in the address, and at the server's pg_hba.conf",
    "3D000": "create the database, or fix its name in the address",
    "42501": "grant the role what it lacks, or have the owner run"
    " `grove backends postgres migrate`",
    "42P01": "run `grove backends postgres migrate` as a role that may create tables",
    "42703": "run `grove backends postgres migrate` as a role that may change tables",
    "3F000": "run `grove backends postgres migrate` as a role that may create a schema",
}
# A server that refuses a connection says so in words only.
_SAID: Final = (
    (re.compile(r"password authentication failed|no password supplied"), "28P01"),
    (re.compile(r"pg_hba\.conf|authentication failed|role .* does not exist"), "28000"),
    (re.compile(r"database .* does not exist"), "3D000"),
)
_LONGEST: Final = 300


def fault_of(error: "psycopg.Error", *, lost: bool) -> Fault:
    """Return what to do about an error."""
    import psycopg

    state = _state_of(error)
    if state in _CONFLICTS:
        return Fault.CONFLICT
    if state in _TIMES:
        return Fault.TIME
    # An address that libpq cannot read is none that answers later.
    unread = isinstance(error, psycopg.ProgrammingError)
    if state in _LOST or state.startswith("08") or (lost and not state and not unread):
        return Fault.LOST
    return Fault.REFUSED


def unreachable(where: str, error: Exception | None = None) -> DatabaseUnreachableError:
    """Put into words that a database does not answer."""
    said = "it did not answer in time" if error is None else _words_of(error)
    return DatabaseUnreachableError(
        f"cannot reach the database {where}: {said}; what waits for it is delivered later"
    )


def refused(where: str, error: "psycopg.Error") -> DatabaseRefusedError:
    """Put into words that a database says no."""
    state, said = _state_of(error), _words_of(error)
    message = "; ".join(filter(None, [f"the database {where} refuses: {said}", _FIXES.get(state)]))
    return DatabaseRefusedError(message, state=state, said=said)


def _state_of(error: "psycopg.Error") -> str:
    if error.sqlstate:
        return error.sqlstate
    said = str(error)
    return next((state for pattern, state in _SAID if pattern.search(said)), "")


def _words_of(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return printable((lines[0] if lines else type(error).__name__)[:_LONGEST])


def printable(said: str) -> str:
    """Take out of a server's words what would steer a terminal."""
    return "".join(each if each.isprintable() else "\ufffd" for each in said)

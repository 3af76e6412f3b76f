"""A session's state and log for hooks' short ways: plain JSON values, under the same locks."""

import json
import os
import time

from grove_core import __version__, files
from grove_core.errors import StorageError
from grove_core.surroundings import stamp

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from collections.abc import Callable

    from grove_core.diagnostics import Diagnostics
    from grove_core.settled import Document

SESSION_FILE_MODE = 0o600
_LOG_SECONDS = 0.3


def read(path: str) -> "Document":
    """Read a session.

    Args:
        path: Its file.

    Returns:
        What is stored.

    Raises:
        ValueError: It is no session, or another one's.
        StorageError: It cannot be read.
    """
    document: Document = json.loads(files.read_bytes(path) or b"")
    if f"{document['id']}.json" != os.path.basename(path):
        raise ValueError("another session's state")
    return document


def write(path: str, session: "Document") -> None:
    """Write a session, as ``codec`` does.

    Args:
        path: Its file, which the caller has locked.
        session: The session.

    Raises:
        StorageError: It cannot be written.
    """
    files.replace(path, json.dumps(session, separators=(",", ":")).encode("ascii"))


def looks_the_same(session: "Document", home: str) -> bool:
    """Tell whether nothing has changed that a session's judgement rests on.

    Args:
        session: The session.
        home: grove's own directory.

    Returns:
        Whether what the latest full look at the project found still holds.
    """
    known = session["surroundings"]
    return known is not None and known["stamp"] == stamp(
        session["project_root"], home, known["marker"]
    )


def event_line(name: str, now: str, fields: "Document") -> str:
    """Make a line of the event log, as ``codec.events`` writes it.

    Args:
        name: The event.
        now: The time as text.
        fields: The event's own fields.

    Returns:
        The line.
    """
    line = {"v": 1, "ts": now, "event": name, "grove": __version__, **fields}
    return json.dumps(line, separators=(",", ":")) + "\n"


def log(target: "Callable[[], str]", lines: str, home: str, *, inside: str | None) -> None:
    """Append to an event log; a fault is noted, and stops nothing.

    Args:
        target: Tells the file.
        lines: Whole lines; none, and nothing is done.
        home: grove's own directory.
        inside: The directory that the file must lie in, links followed.
    """
    if not lines:
        return
    try:
        files.append_text(target(), lines, inside=inside, timeout=_LOG_SECONDS)
    except StorageError as error:
        diagnostics(home).log("error", f"events were lost: {error}")


def diagnostics(home: str) -> "Diagnostics":
    """Open grove's own log, which costs more than the whole short way.

    Args:
        home: grove's own directory.

    Returns:
        The log.
    """
    from pathlib import Path

    from grove_core.diagnostics import Diagnostics
    from grove_core.paths import Paths

    return Diagnostics(Paths(Path(home)))


def text_of(seconds: int) -> str:
    """Write a time as ``clock.format_instant`` does.

    Args:
        seconds: Seconds since 1970, UTC.

    Returns:
        The text.
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def now_text() -> str:
    """Tell the time as text."""
    return text_of(int(time.time()))

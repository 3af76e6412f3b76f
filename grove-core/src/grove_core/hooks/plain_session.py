"""A session's state and log for hooks' short ways: plain JSON values, under the same locks."""

import json
import os
import time
from contextlib import suppress

from grove_core import __version__, files
from grove_core.errors import StorageError
from grove_core.hooks import alarm
from grove_core.hosts.claude_code_plain import context_text
from grove_core.log_identity import events_target
from grove_core.surroundings import stamp

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from collections.abc import Callable

    from grove_core.diagnostics import Diagnostics
    from grove_core.settled import Document

SESSION_FILE_MODE = 0o600
_FILE_MODE = 0o666
_LOG_SECONDS = 0.3
_ANSWER_SECONDS = 0.5


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
    content = json.dumps(session, separators=(",", ":")).encode("ascii")
    alarm.written()
    files.replace(path, content)


def leave_be() -> None:
    """Do what is left to do where nothing is."""


def answer(event: str, text: str) -> None:
    """Tell the agent something, before all that is left to do: it counts as shown.

    Args:
        event: The client's name of the event.
        text: What it should know; nothing, and nothing is said.
    """
    if text:
        from grove_core.hooks.fast import say

        say(context_text(event, text), _ANSWER_SECONDS)


def export_id(path: str | None, session_id: str) -> None:
    """Let later shell calls know the session; a fault is none.

    Args:
        path: The client's file for that, if it names one.
        session_id: The session; its id is checked, so it needs no quotes.
    """
    if not path:
        return
    # Nobody may be at the other end of a pipe.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    with suppress(OSError, ValueError):
        descriptor = os.open(path, flags, _FILE_MODE)
        try:
            os.write(descriptor, f"export GROVE_SESSION_ID={session_id}\n".encode("ascii"))
        finally:
            os.close(descriptor)


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
    except (StorageError, OSError) as error:
        diagnostics(home).log("error", f"events were lost: {error}")


def log_of_learnings(
    event: str,
    learnings: "list[Document]",
    fields: "Callable[[Document], Document]",
    *,
    session: "Document",
    home: str,
    now: str,
    before: str = "",
) -> None:
    """Log something of learnings: of the user's own in their log, of others in the project's.

    Args:
        event: The event.
        learnings: The learnings, as the session keeps them.
        fields: Tells the event's own fields of one.
        session: The session.
        home: grove's own directory.
        now: The time as text.
        before: Whole lines that the project's log is given first.
    """

    def lines(*, personal: bool) -> str:
        return "".join(
            event_line(
                event,
                now,
                {"learning_id": one["learning_id"], "session_id": session["id"], **fields(one)},
            )
            for one in learnings
            if one["personal"] is personal
        )

    root, surroundings = session["project_root"], session["surroundings"]
    if surroundings["initialised"]:
        spread = surroundings.get("spread", False)
        target = lambda: events_target(root, home, spread=spread)  # noqa: E731 - as ``log`` takes it
        log(target, before + lines(personal=False), home, inside=root)
    own = os.path.join(home, "personal-stats.log")
    log(lambda: own, lines(personal=True), home, inside=None)


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

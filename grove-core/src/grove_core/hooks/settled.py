"""The short way of a Stop and a SessionEnd that find nothing to do.

Everything else, and whatever is odd in any way, is left to the full way, which also says so.
"""

import json
import os
import time
from contextlib import suppress

from grove_core import __version__, files, settled
from grove_core.errors import StorageError
from grove_core.gitstatus import (
    find_work_tree,
    read_status,
    seen_from_top,
    state_key,
    without,
)
from grove_core.hooks import CRASH_EXIT_CODE
from grove_core.hosts.claude_code_plain import PlainPayload
from grove_core.log_identity import events_target
from grove_core.surroundings import stamp

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from collections.abc import Callable

    from grove_core.diagnostics import Diagnostics
    from grove_core.settled import Document

_SESSION_FILE_MODE = 0o600
# The full way, which follows if git is slow, has a time limit of its own.
_STATUS_SECONDS = 0.5
_LOG_SECONDS = 0.3


def settle(event: str, data: bytes, home: str, session_id: str) -> int | None:
    """Do what a stop or an end of a session asks for, if that is little.

    Args:
        event: ``stop`` or ``session-end``.
        data: What the client wrote to standard input.
        home: grove's own directory.
        session_id: The session's id, checked.

    Returns:
        The exit code when it is done; ``None`` when nothing has been changed and the full way is
        to be taken.
    """
    path = os.path.join(home, "sessions", f"{session_id}.json")
    if not os.path.isabs(home) or not os.path.exists(path):
        return None
    act = _stop if event == "stop" else _end
    try:
        payload = PlainPayload(data)
        after = act(path, home, payload) if payload.session_id == session_id else None
    except Exception:  # noqa: BLE001 - the full way meets it again and reports it
        return None
    if after is None:
        return None
    try:
        after()
    except Exception as error:  # noqa: BLE001 - the state is written: the full way must not follow
        where = _diagnostics(home).crash(error, session_id, event)
        with suppress(OSError):
            os.write(2, f"grove: {event} failed and work goes on; {where}\n".encode())
        return CRASH_EXIT_CODE
    return 0


def _nothing() -> None:
    """What is left to do after a stop."""


def _stop(path: str, home: str, payload: PlainPayload) -> "Callable[[], None] | None":
    before = _read(path)
    if payload.has_background_work or not _is_known(before, home) or settled.waits(before):
        return None
    measured = None
    if settled.is_measured(before):
        # git is asked before the lock is taken, which other hooks may wait for.
        measured = _measure(before)
        if measured is None:
            return None
    with files.locked(path, mode=_SESSION_FILE_MODE, timeout=0):
        stored = _read(path)
        if stored != before:
            return None
        after = settled.stopped(
            stored, now=_now(), stop_hook_active=payload.stop_hook_active, measured=measured
        )
        _write(path, after)
    return _nothing


def _end(path: str, home: str, payload: PlainPayload) -> "Callable[[], None] | None":
    reason = payload.reason
    if reason is None:
        return None
    with files.locked(path, mode=_SESSION_FILE_MODE, timeout=0):
        stored = _read(path)
        if not _is_known(stored, home) or not settled.may_end(stored):
            return None
        now = _now()
        _write(path, settled.ended(stored, now=now, reason=reason))
    return lambda: _follow(stored, now, home)


def _follow(before: "Document", now: str, home: str) -> None:
    """Log what the end of a session means, and forget what only a live session needs."""
    surroundings, root = before["surroundings"], before["project_root"]
    shown = settled.dismissed(before)
    if surroundings["initialised"]:
        lines = _skip(before, now) + _dismissals(before, now, shown, personal=False)
        spread = surroundings.get("spread", False)
        _log(lambda: events_target(root, home, spread=spread), lines, home, inside=root)
    lines = _dismissals(before, now, shown, personal=True)
    _log(lambda: os.path.join(home, "personal-stats.log"), lines, home, inside=None)
    cache = os.path.join(home, "cache")
    for derived in (
        os.path.join(cache, "fast", before["id"]),
        os.path.join(cache, surroundings["project_key"], "open-sessions", before["id"]),
    ):
        with suppress(OSError):
            os.unlink(derived)


def _skip(session: "Document", now: str) -> str:
    changed = settled.unlogged_small_change(session)
    if changed is None:
        return ""
    reason = settled.reason_of_skip(changed)
    details = {"reason": reason, "decider": "auto", "lines_changed": changed}
    return _event("skip", now, {"session_id": session["id"], **details})


def _dismissals(session: "Document", now: str, shown: "list[Document]", *, personal: bool) -> str:
    return "".join(
        _event("dismissed", now, {"learning_id": one["learning_id"], "session_id": session["id"]})
        for one in shown
        if one["personal"] is personal
    )


def _event(name: str, now: str, fields: "Document") -> str:
    """A line of the event log, as ``codec.events`` writes it."""
    line = {"v": 1, "ts": now, "event": name, "grove": __version__, **fields}
    return json.dumps(line, separators=(",", ":")) + "\n"


def _log(target: "Callable[[], str]", lines: str, home: str, *, inside: str | None) -> None:
    if not lines:
        return
    try:
        files.append_text(target(), lines, inside=inside, timeout=_LOG_SECONDS)
    except StorageError as error:
        _diagnostics(home).log("error", f"events were lost: {error}")


def _diagnostics(home: str) -> "Diagnostics":
    from pathlib import Path

    from grove_core.diagnostics import Diagnostics
    from grove_core.paths import Paths

    return Diagnostics(Paths(Path(home)))


def _is_known(session: "Document", home: str) -> bool:
    """Tell whether nothing has changed that a session's judgement rests on."""
    return (
        settled.is_settled(session)
        and session["surroundings"] is not None
        and session["surroundings"]["stamp"]
        == stamp(session["project_root"], home, session["surroundings"]["marker"])
    )


def _measure(session: "Document") -> tuple[str, int] | None:
    """Look at the work tree, with one call of git; nothing is counted."""
    baseline, root = session["baseline"], session["project_root"]
    top = find_work_tree(root)
    if baseline is None or not baseline["head"] or top is None:
        return None
    status = read_status(top, _STATUS_SECONDS)
    if status is None:
        return None
    head, _, changed, untracked = status
    paths = without(seen_from_top(root, top, baseline["excluded"]), (*changed, *untracked))
    key = state_key(top, head, paths)
    lines = settled.harmless_lines(session, key)
    return None if lines is None else (key, lines)


def _read(path: str) -> "Document":
    document: Document = json.loads(files.read_bytes(path) or b"")
    if f"{document['id']}.json" != os.path.basename(path):
        raise ValueError("another session's state")
    return document


def _write(path: str, session: "Document") -> None:
    files.replace(path, json.dumps(session, separators=(",", ":")).encode("ascii"))


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

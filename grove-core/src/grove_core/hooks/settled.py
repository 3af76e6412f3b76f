"""The short way of a Stop and a SessionEnd that find nothing to do, and of most starts and prompts.

Everything else, and whatever is odd in any way, is left to the full way, which also says so.
"""

import os
from contextlib import suppress

from grove_core import files, settled
from grove_core.gitstatus import (
    find_work_tree,
    read_status,
    seen_from_top,
    state_key,
    without,
)
from grove_core.hooks import CRASH_EXIT_CODE, plain_session
from grove_core.hooks.plain_session import event_line, leave_be, log_of_learnings
from grove_core.hosts.claude_code_plain import PlainPayload

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from collections.abc import Callable

    from grove_core.settled import Document

# The full way, which follows if git is slow, has a time limit of its own.
_STATUS_SECONDS = 0.5


def settle(event: str, data: bytes, home: str, session_id: str) -> int | None:
    """Do what a start, a prompt, a stop or an end of a session asks for, if that is little.

    Args:
        event: ``session-start``, ``user-prompt-submit``, ``stop`` or ``session-end``.
        data: What the client wrote to standard input.
        home: grove's own directory.
        session_id: The session's id, checked.

    Returns:
        The exit code when it is done; ``None`` when nothing has been changed and the full way is
        to be taken.
    """
    path = os.path.join(home, "sessions", f"{session_id}.json")
    # A start goes the short way with a new session, everything else with a known one.
    if not os.path.isabs(home) or os.path.exists(path) is (event == "session-start"):
        return None
    try:
        act = _way_of(event)
        payload = PlainPayload(data)
        after = act(path, home, payload) if payload.session_id == session_id else None
    except Exception:  # noqa: BLE001 - the full way meets it again and reports it
        return None
    if after is None:
        return None
    try:
        after()
    except Exception as error:  # noqa: BLE001 - the state is written: the full way must not follow
        where = plain_session.diagnostics(home).crash(error, session_id, event)
        with suppress(OSError):
            os.write(2, f"grove: {event} failed and work goes on; {where}\n".encode())
        return CRASH_EXIT_CODE
    return 0


def _way_of(event: str) -> "Callable[[str, str, PlainPayload], Callable[[], None] | None]":
    # These two search, and so need much more.
    if event == "user-prompt-submit":
        from grove_core.hooks.prompted import prompt

        return prompt
    if event == "session-start":
        from grove_core.hooks.started import start

        return start
    return _stop if event == "stop" else _end


def _stop(path: str, home: str, payload: PlainPayload) -> "Callable[[], None] | None":
    before = plain_session.read(path)
    if payload.has_background_work or not _may_judge(before, home) or settled.waits(before):
        return None
    measured = None
    if settled.is_measured(before):
        # git is asked before the lock is taken, which other hooks may wait for.
        measured = _measure(before)
        if measured is None:
            return None
    with files.locked(path, mode=plain_session.SESSION_FILE_MODE, timeout=0):
        stored = plain_session.read(path)
        if stored != before:
            return None
        after = settled.stopped(
            stored,
            now=plain_session.now_text(),
            stop_hook_active=payload.stop_hook_active,
            measured=measured,
        )
        plain_session.write(path, after)
    return leave_be


def _end(path: str, home: str, payload: PlainPayload) -> "Callable[[], None] | None":
    reason = payload.reason
    if reason is None:
        return None
    with files.locked(path, mode=plain_session.SESSION_FILE_MODE, timeout=0):
        stored = plain_session.read(path)
        if not _may_judge(stored, home) or not settled.may_end(stored):
            return None
        now = plain_session.now_text()
        plain_session.write(path, settled.ended(stored, now=now, reason=reason))
    return lambda: _follow(stored, now, home)


def _follow(before: "Document", now: str, home: str) -> None:
    """Log what the end of a session means, and forget what only a live session needs."""
    log_of_learnings(
        "dismissed",
        settled.dismissed(before),
        lambda _: {},
        session=before,
        home=home,
        now=now,
        before=_skip(before, now),
    )
    cache = os.path.join(home, "cache")
    for derived in (
        os.path.join(cache, "fast", before["id"]),
        os.path.join(cache, "fast", f"{before['id']}.files"),
        os.path.join(cache, before["surroundings"]["project_key"], "open-sessions", before["id"]),
    ):
        with suppress(OSError):
            os.unlink(derived)


def _skip(session: "Document", now: str) -> str:
    changed = settled.unlogged_small_change(session)
    if changed is None:
        return ""
    reason = settled.reason_of_skip(changed)
    details = {"reason": reason, "decider": "auto", "lines_changed": changed}
    return event_line("skip", now, {"session_id": session["id"], **details})


def _may_judge(session: "Document", home: str) -> bool:
    return settled.is_settled(session) and plain_session.looks_the_same(session, home)


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

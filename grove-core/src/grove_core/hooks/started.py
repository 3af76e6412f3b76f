"""The short way of a session's start: like the latest one here, while nothing else has changed.

``hooks.session_start`` is the full way, which leaves a note; a test holds the two together.
"""

import json
import os
import time
from contextlib import suppress
from datetime import timedelta

from grove_core import files, settled, start_note
from grove_core.errors import StorageError
from grove_core.freshness import is_stale, was_begun_lately
from grove_core.gitstatus import find_work_tree, read_status, seen_from_top, state_key, without
from grove_core.hooks import plain_session
from grove_core.hosts.claude_code_plain import (
    CONTEXT_LIMIT,
    ENVIRONMENT_FILE_VARIABLE,
    PlainPayload,
    process_of,
)
from grove_core.identifiers import is_session_id
from grove_core.injection import VIA_START
from grove_core.work_at_hand import STATUS_SECONDS, words_and_files

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grove_core.gitstatus import Status
    from grove_core.settled import Document
    from grove_core.start_note import StartNote

_NEW_SESSION = frozenset({"startup", "clear"})
_DAY_SECONDS = 86_400
_NOTICE_TIME = timedelta(days=7)


def start(path: str, home: str, payload: PlainPayload) -> "Callable[[], None] | None":
    """Begin a session.

    Args:
        path: The session's file, which is not there yet.
        home: grove's own directory.
        payload: What the client says.

    Returns:
        What is left to do once the session is written; ``None`` when nothing has been changed and
        the full way is to be taken.
    """
    session_id = payload.session_id
    usual = payload.source in _NEW_SESSION and payload.cwd
    note = start_note.read(home, payload.cwd, session_id) if usual else None
    if note is None:
        return None
    begun = _Start(note, home, payload, int(time.time()))
    if not begun.is_usual() or not begun.search():
        return None
    session = begun.session()
    with files.locked(path, mode=plain_session.SESSION_FILE_MODE, timeout=0):
        if files.read_bytes(path):
            return None  # another set of hooks was faster
        try:
            begun.prepare_calls()
            plain_session.write(path, session)
        except BaseException:
            # The lock has made the file; a session that came to nothing leaves none.
            with suppress(OSError):
                if not os.stat(path).st_size:
                    os.unlink(path)
            raise
    return lambda: begun.follow(session)


class _Start:
    """A session that begins."""

    def __init__(self, note: "StartNote", home: str, payload: PlainPayload, seconds: int) -> None:
        self._note = note
        self._home = home
        self._payload = payload
        self._seconds = seconds
        self._now = plain_session.text_of(seconds)
        self._document: Document = json.loads(note.session_at(self._now))
        self._root: str = self._document["project_root"]
        self._top = find_work_tree(self._root)
        self._status: Status | None = None
        from grove_core.hooks.plain_recall import PlainRecall  # without a note all this is in vain

        self._recall = PlainRecall(note.recall, via=VIA_START, seconds=seconds)
        self._fast = os.path.join(home, "cache", "fast", payload.session_id)
        self._open_sessions = os.path.join(note.project_cache, "open-sessions")

    def is_usual(self) -> bool:
        """Tell whether a start has nothing to do but to show learnings."""
        recall = self._recall
        if not recall.is_current or recall.index.stamp != self._note.index_stamp:
            return False
        if len(recall.index) and not self._decayed_lately():
            return False
        if not self._servers_were_asked_lately():
            return False
        return self._others_go_on() and not self._has_corrections() and self._has_status()

    def _servers_were_asked_lately(self) -> bool:
        """Tell whether no process has to be started that asks a server."""
        stale = any(is_stale(mark, self._seconds) for _, mark in self._note.recall.servers)
        return not stale or was_begun_lately(self._note.project_cache, self._seconds)

    def _decayed_lately(self) -> bool:
        """Tell whether decay has had its turn within a day."""
        stamps = [os.path.join(self._home, "cache", "decayed")]
        if self._document["surroundings"]["initialised"]:
            stamps.append(os.path.join(self._note.project_cache, "decayed"))
        return all(self._is_of_the_day((files.read_bytes(one) or b"").decode()) for one in stamps)

    def _is_of_the_day(self, text: str) -> bool:
        since = plain_session.text_of(self._seconds - _DAY_SECONDS)
        return len(text) == len(since) and since < text <= self._now

    def _others_go_on(self) -> bool:
        """Tell whether no other session of the project has ended without a word, or owes any."""
        try:
            names = os.listdir(self._open_sessions)
        except OSError:
            return True
        others = (name for name in names if name != self._payload.session_id)
        return all(map(self._goes_on, filter(is_session_id, others)))

    def _goes_on(self, session_id: str) -> bool:
        path = os.path.join(self._home, "sessions", f"{session_id}.json")
        other = plain_session.read(path)
        process, updated = other["process_id"], other["updated_at"]
        return (
            other["schema_version"] == settled.SCHEMA_VERSION
            and other["ended_at"] is None
            and self._is_of_the_day(updated)
            and (process is None or files.is_running(process))
        )

    def _has_corrections(self) -> bool:
        """Tell whether anything that was shown lately has been corrected since."""
        if not any(map(os.path.exists, self._recall.logs)):
            return False
        cache = self._recall.cache
        since = self._recall.now - _NOTICE_TIME
        return not cache.complete or any(
            shown is not None and shown >= since for *_, shown in cache.corrections(since)
        )

    def _has_status(self) -> bool:
        """Ask git for the state of the work; without it nothing could be measured later."""
        if self._top is not None:
            self._status = read_status(self._top, STATUS_SECONDS)
        measured = self._document["surroundings"]["session_mode"] and self._top is not None
        return self._status is not None or not measured

    def search(self) -> bool:
        """Look for what fits the work; tell whether the trace can name it."""
        recall = self._note.recall
        return self._recall.run(
            self._query(),
            limit=recall.max_injections,
            max_chars=min(recall.max_chars, CONTEXT_LIMIT),
        )

    def _query(self) -> "Document":
        ticket = self._document["gate"]["ticket"] or {}
        words: Sequence[str] = ()
        touched: Sequence[str] = ()
        if self._top is not None and self._status is not None:
            words, touched = words_and_files(
                self._root, self._top, self._status, self._note.own_paths
            )
        return {
            "text": " ".join(words),
            "ticket_id": ticket.get("ticket_id") or "",
            "ticket_title": ticket.get("title", ""),
            "ticket_description": ticket.get("description", ""),
            "tags": tuple(label.lower() for label in ticket.get("labels", ())),
            "files": touched,
        }

    def session(self) -> "Document":
        """Give the session with what it is shown."""
        payload = self._payload
        baseline, measurement = self._baseline()
        fields = {
            "id": payload.session_id,
            "transcript_path": payload.transcript_path,
            "process_id": process_of(os.environ),
            "prompt_id": payload.prompt_id,
            "baseline": baseline,
            "measurement": measurement,
        }
        shown = self._recall.shown(self._now)
        return settled.begun(self._document, source=payload.source, fields=fields, shown=shown)

    def _baseline(self) -> "tuple[Document | None, Document | None]":
        """Take the baseline, and what the next stop would measure if nothing changed."""
        if not self._document["surroundings"]["session_mode"]:
            return None, None
        baseline: Document = {
            "taken_at": self._now,
            "head": None,
            "dirty": [],
            "excluded": list(self._note.own_paths),
            "transcript_offset": _size(self._payload.transcript_path),
        }
        if self._top is None or self._status is None:
            return baseline, None
        from grove_core.dirty_files import looks_at  # few projects need it

        head, _, changed, untracked = self._status
        prefixes = seen_from_top(self._root, self._top, self._note.own_paths)
        paths = without(prefixes, (*changed, *untracked))
        dirty = [
            {
                "path": path,
                "digest": look.digest,
                "line_hashes": look.line_hashes,
                "lines": look.lines,
            }
            for path, look in looks_at(self._top, paths)
        ]
        key = state_key(self._top, head, paths)
        return {**baseline, "head": head, "dirty": dirty}, {"key": key, "lines": 0, "small": False}

    def prepare_calls(self) -> None:
        """Let the hooks on tool calls see what they have nothing to do with."""
        _put(self._fast, self._note.words)
        if self._note.watched is not None:
            _put(f"{self._fast}.files", self._note.watched)

    def follow(self, session: "Document") -> None:
        """Do what follows once the session is written."""
        plain_session.answer("SessionStart", self._recall.injection.text.strip())
        plain_session.export_id(os.environ.get(ENVIRONMENT_FILE_VARIABLE), session["id"])
        with suppress(OSError, StorageError):
            files.make_directory(self._open_sessions)
            with open(os.path.join(self._open_sessions, session["id"]), "ab"):
                pass
        self._recall.record(session, session["injected"], home=self._home, now=self._now)


def _put(path: str, content: str) -> None:
    files.make_directory(os.path.dirname(path))
    files.replace(path, os.fsencode(content))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size if path else 0
    except OSError:
        return 0

"""Where session state is kept: one JSON file a session, written under its lock."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from attrs import evolve

from grove_core.codec import session_from_json, session_to_json
from grove_core.errors import CodecError, SessionNotFoundError, StorageError
from grove_core.identifiers import is_session_id
from grove_core.model.session import Session
from grove_core.storage import files

_SUFFIX = ".json"
_RECEIVED_KEPT = 200

Parsed = dict[str, tuple[bytes, Session]]
"""The content of a session's file and what it says; the store compares before it trusts it."""


class Quarantined(NamedTuple):
    """Session state that could not be read and was put out of the way."""

    session_id: str
    path: Path
    reason: str


class SessionStore:
    """Sessions as files ``<id>.json`` in one directory."""

    def __init__(self, directory: Path, parsed: Parsed | None = None) -> None:
        """Name the directory, which the first write makes, and where parsed state is kept."""
        self._directory = directory
        self._parsed = {} if parsed is None else parsed
        self.quarantined: list[Quarantined] = []
        self.latest = b""  # what the latest update has left in its file
        self.taking_in = ""  # what from the inbox each update is for; noted in the same write

    def path(self, session_id: str) -> Path:
        """Return the path of a session's file."""
        if not is_session_id(session_id):
            shown = f"{session_id[:140]!r}"
            raise SessionNotFoundError(
                f"{shown} is no session id: letters, digits, - and _ only, at most 128"
            )
        return self._directory / f"{session_id}{_SUFFIX}"

    def get(self, session_id: str) -> Session | None:
        """Fetch a session."""
        content = files.read_bytes(self.path(session_id))
        return self._parse(session_id, content) if content else None

    def update(self, session_id: str, change: Callable[[Session | None], Session]) -> Session:
        """Read, change and store a session while no other process does."""
        path = self.path(session_id)
        files.make_directory(self._directory)
        with files.locked(path, mode=0o600):
            content = files.read_bytes(path)
            try:
                before, aside = self._decode(session_id, content) if content else (None, None)
                after = self._noted(change(before))
                if aside is not None:
                    after = evolve(after, recovered_from=str(aside.path))
                if before is None or after is not before:
                    content = session_to_json(after)
                    files.replace(path, content)
                    self._parsed[session_id] = content, after
                self.latest = content or b""
            except BaseException:
                if not content:
                    # The lock has made the file; a session that came to nothing leaves none.
                    with suppress(OSError):
                        path.unlink(missing_ok=True)
                raise
        return after

    def _noted(self, session: Session) -> Session:
        if not self.taking_in or self.taking_in in session.received:
            return session
        return evolve(session, received=(*session.received, self.taking_in)[-_RECEIVED_KEPT:])

    def _parse(self, session_id: str, content: bytes) -> Session:
        known = self._parsed.get(session_id)
        if known is not None and known[0] == content:
            return known[1]
        session = session_from_json(content)
        if session.id != session_id:
            raise CodecError(f"it holds the state of session {session.id[:140]!r}")
        self._parsed.clear()
        self._parsed[session_id] = content, session
        return session

    def _decode(self, session_id: str, content: bytes) -> tuple[Session | None, Quarantined | None]:
        try:
            return self._parse(session_id, content), None
        except CodecError as error:
            path = Path(files.set_aside(self.path(session_id), content))
            aside = Quarantined(session_id, path, str(error))
            self.quarantined.append(aside)
            return None, aside

    def list(self, limit: int | None = None) -> Sequence[Session]:
        """List readable sessions, the most recently written first."""
        try:
            with os.scandir(self._directory) as entries:
                dated = [
                    (entry.stat().st_mtime_ns, entry.name.removesuffix(_SUFFIX))
                    for entry in entries
                    if entry.name.endswith(_SUFFIX)
                    and not entry.name.startswith(".")
                    and entry.is_file()  # opening a pipe would wait
                ]
        except OSError:
            return ()
        found: list[Session] = []
        for _, name in sorted(dated, reverse=True):
            if limit is not None and len(found) >= limit:
                break
            with suppress(CodecError, StorageError, SessionNotFoundError):
                if (session := self.get(name)) is not None:
                    found.append(session)
        return found

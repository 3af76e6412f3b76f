"""Where session state is kept: one JSON file a session, written under its lock."""

import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import evolve

from grove_core.codec import session_from_json, session_to_json
from grove_core.errors import CodecError, SessionNotFoundError, StorageError
from grove_core.identifiers import is_session_id
from grove_core.model.session import Session
from grove_core.storage import files

_SUFFIX = ".json"
_RECEIVED_KEPT = 200
# What trackers told: the only texts of others in a session that nobody has searched for secrets.
_TOLD = re.compile(rb'"(?:title|description)":("(?:[^"\\]|\\.)+")')
# What could be a secret. Those rules that a reflection is searched by cost a hook more than all the
# rest; a title is a hint, and loses little by a word too many that is masked.
_HIDDEN = (
    r"(?i:\b\w*(?:pass\w*|pwd|secrets?|tokens?|\bkey|[_-]key|wort|credentials?|phrase|auth\w*|login|user"
    r"|community)(?:\W{0,3}[:=]\W{0,3}|\W{1,3}(?:is|was)\W{1,3}|\s{1,9}(?=\S{8})(?=\S{0,99}\d)))(\S+)"
    r"|://([^\s/]*@)"
    r"|\s-[a-zA-Z]\s?(?=\S{6})(\S*\d\S*)"
    r"|\(echo (\S+)\)"
    r"|(?<![\w+/=-])((?=\S{0,99}[a-z])(?=(?:[^\s\d]{0,99}\d){2})(?=\S{0,99}[A-Z])\S{12,})"
    r"|([A-Z0-9]{16,}|[0-9a-f]{32,}|(?=[a-z_-]{0,99}\d)[\w-]{32,})"
)

Parsed = dict[str, tuple[bytes, Session]]
"""The content of a session's file and what it says; the store compares before it trusts it."""


class SessionStore:
    """Sessions as files ``<id>.json`` in one directory."""

    def __init__(self, directory: Path, parsed: Parsed | None = None) -> None:
        """Name the directory, which the first write makes, and where parsed state is kept."""
        self._directory = directory
        self._parsed = {} if parsed is None else parsed
        self.faults: list[str] = []  # what could not be read and was put out of the way
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
                before, aside = self._decode(session_id, content) if content else (None, "")
                after = change(before)
                if self.taking_in not in ("", *after.received):
                    received = (*after.received, self.taking_in)[-_RECEIVED_KEPT:]
                    after = evolve(after, received=received)
                if aside:
                    after = evolve(after, recovered_from=aside)
                if before is None or after is not before:
                    content, after = without_secrets(session_to_json(after), after, content or b"")
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

    def _decode(self, session_id: str, content: bytes) -> tuple[Session | None, str]:
        try:
            return self._parse(session_id, content), ""
        except CodecError as error:
            aside = files.set_aside(self.path(session_id), content)
            fault = f"session state could not be read and was set aside as {aside}: {error}"
            self.faults.append(fault)
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


def without_secrets(content: bytes, session: Session, before: bytes) -> tuple[bytes, Session]:
    """Mask what looks like a secret in what trackers told and what was not stored before."""

    def mask(told: re.Match[bytes]) -> bytes:
        if told[1] in before:
            return told[0]
        text = re.sub(_HIDDEN, _masked, json.loads(told[1]))
        return told[0].replace(told[1], json.dumps(text).encode("ascii"))

    masked = _TOLD.sub(mask, content)
    return masked, session if masked == content else session_from_json(masked)


def _masked(found: re.Match[str]) -> str:
    return found[0].replace(next(filter(None, found.groups())), "***")

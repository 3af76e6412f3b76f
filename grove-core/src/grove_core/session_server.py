"""What is known of the server that answers a session's hooks."""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.clock import format_instant, parse_instant
from grove_core.errors import StorageError
from grove_core.storage import files

_SUFFIX: Final = ".server"
_BY_SERVER, _BY_COMMAND = b"s", b"c"


@frozen(kw_only=True)
class SessionServer:
    """A server as it said of itself."""

    process: int
    since: datetime
    version: str
    alive: bool
    by_server: int
    by_command: int


class ServerRecords:
    """The records of all sessions."""

    def __init__(self, cache: Path) -> None:
        self._directory = cache / "fast"

    def begin(self, session_id: str, version: str, now: datetime) -> None:
        """Say that this process gets the session's hooks; what was counted before stays."""
        known = self._content(session_id)
        line = {"process": os.getpid(), "since": format_instant(now), "version": version}
        content = json.dumps(line).encode() + b"\n" + known.partition(b"\n")[2]
        try:
            files.make_directory(self._directory)
            files.replace(self._path(session_id), content)
        except StorageError:
            return

    def read(self, session_id: str) -> SessionServer | None:
        """Read a session's record; ``None`` where no server has got a hook of it."""
        line, _, counted = self._content(session_id).partition(b"\n")
        try:
            said = json.loads(line)
            return SessionServer(
                process=int(said["process"]),
                since=parse_instant(said["since"]),
                version=str(said["version"]),
                alive=files.is_running(int(said["process"])),
                by_server=counted.count(_BY_SERVER),
                by_command=counted.count(_BY_COMMAND),
            )
        except (ValueError, KeyError, TypeError):
            return None

    def _content(self, session_id: str) -> bytes:
        try:
            return files.read_bytes(self._path(session_id)) or b""
        except StorageError:
            return b""

    def _path(self, session_id: str) -> Path:
        return self._directory / (session_id + _SUFFIX)

"""Where the files of this backend lie."""

import os
from pathlib import Path
from typing import Final

from grove_core import BackendContext

RECORD_NAME: Final = "mcp.jsonl"
_DIRECTORY: Final = ".grove"
_KEY_LENGTH: Final = 16


class Places:
    """The files of one project."""

    def __init__(self, context: BackendContext, server: str) -> None:
        """Work out the paths; nothing is read or created."""
        import hashlib  # it loads OpenSSL; what only detects the backend needs no places

        real = os.path.realpath(context.root).encode("utf-8", "surrogateescape")
        key = hashlib.sha256(real).hexdigest()[:_KEY_LENGTH]
        kept = context.home / "mcp" / key
        cached = context.home / "cache" / "mcp" / key / (server or "none")
        self.root: Path = context.root
        self.record: Path = context.root / _DIRECTORY / RECORD_NAME
        self.journal: Path = kept / "journal.jsonl"
        self.lock: Path = kept / "delivery.lock"
        self.seen: Path = cached / "seen.jsonl"
        self.notes: Path = cached / "notes.jsonl"
        self.breaker: Path = cached / "breaker.json"
        self.synchronised: Path = cached / "synchronised"
        self.oddities: Path = cached / "oddities.txt"

"""Ids that are made of what an entry says, so that it is the same learning each time."""

from base64 import b32encode
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from grove_core.model.learning import Candidate
from grove_core.reflection.duplicates import fingerprint

IMPORT_SESSION: Final = "import"
"""The session of imported learnings whose source names none."""

_DIGEST_BYTES: Final = 5
_CHARACTERS: Final = 6


def content_key(candidate: Candidate, attempt: int = 0) -> str:
    """Digest what a candidate says."""
    digest = bytes.fromhex(fingerprint(candidate))
    if attempt:
        digest = sha256(digest + str(attempt).encode()).digest()
    return b32encode(digest[:_DIGEST_BYTES]).decode("ascii").lower()[:_CHARACTERS]


def derived_id(candidate: Candidate, written: datetime, attempt: int = 0) -> str:
    """Make the id of an entry that has none."""
    day = written.astimezone(UTC)
    return f"cl_{day.year:04}{day:%m%d}_{content_key(candidate, attempt)}"

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
    """Digest what a candidate says.

    Args:
        candidate: The candidate, cleaned.
        attempt: How many keys of it were taken by other learnings.

    Returns:
        Six characters of base 32, of the same alphabet as those of random ids.
    """
    digest = bytes.fromhex(fingerprint(candidate))
    if attempt:
        digest = sha256(digest + str(attempt).encode()).digest()
    return b32encode(digest[:_DIGEST_BYTES]).decode("ascii").lower()[:_CHARACTERS]


def derived_id(candidate: Candidate, written: datetime, attempt: int = 0) -> str:
    """Make the id of an entry that has none.

    Args:
        candidate: The candidate, cleaned.
        written: When it was written; for want of that, the time of the import.
        attempt: How many ids of it were taken by other learnings.

    Returns:
        An id such as ``cl_20260206_k3f9a2``, the same for the same content and day.
    """
    day = written.astimezone(UTC)
    return f"cl_{day.year:04}{day:%m%d}_{content_key(candidate, attempt)}"

"""Ids: new ones for learnings, and what may be one."""

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from grove_core.errors import BackendError

if TYPE_CHECKING:
    from grove_core.model.learning import Learning

# RFC 4648 base 32 in lower case: no 0, 1, 8, 9, which look like letters.
_BASE32: Final = "abcdefghijklmnopqrstuvwxyz234567"
_RANDOM_CHARACTERS: Final = 6
_LEARNING_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,127}")
_SESSION_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


def new_learning_id(now: datetime) -> str:
    """Make an id that no other process, clone or branch makes."""
    import secrets

    random_part = "".join(secrets.choice(_BASE32) for _ in range(_RANDOM_CHARACTERS))
    return f"cl_{now.astimezone(UTC):%Y%m%d}_{random_part}"


def is_learning_id(text: str) -> bool:
    """Check that a text can be a learning's id.

    Args:
        text: What a file or a person says is an id.

    Returns:
        Whether it has letters, digits, ``-`` and ``_`` only, 3 to 128 of them.
    """
    return _LEARNING_ID.fullmatch(text) is not None


def check_storable(learning: "Learning") -> None:
    """Refuse a learning that no backend can store.

    Args:
        learning: What is to be written.

    Raises:
        BackendError: Its id is none, or its text holds half a character.
    """
    if not is_learning_id(learning.id):
        raise BackendError(f"{learning.id!a} is no id of a learning")
    try:
        f"{learning.summary}{learning.detail}".encode()
    except UnicodeEncodeError as error:
        raise BackendError(f"{learning.id} holds half a character: {error}") from error


def is_session_id(text: str) -> bool:
    """Return whether a text can be a session's id, and so part of a file name."""
    return _SESSION_ID.fullmatch(text) is not None

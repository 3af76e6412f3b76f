"""Names of the states in which work on a ticket is over."""

from collections.abc import Iterable
from typing import Final

DONE: Final = (
    "done",
    "close",
    "closed",
    "close issue",
    "complete",
    "completed",
    "resolve",
    "resolved",
    "resolve issue",
    "fixed",
    "won't do",
    "won't fix",
    "canceled",
    "cancelled",
    "duplicate",
)
"""Usual names; a transition may have one of its own beside the state that it leads to."""

_DROPPED: Final = str.maketrans({"'": "", "\u2019": "", "_": " ", "-": " "})


def is_done(state: str, done: Iterable[str]) -> bool:
    """Tell whether work is over in a state.

    Args:
        state: The state's name.
        done: The names of such states.

    Returns:
        Whether it is one of them; letter case, apostrophes and kinds of blanks do not matter.
    """
    return _plain(state) in {_plain(name) for name in done}


def _plain(name: str) -> str:
    return " ".join(name.casefold().translate(_DROPPED).split())

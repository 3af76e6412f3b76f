"""The markers that git leaves around what it could not merge."""

import re
from typing import Final

_MARKER: Final = re.compile(rb"(?:<{7}|\|{7}|={7}|>{7})(?: .*)?\r?\n?", re.DOTALL)


def is_conflict_marker(line: bytes) -> bool:
    """Tell whether a line is a marker of a conflict.

    Args:
        line: The line, with its end or without.

    Returns:
        Whether it is one: seven signs, and perhaps words behind them.
    """
    return _MARKER.fullmatch(line) is not None

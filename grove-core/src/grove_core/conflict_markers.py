"""The markers that git leaves around what it could not merge."""

import re
from typing import Final

_MARKER: Final = re.compile(rb"(?:<{7}|\|{7}|={7}|>{7})(?: .*)?\r?\n?", re.DOTALL)


def is_conflict_marker(line: bytes) -> bool:
    """Return whether a line is a marker of a conflict."""
    return _MARKER.fullmatch(line) is not None

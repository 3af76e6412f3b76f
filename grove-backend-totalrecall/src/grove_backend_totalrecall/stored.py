"""A learning and where it stands."""

from pathlib import Path
from typing import NamedTuple

from grove_core import Learning


class Stored(NamedTuple):
    """A learning and where it is."""

    learning: Learning
    path: Path
    line: int
    complete: bool

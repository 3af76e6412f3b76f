"""A learning and where it stands."""

from pathlib import Path
from typing import NamedTuple

from grove_core import Learning


class Stored(NamedTuple):
    """A learning and where it is.

    Attributes:
        learning: The learning.
        path: The file whose entry says most.
        line: Its line there, from 1.
        complete: Whether everything is as grove has written it, nothing filled in.
    """

    learning: Learning
    path: Path
    line: int
    complete: bool

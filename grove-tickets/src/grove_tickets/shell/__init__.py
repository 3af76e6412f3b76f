"""Which commands a shell text would run, read from the text alone.

``commands`` gives the simple commands that a shell would start, wrappers such as ``sudo`` and
``bash -c`` taken off, each with its words, variables and directory. Nothing is run. What only the
running shell knows (most variables, the output of most programs, the input of ``xargs``) is
``UNKNOWN`` in a word. Aliases, scripts in files and other machines' shells are not read.
"""

from contextlib import suppress
from functools import lru_cache
from typing import Final

from grove_tickets.shell.scope import Command, Scope
from grove_tickets.shell.syntax import Budget, TooMuchError
from grove_tickets.shell.walk import Walk

__all__ = ["Command", "commands"]

_KEPT_TEXTS: Final = 4
"""The systems of a project ask for the same text one after another."""


@lru_cache(_KEPT_TEXTS)
def commands(text: str) -> tuple[Command, ...]:
    """Read which simple commands a shell text would run."""
    found: list[Command] = []
    with suppress(TooMuchError):
        Walk(Budget(), found).run_shell(text, Scope(), None)
    return tuple(found)

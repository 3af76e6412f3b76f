"""What a shell command line would run, read from its text alone.

What may run counts, but not what the text itself rules out: behind ``false &&`` or ``exit``. What
only the running shell knows stays unknown: values of most variables, output of most programs.
Aliases, scripts in files and other machines' shells are not looked into. A line with an
unterminated quote runs nothing, nor does what follows it.
"""

from contextlib import suppress
from functools import lru_cache

from grove_tickets.shell.limits import TooMuchError
from grove_tickets.shell.scope import Scope
from grove_tickets.shell.walk import Command, Walk

__all__ = ["Command", "commands"]


@lru_cache(4)  # the systems of a project ask for the same text one after another
def commands(text: str) -> tuple[Command, ...]:
    """Read which simple commands a shell text would run, wrappers such as ``sudo`` taken off."""
    walk = Walk()
    with suppress(TooMuchError):
        walk.run_text(text, Scope())
    return tuple(walk.found)

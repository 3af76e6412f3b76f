"""What a shell command line would run, read from its text alone.

``commands`` gives the simple commands that running a text would start, wrappers such as ``sudo``
and ``bash -c`` taken off, each with its words, its variables and its directory. Nothing is run.

What only the running shell knows stays unknown: values of most variables, output of substitutions,
input of ``xargs``. Bodies of functions, aliases, scripts in files and other machines' shells are
not looked into. A line with an unterminated quote runs nothing, nor does what follows it.
"""

from grove_tickets.shell.model import Command, Scope
from grove_tickets.shell.walk import Budget, TooMuchError, Walk

__all__ = ["Command", "commands"]


def commands(text: str) -> tuple[Command, ...]:
    """Read which simple commands a shell text would run.

    Args:
        text: The text, as for ``bash -c``.

    Returns:
        The commands in the order of the text. Nothing when the text is over 64 KiB, nested more
        than 100 levels deep, or takes too many steps: no command of an agent does that.
    """
    found: list[Command] = []
    try:
        Walk(text, found, Budget(), 0).run(Scope(), None)
    except TooMuchError:
        return ()
    return tuple(found)

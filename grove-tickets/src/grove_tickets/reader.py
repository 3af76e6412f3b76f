"""What a call of the shell would run: for the patterns of a configuration, and for other plugins.

``read`` is part of the public interface (``docs/dev/public-interface.md``).
"""

from collections.abc import Sequence

from grove_core import CommandReader, ToolCall, hookimpl

grove_api = 2


@hookimpl
def grove_command_readers() -> Sequence[CommandReader]:
    """Offer to read the commands of a shell like ``bash``."""
    return [CommandReader(tools=("Bash",), read=read)]


def read(call: ToolCall) -> Sequence[Sequence[str | None]]:
    """Read which commands a call would run.

    Args:
        call: A call of the shell.

    Returns:
        The words of each command; ``None`` for a word that only the running shell knows.
    """
    from grove_tickets.arguments import is_known
    from grove_tickets.shell import commands

    text = call.input.get("command")
    found = commands(text) if isinstance(text, str) else ()
    return [[word if is_known(word) else None for word in one.words] for one in found]

"""Whether any installed plugin offers something, kept so that nothing is loaded to find it out.

Plugins that offer commands or insights are few. Where none does, and nothing was installed since
that was found out, ``grove --help`` and ``grove stats`` import no plugin.
"""

import json
import os

from grove_core.errors import StorageError
from grove_core.files import make_directory, read_bytes, replace
from grove_core.plugins.environment import Environment, cache_file, is_settled, look

COMMANDS = "commands"
INSIGHTS = "insights"
_FORMAT = 1


def none_is_offered(home: str | os.PathLike[str], what: str = COMMANDS) -> bool:
    """Tell whether it is known that no plugin offers something.

    Args:
        home: grove's own directory.
        what: ``COMMANDS`` or ``INSIGHTS``; of these, other ones than grove's own.

    Returns:
        ``False`` also when it is not known.
    """
    try:
        content = read_bytes(cache_file(home, what))
        document = json.loads(content) if content else {}
        known: bool = document == {"format": _FORMAT, "environment": look(), "offered": False}
    except (StorageError, ValueError, RecursionError):
        return False
    return known


def remember_that_none_is_offered(
    home: str | os.PathLike[str], environment: Environment, what: str = COMMANDS
) -> None:
    """Keep that all plugins were loaded and none offers something; a fault is none.

    Args:
        home: grove's own directory.
        environment: What ``look`` said before the plugins were loaded.
        what: What none offers.
    """
    if not is_settled(environment) or not os.path.isdir(home):
        return
    document = {"format": _FORMAT, "environment": environment, "offered": False}
    path = cache_file(home, what)
    try:
        make_directory(os.path.dirname(path))
        replace(path, json.dumps(document).encode())
    except StorageError:
        return

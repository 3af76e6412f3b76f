"""Whether any installed plugin offers a command, kept so that ``grove --help`` loads none.

Plugins that offer commands are few. Where none does, and nothing was installed since that was found
out, the help is printed without importing a plugin.
"""

import json
import os

from grove_core.errors import StorageError
from grove_core.files import make_directory, read_bytes, replace
from grove_core.plugins.environment import Environment, cache_file, is_settled, look

_FORMAT = 1
_NAME = "commands"


def none_is_offered(home: str | os.PathLike[str]) -> bool:
    """Tell whether it is known that no plugin offers a command.

    Args:
        home: grove's own directory.

    Returns:
        ``False`` also when it is not known.
    """
    try:
        content = read_bytes(cache_file(home, _NAME))
        document = json.loads(content) if content else {}
        known: bool = document == {"format": _FORMAT, "environment": look(), "offered": False}
    except (StorageError, ValueError, RecursionError):
        return False
    return known


def remember_that_none_is_offered(home: str | os.PathLike[str], environment: Environment) -> None:
    """Keep that all plugins were loaded and none offers a command; a fault is none.

    Args:
        home: grove's own directory.
        environment: What ``look`` said before the plugins were loaded.
    """
    if not is_settled(environment) or not os.path.isdir(home):
        return
    document = {"format": _FORMAT, "environment": environment, "offered": False}
    path = cache_file(home, _NAME)
    try:
        make_directory(os.path.dirname(path))
        replace(path, json.dumps(document).encode())
    except StorageError:
        return

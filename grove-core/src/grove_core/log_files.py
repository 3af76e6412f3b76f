"""Where the event logs of a project are."""

import os
from stat import S_ISREG

EVENT_LOG = "stats.log"
"""The log of the layout ``single``, in the project's ``.grove`` directory."""

EVENT_FOLDER = "stats"
"""The folder with the logs of the layout ``spread``."""

_SUFFIX = ".jsonl"


def event_files(grove_directory: "str | os.PathLike[str]") -> list[str]:
    """Find the event logs of both layouts.

    Args:
        grove_directory: The project's ``.grove`` directory.

    Returns:
        The files that are there: the one of the layout ``single``, then the others by name.
    """
    single = os.path.join(grove_directory, EVENT_LOG)
    folder = os.path.join(grove_directory, EVENT_FOLDER)
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in entries if _is_event_log(one)]
    except OSError:
        names = []
    there = [single] if os.path.exists(single) else []
    return [*there, *(os.path.join(folder, name) for name in sorted(names))]


def is_readable_log(path: "str | os.PathLike[str]") -> bool:
    """Tell whether a log can be read: a pipe or a device would keep its reader waiting for ever.

    Args:
        path: The log; one that is not there holds nothing.

    Returns:
        Whether it is a regular file that this user may read.
    """
    try:
        return S_ISREG(os.stat(path).st_mode) and os.access(path, os.R_OK)
    except OSError:
        return False


def _is_event_log(entry: "os.DirEntry[str]") -> bool:
    return entry.name.endswith(_SUFFIX) and not entry.name.startswith(".") and entry.is_file()

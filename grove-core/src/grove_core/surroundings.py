"""Whether what a session knows of its project may be out of date, told by two or three ``stat``."""

import os


def stamp(root: str, home: str) -> str:
    """Sum up what decides how a session's stops are judged, besides the session itself.

    Args:
        root: The project's root.
        home: grove's own directory.

    Returns:
        A text that is another one once the project's ``.grove`` or one of the two configuration
        files has come, gone or changed.
    """
    grove = os.path.join(root, ".grove")
    parts = [str(os.path.isdir(grove))]
    for directory in (grove, home):
        try:
            status = os.stat(os.path.join(directory, "config.toml"))
            parts.append(f"{status.st_size}@{status.st_mtime_ns}")
        except OSError:
            parts.append("none")
    return " ".join(parts)

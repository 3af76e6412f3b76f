"""Whether what a session knows of its project may be out of date, told by a few looks at files."""

import os
import zlib

# Of this session's shell calls, and no setting.
_NO_SETTING = "GROVE_SESSION_ID"


def stamp(root: str, home: str, marker: str) -> str:
    """Sum up what decides how a session's stops are judged, besides the session itself.

    Args:
        root: The project's root.
        home: grove's own directory.
        marker: What gave the active ticket system away, as a path; empty without one.

    Returns:
        A text that is another one once ``.grove``, in the project or above it, one of the
        configuration files, what the user has agreed to, a setting in the environment, or the
        marker has come, gone or changed.
    """
    return with_marker(configuration_stamp(root, home), root, marker)


def with_marker(configuration: str, root: str, marker: str) -> str:
    """Add the marker, known only once the configuration is, to how the configuration looked.

    Args:
        configuration: What ``configuration_stamp`` has returned.
        root: The project's root.
        marker: What gave the active ticket system away, as a path; empty without one.

    Returns:
        What ``stamp`` returns.
    """
    is_there = bool(marker) and os.path.lexists(os.path.join(root, marker))
    return f"{configuration} {is_there}"


def configuration_stamp(root: str, home: str) -> str:
    """Sum up what the configuration is read from, what is trusted, and the nearest ``.grove``.

    Args:
        root: The project's root.
        home: grove's own directory.

    Returns:
        A text that is another one after any change of these.
    """
    parts = [_nearest_grove(root)]
    for path in (
        os.path.join(root, ".grove", "config.toml"),
        os.path.join(home, "config.toml"),
        os.path.join(home, "trust.json"),
    ):
        try:
            status = os.stat(path)
            parts.append(f"{status.st_size}@{status.st_mtime_ns}")
        except OSError:
            parts.append("none")
    return " ".join([*parts, _settings_of_environment()])


def _nearest_grove(root: str) -> str:
    directory = root
    while not os.path.isdir(os.path.join(directory, ".grove")):
        parent = os.path.dirname(directory)
        if parent == directory:
            return "nowhere"
        directory = parent
    return directory


def _settings_of_environment() -> str:
    items = [
        f"{name}={value}"
        for name, value in os.environ.items()
        if name.startswith("GROVE_") and name != _NO_SETTING
    ]
    return f"{zlib.crc32(os.fsencode(chr(0).join(sorted(items)))):08x}"

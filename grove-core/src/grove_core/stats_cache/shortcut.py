"""``grove stats --json`` without the command line, the configuration and the plugins.

The full way leaves a note of what it found: where the cache and the learnings' files are, how the
settings are, and how everything looked that these depend on. As long as all of that looks the same,
only the event logs are read on, and the numbers are those that the full way would give.
"""

import json
import os
import time
from zlib import crc32

from grove_core.stats_cache.stamps import largest_size, stamp_of

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_FORMAT = 3
_PREFIX = "GROVE_"
# These say nothing that numbers depend on, or are looked at by themselves.
_IRRELEVANT = ("GROVE_HOME", "GROVE_SESSION_ID")
# What makes another backend available may lie anywhere, so a note is not believed for ever.
_BELIEVED_SECONDS = 3600


def note_file(home: "str | os.PathLike[str]", root: "str | os.PathLike[str]") -> str:
    """Name the note of a project.

    Args:
        home: grove's own directory.
        root: The project's root, without symbolic links.

    Returns:
        The path.
    """
    return os.path.join(home, "cache", f"stats-{crc32(os.fsencode(root)):08x}.json")


def variables_stamp_of(environment: "Mapping[str, str]") -> str:
    """Sum up the variables that the configuration depends on.

    Args:
        environment: The process's environment.

    Returns:
        A checksum of 32 bits of those of grove: a plugin's may hold a password.
    """
    values = sorted(
        f"{name}={text!r}"
        for name, text in environment.items()
        if name.startswith(_PREFIX) and name not in _IRRELEVANT
    )
    return f"{crc32(os.fsencode(chr(10).join(values))):08x}"


class Note:
    """What the full way has found.

    Attributes:
        root: The project's root, without symbolic links.
        version: grove's version.
        variables_stamp: A checksum of the environment variables that the configuration depends on.
        settings: The configuration files.
        markers: Files and folders whose being there makes a backend available.
        state: How settings and markers looked.
        sources: Files and folders that the learnings are read from.
        cache: The statistics cache.
        personal_log: The event log of the user's own learnings.
        passive_days: Days without being shown or used after which a learning is archived.
        immunity_hit_rate: The hit rate from which a learning stays.
        personal_passive_days: The same days for the user's own learnings.
        personal_immunity_hit_rate: The same hit rate for them.
    """

    root: str
    version: str
    variables_stamp: str
    settings: "Sequence[str]"
    markers: "Sequence[str]"
    state: str
    sources: "Sequence[str]"
    cache: str
    personal_log: str
    passive_days: int
    immunity_hit_rate: float
    personal_passive_days: int
    personal_immunity_hit_rate: float

    def __init__(self, **values: "Any") -> None:  # noqa: ANN401 - of JSON
        """Hold what was found, by the names of the attributes."""
        for name in _NAMES:
            setattr(self, name, values[name])

    def to_json(self) -> str:
        """Write it as text."""
        return json.dumps({"format": _FORMAT, **{name: getattr(self, name) for name in _NAMES}})


_NAMES = tuple(Note.__annotations__)


def state_of(settings: "Sequence[str]", markers: "Sequence[str]") -> str:
    """Look at what the choice of settings and backends depends on.

    Args:
        settings: The configuration files.
        markers: Files and folders whose being there makes a backend available.

    Returns:
        How they look.
    """
    return f"{stamp_of(settings)}\n{[os.path.exists(marker) for marker in markers]}"


def answer(home: str, environment: "Mapping[str, str]") -> str | None:
    """Answer ``grove stats --json`` in the current directory.

    Args:
        home: grove's own directory.
        environment: The process's environment.

    Returns:
        What to print; ``None`` when the full way has to be taken.
    """
    root = os.path.realpath(os.getcwd())
    try:
        path = note_file(home, root)
        age = time.time() - os.stat(path).st_mtime
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if document.pop("format") != _FORMAT or not 0 <= age < _BELIEVED_SECONDS:
            return None
        note = Note(**document)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return _count(note) if _holds(note, home, root, environment) else None


def _holds(note: Note, home: str, root: str, environment: "Mapping[str, str]") -> bool:
    from grove_core import __version__
    from grove_core.plugins.offered_commands import INSIGHTS, none_is_offered

    return (
        note.root == root
        and note.version == __version__
        and note.variables_stamp == variables_stamp_of(environment)
        and note.state == state_of(note.settings, note.markers)
        and os.path.isfile(note.cache)
        and none_is_offered(home, INSIGHTS)
    )


def _count(note: Note) -> str | None:
    import gc

    from grove_core.clock import now_utc
    from grove_core.log_files import event_files
    from grove_core.stats.decay import DecayRule
    from grove_core.stats.document import statistics_document
    from grove_core.stats.insights import insights_of
    from grove_core.stats_cache.cache import StatsCache

    gc.disable()  # the process ends before there is anything to collect
    logs = [*event_files(os.path.join(note.root, ".grove")), note.personal_log]
    cache = StatsCache(note.cache, logs, personal=note.personal_log)
    cache.refresh()
    if not cache.complete or not cache.stamp or cache.stamp != stamp_of(note.sources):
        return None
    rule = DecayRule(note.passive_days, note.immunity_hit_rate)
    personal = DecayRule(note.personal_passive_days, note.personal_immunity_hit_rate)
    statistics = cache.count(
        now_utc(),
        rule,
        personal_rule=personal,
        learnings_bytes=largest_size(note.sources),
    )
    document = statistics_document(statistics, insights_of(statistics))
    return _text_of(document)


def _text_of(document: "Mapping[str, Any]") -> str:
    """Write JSON, a line for each part; to indent all of it would take as long as the counting."""
    parts = (f'  "{name}": {json.dumps(part)}' for name, part in document.items())
    return "{\n" + ",\n".join(parts) + "\n}\n"

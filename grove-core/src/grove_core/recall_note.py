"""What the full way of showing learnings has found out, so that a hook's short way need not.

The full way looks at configuration, plugins and backends, and brings the index up to date. It
leaves a note of what came of that, and of how everything looked that this depends on. As long as
all of that looks the same, a prompt is answered from the index alone.
"""

import json
import os
import time

from grove_core import __version__
from grove_core.errors import StorageError
from grove_core.files import replace
from grove_core.plugins.environment import is_settled, look
from grove_core.stats_cache.stamps import stamp_of
from grove_core.surroundings import stamp

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

BELIEVED_SECONDS = 3600
"""What makes another backend available may lie anywhere, so a note is not believed for ever."""

_FORMAT = 4
_FILE_NAME = "recall.json"


class RecallNote:
    """What has been found out about a project.

    Attributes:
        root: The project's root.
        marker: What gave the active ticket system away; empty without one.
        surroundings: How the configuration and all that ``surroundings.stamp`` looks at were.
        markers: Files and folders of the backends that are available.
        present: Which of them were there.
        unused: Files and folders of the backends that are installed and not available.
        unused_stamp: How they looked.
        sources: Files and folders that the learnings are read from.
        servers: What each server is called whose learnings are kept here as well, or nothing where
            it does not list them; and the file that was written when it was asked last.
        index: The index of the learnings.
        cache: The statistics cache.
        personal_log: The event log of the user's own learnings.
        engine: The value of ``retrieval.engine``.
        strategy: The value of ``retrieval.strategy``.
        recency_days: The value of ``retrieval.recency_days_to_30_percent``.
        max_chars: The value of ``retrieval.max_chars``.
        max_injections: The value of ``retrieval.max_injections``.
        on_prompt: The value of ``retrieval.on_prompt``.
        max_per_prompt: The value of ``retrieval.max_per_prompt``.
        max_per_session: The value of ``retrieval.max_per_session``.
    """

    root: str
    marker: str
    surroundings: str
    markers: "Sequence[str]"
    present: "Sequence[bool]"
    unused: "Sequence[str]"
    unused_stamp: str
    sources: "Sequence[str]"
    servers: "Sequence[Sequence[str]]"
    index: str
    cache: str
    personal_log: str
    engine: str
    strategy: str
    recency_days: float
    max_chars: int
    max_injections: int
    on_prompt: bool
    max_per_prompt: int
    max_per_session: int

    def __init__(self, **values: "Any") -> None:  # noqa: ANN401 - of JSON
        """Hold what was found, by the names of the attributes."""
        for name in _NAMES:
            setattr(self, name, values[name])

    @property
    def sources_stamp(self) -> str:
        """How the learnings' files look now."""
        return stamp_of(self.sources)


_NAMES = tuple(RecallNote.__annotations__)


def leave(cache: "str | os.PathLike[str]", note: RecallNote) -> None:
    """Leave a note in the place of the one before; a fault is none.

    Args:
        cache: The directory of files derived from the project.
        note: What was found.
    """
    leave_document(os.path.join(cache, _FILE_NAME), note, {})


def leave_document(path: str, note: RecallNote, more: "dict[str, Any]") -> None:
    """Leave a note with more to it; a fault is none.

    Args:
        path: The file; its directory must be there.
        note: What was found.
        more: Further JSON values by name.
    """
    environment = look()
    if not is_settled(environment):
        return
    document = {
        "format": _FORMAT,
        "version": __version__,
        "environment": environment,
        "note": {name: getattr(note, name) for name in _NAMES},
        **more,
    }
    try:
        replace(path, json.dumps(document).encode())
    except StorageError:
        return


def read(cache: "str | os.PathLike[str]", home: str) -> RecallNote | None:
    """Read the note, if everything still looks as it says.

    Args:
        cache: The directory of files derived from the project.
        home: grove's own directory.

    Returns:
        The note; ``None`` when the full way has to be taken.
    """
    found = read_document(os.path.join(cache, _FILE_NAME), home)
    return None if found is None else found[0]


def read_document(path: str, home: str) -> "tuple[RecallNote, dict[str, Any]] | None":
    """Read a note with more to it, if everything still looks as it says.

    Args:
        path: The file.
        home: grove's own directory.

    Returns:
        The note, and everything that the file holds; ``None`` when the full way has to be taken.
    """
    try:
        age = time.time() - os.stat(path).st_mtime
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        known = (document["format"], document["version"]) == (_FORMAT, __version__)
        if not known or not 0 <= age < BELIEVED_SECONDS or document["environment"] != look():
            return None
        note = RecallNote(**document["note"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    holds = (
        note.surroundings == stamp(note.root, home, note.marker)
        and [os.path.exists(marker) for marker in note.markers] == note.present
        and stamp_of(note.unused) == note.unused_stamp
    )
    return (note, document) if holds else None

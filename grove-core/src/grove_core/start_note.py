"""What a session's start has found out, so that the next one in the same directory need not.

Beside what ``recall_note`` holds there is the state of a session that has just begun, and how all
that looked which the ticket systems were asked about. A note belongs to the directory that the
client was started in.
"""

import os
import time
import zlib

from grove_core.errors import StorageError
from grove_core.files import make_directory
from grove_core.recall_note import BELIEVED_SECONDS, RecallNote, leave_document, read_document
from grove_core.stats_cache.stamps import stamp_of

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

_FOLDER = "starts"
_NOW = '"\\u0000"'  # no text that is stored holds this character


class StartNote:
    """What has been found out about starting a session.

    Attributes:
        recall: What has been found out about showing learnings.
        cwd: The directory as the client writes it.
        real_cwd: The same, links resolved.
        project_cache: The directory of files derived from the project.
        session_id: The session that has found it out.
        session: Its state before anything was shown, as JSON; see ``template``.
        words: What ``hooks/fast.py`` reads of the session.
        watched: What it reads of touched files; ``None`` where there is nothing to watch.
        index_stamp: How the learnings' files looked.
        own_paths: Paths relative to the project where changes are not work.
        outlines: Whether there was a ``.grove`` and a ``.git`` in each directory upwards.
        sources: Files and folders that the ticket systems' answers were read from.
        sources_stamp: How they looked.
        variables: Variables of the environment that the ticket systems have asked for.
        variables_stamp: A checksum of their values, which may be secret.
    """

    recall: RecallNote
    cwd: str
    real_cwd: str
    project_cache: str
    session_id: str
    session: str
    words: str
    watched: str | None
    index_stamp: str
    own_paths: "Sequence[str]"
    outlines: "Sequence[bool]"
    sources: "Sequence[str]"
    sources_stamp: str
    variables: "Sequence[str]"
    variables_stamp: str

    def __init__(self, recall: RecallNote, **values: "Any") -> None:  # noqa: ANN401 - of JSON
        """Hold what was found, by the names of the attributes."""
        self.recall = recall
        for name in _NAMES:
            setattr(self, name, values[name])

    def session_at(self, now: str) -> str:
        """Give the state of a session that has just begun.

        Args:
            now: The time as text.

        Returns:
            JSON; whose session it is has still to be put in.
        """
        return self.session.replace(_NOW, f'"{now}"')


_NAMES = tuple(name for name in StartNote.__annotations__ if name != "recall")


def template(session: str, now: str) -> str:
    """Take the time out of a session's state.

    Args:
        session: The state as JSON.
        now: The time as text.

    Returns:
        What ``StartNote.session`` holds.
    """
    return session.replace(f'"{now}"', _NOW)


def leave(home: "str | os.PathLike[str]", note: StartNote) -> None:
    """Leave a note in the place of the one before; a fault is none.

    Args:
        home: grove's own directory.
        note: What was found.
    """
    path = _path(home, note.cwd)
    try:
        make_directory(os.path.dirname(path))
    except StorageError:
        return
    _forget_old_ones(os.path.dirname(path))
    leave_document(path, note.recall, {name: getattr(note, name) for name in _NAMES})


def read(home: str, cwd: str, session_id: str) -> StartNote | None:
    """Read the note, if everything still looks as it says.

    Args:
        home: grove's own directory.
        cwd: The directory as the client writes it.
        session_id: The session that starts: a ticket system may have files of its own for it.

    Returns:
        The note; ``None`` when the full way has to be taken.
    """
    found = read_document(_path(home, cwd), home)
    if found is None:
        return None
    try:
        note = StartNote(found[0], **{name: found[1][name] for name in _NAMES})
    except KeyError:
        return None
    return note if note.cwd == cwd and _looks_the_same(note, session_id) else None


def _looks_the_same(note: StartNote, session_id: str) -> bool:
    return (
        os.path.realpath(note.cwd) == note.real_cwd
        and outlines_of(note.real_cwd) == note.outlines
        and variables_stamp_of(note.variables, os.environ) == note.variables_stamp
        and _sources_look_the_same(note, session_id)
    )


def _sources_look_the_same(note: StartNote, session_id: str) -> bool:
    """Look at what the ticket systems read, or would read for another session."""
    expected = note.sources_stamp
    sources = []
    for path in note.sources:
        parts = [session_id if part == note.session_id else part for part in path.split("/")]
        sources.append("/".join(parts))
        if sources[-1] != path:
            expected = expected.replace(f"{path!r}: ", f"{sources[-1]!r}: ")
    return stamp_of(sources) == expected


def outlines_of(directory: str) -> list[bool]:
    """Tell what decides which project a directory belongs to.

    Args:
        directory: The directory, links resolved.

    Returns:
        Whether there is a ``.grove`` and a ``.git``, in it and in each directory above.
    """
    found: list[bool] = []
    while True:
        found += (os.path.exists(os.path.join(directory, name)) for name in (".grove", ".git"))
        parent = os.path.dirname(directory)
        if parent == directory:
            return found
        directory = parent


def variables_stamp_of(names: "Iterable[str]", environment: "Mapping[str, str]") -> str:
    """Sum up the values of some variables.

    Args:
        names: Their names.
        environment: The process's environment.

    Returns:
        A checksum of 32 bits. It does not hold the values, but whoever reads it can tell whether a
        guess at all of them is wrong; so a note can be read by the user alone.
    """
    values = "\n".join(f"{name}={environment.get(name)!r}" for name in names)
    return f"{zlib.crc32(os.fsencode(values)):08x}"


def _path(home: "str | os.PathLike[str]", cwd: str) -> str:
    return os.path.join(home, "cache", _FOLDER, f"{zlib.crc32(os.fsencode(cwd)):08x}.json")


def _forget_old_ones(folder: str) -> None:
    """Remove the notes that nobody believes any more: of directories that were left long ago."""
    oldest = time.time() - BELIEVED_SECONDS
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.stat().st_mtime < oldest:
                    os.unlink(entry.path)
    except OSError:
        return

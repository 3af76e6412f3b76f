"""The log of what each start and prompt of a session considered, and why something was shown."""

import json
import os
import time
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from grove_core.clock import format_instant, parse_instant
from grove_core.errors import StorageError
from grove_core.injection import NOTHING, VIA_FILE, Injection
from grove_core.model.session import EventType, Session
from grove_core.retrieval.choosing import SHOWN, Choice
from grove_core.retrieval.ranking import Score
from grove_core.retrieval.terms import Entry
from grove_core.stats.lines import instant
from grove_core.storage import files

if TYPE_CHECKING:
    from grove_core.project import Project

MOST_CANDIDATES: Final = 20
"""How many of the best are logged, besides those that were shown."""
NO_ROOM: Final = "no room left in max_chars"
_VERSION: Final = 3
_MOST_BYTES: Final = 512 * 1024
_FOLDER: Final = "retrievals"
_FILE_MODE: Final = 0o600
_LOCK_SECONDS: Final = 0.1


class LoggedCandidate(NamedTuple):
    """A learning that was considered, its place among all, and what became of it."""

    id: str
    rank: int
    score: Score
    reason: str


class Retrieval(NamedTuple):
    """A search for learnings to show; neither the prompt nor any word of it is kept."""

    at: str
    via: str
    floor: float
    found: int
    missing: Sequence[str]
    """What could not be asked."""
    candidates: Sequence[LoggedCandidate]
    characters: int = 0
    """How long the text was that was shown."""
    milliseconds: float = 0.0
    """Processor time of the hook until then."""


class Explanation(NamedTuple):
    """Why a learning was shown at a start, at a prompt or beside a file, or was not."""

    at: datetime
    via: str
    shown: bool
    reason: str
    rank: int | None = None
    score: Score | None = None


# --- the log --------------------------------------------------------------------------------------


def retrieval_log(cache: Path, session_id: str) -> Path:
    """Name the retrieval log of a session."""
    return cache / _FOLDER / f"{session_id}.jsonl"


def log_retrieval(
    project: "Project", session_id: str, choice: Choice, *, via: str, shown: Injection = NOTHING
) -> None:
    """Log what was considered; whatever goes wrong, what is shown is shown."""
    finder = project.finder
    milliseconds = 1000 * (time.thread_time() - project.work_started)
    missing = [one.what for one in project.problems]
    retrieval = Retrieval(
        at=format_instant(project.now),
        via=via,
        floor=finder.floor,
        found=len(choice.assessments),
        missing=missing if finder.complete else [*missing, "learnings that were not indexed yet"],
        candidates=candidates_of(choice, shown.shown),
        characters=len(shown.text),
        # Of two sets of hooks that find nothing, the lines stay the same.
        milliseconds=round(milliseconds, 1) if shown.shown else 0.0,
    )
    try:
        path = retrieval_log(project.paths.cache, session_id)
        files.make_directory(path.parent)
        _append(path, to_line(retrieval))
    except Exception as error:  # noqa: BLE001 - whatever it is, work goes on
        project.diagnostics.crash(error, session_id, "logging a retrieval")


def candidates_of(choice: Choice, shown: Collection[str]) -> list[LoggedCandidate]:
    """Take the best of what was found, and all that was shown."""
    return [
        LoggedCandidate(
            ranked.entry.id,
            rank,
            ranked.score.rounded(),
            NO_ROOM if reason == SHOWN and ranked.entry.id not in shown else reason,
        )
        for rank, (ranked, reason) in enumerate(choice.assessments, 1)
        if rank <= MOST_CANDIDATES or reason == SHOWN
    ]


def to_line(retrieval: Retrieval) -> str:
    """Write a retrieval as a line."""
    candidates = [{**one._asdict(), "score": one.score._asdict()} for one in retrieval.candidates]
    document = {"v": _VERSION, **retrieval._asdict(), "candidates": candidates}
    return json.dumps(document, separators=(",", ":")) + "\n"


def from_line(line: str) -> Retrieval | None:
    """Read a line; one that is torn or of another version is none."""
    try:
        document: dict[str, Any] = json.loads(line)
        if document.pop("v") != _VERSION:
            return None
        candidates = [
            LoggedCandidate(**{**one, "score": Score(**one["score"])})
            for one in document["candidates"]
        ]
        return Retrieval(**{**document, "candidates": candidates})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _append(path: Path, line: str) -> None:
    """Append without waiting for the disk, which takes longer than all the rest: it is derived."""
    with files.locked(path, mode=_FILE_MODE, timeout=_LOCK_SECONDS) as descriptor:
        size = os.fstat(descriptor).st_size
        # A line that was cut off by a crash must not spoil this one.
        torn = b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
        if size > _MOST_BYTES:
            lines = os.pread(descriptor, size, 0).splitlines(keepends=True)
            # The session's start and the newer half stay.
            os.ftruncate(descriptor, 0)
            os.write(descriptor, b"".join([lines[0], *lines[1 + len(lines) // 2 :]]))
        os.write(descriptor, torn + line.encode("ascii"))


def retrievals_of(cache: Path, session_id: str) -> list[Retrieval]:
    """Read the retrieval log of a session, oldest first."""
    try:
        text = files.read_text(retrieval_log(cache, session_id)) or ""
    except StorageError:
        return []
    # Where the client holds two sets of hooks, both may have found nothing.
    return [one for one in map(from_line, dict.fromkeys(text.splitlines())) if one is not None]


# --- why ------------------------------------------------------------------------------------------


def explain(
    session: Session, retrievals: Sequence[Retrieval], learning_id: str, entry: Entry | None
) -> list[Explanation]:
    """Say for each retrieval, and for the files that were touched, what became of a learning."""
    beside_files = [
        Explanation(one.timestamp, VIA_FILE, shown=True, reason=str(one.details.get("file", "")))
        for one in session.trace.events
        if one.event_type is EventType.LEARNINGS_INJECTED
        and one.details.get("via") == VIA_FILE
        and one.details.get("learnings") == learning_id
    ]
    found = [_explain(one, learning_id, entry) for one in retrievals]
    return sorted([*found, *beside_files], key=lambda one: one.at)


def _explain(retrieval: Retrieval, learning_id: str, entry: Entry | None) -> Explanation:
    at, via = parse_instant(retrieval.at), retrieval.via
    for one in retrieval.candidates:
        if one.id == learning_id:
            return Explanation(at, via, one.reason == SHOWN, one.reason, one.rank, one.score)
    logged, found = len(retrieval.candidates), retrieval.found
    if entry is not None and instant(entry.created) > at:
        reason = f"it was written later ({instant(entry.created):%Y-%m-%d %H:%M:%S} UTC)"
    elif found > logged:
        reason = f"it was not among the best {logged} of {found} that were found"
    else:
        reason = "it was not found: it had nothing in common with the work, or was not active then"
    return Explanation(at, via, shown=False, reason=reason)

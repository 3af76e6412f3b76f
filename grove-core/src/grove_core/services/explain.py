"""Why learnings were shown in a session, or were not: from the reasons that were logged then."""

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from grove_core.clock import format_instant, parse_instant
from grove_core.errors import StorageError
from grove_core.injection import VIA_FILE
from grove_core.model.session import EventType, Session
from grove_core.retrieval import choosing
from grove_core.retrieval.choosing import Choice
from grove_core.retrieval.entry import Entry
from grove_core.retrieval.log import NO_ROOM, Retrieval, bounded, candidates_of, from_line, to_line
from grove_core.retrieval.ranking import Score
from grove_core.stats.lines import instant
from grove_core.storage import files

if TYPE_CHECKING:
    from grove_core.project import Project

_FOLDER: Final = "retrievals"
_FILE_MODE: Final = 0o600
_LOCK_SECONDS: Final = 0.1


class Outcome(Enum):
    """What became of a learning."""

    SHOWN = "shown"
    SHOWN_BEFORE = "shown_before"
    BELOW_FLOOR = "below_floor"
    STRATEGY = "strategy"
    LIMIT = "limit"
    SAYS_THE_SAME = "says_the_same"
    NO_ROOM = "no_room"
    NOT_FOUND = "not_found"
    NOT_AMONG_BEST = "not_among_best"
    NOT_WRITTEN_YET = "not_written_yet"


_OUTCOMES: Final = {
    choosing.SHOWN: Outcome.SHOWN,
    choosing.SHOWN_BEFORE: Outcome.SHOWN_BEFORE,
    choosing.BELOW_FLOOR: Outcome.BELOW_FLOOR,
    choosing.NO_EXACT_MATCH: Outcome.STRATEGY,
    choosing.BEYOND_LIMIT: Outcome.LIMIT,
    NO_ROOM: Outcome.NO_ROOM,
}


class Explanation(NamedTuple):
    """Why a learning was shown at a start, at a prompt or beside a file, or was not."""

    at: datetime
    via: str
    outcome: Outcome
    reason: str
    rank: int | None = None
    score: Score | None = None
    floor: float | None = None


def retrieval_log(cache: Path, session_id: str) -> Path:
    """Name the retrieval log of a session."""
    return cache / _FOLDER / f"{session_id}.jsonl"


def log_retrieval(
    project: "Project",
    session_id: str,
    choice: Choice,
    *,
    via: str,
    limit: int,
    max_chars: int,
    shown: Sequence[str] = (),
) -> None:
    """Log what was considered; whatever goes wrong, what is shown is shown."""
    settings, finder = project.config.retrieval, project.finder
    retrieval = Retrieval(
        at=format_instant(project.now),
        via=via,
        strategy=settings.strategy.value,
        limit=limit,
        floor=finder.floor,
        max_chars=max_chars,
        engine=finder.scored_by,
        complete=finder.complete,
        failed=[one.what for one in project.problems],
        found=len(choice.assessments),
        candidates=candidates_of(choice, shown),
    )
    try:
        path = retrieval_log(project.paths.cache, session_id)
        files.make_directory(path.parent)
        _append(path, to_line(retrieval))
    except Exception as error:  # noqa: BLE001 - whatever it is, work goes on
        project.diagnostics.crash(error, session_id, "logging a retrieval")


def _append(path: Path, line: str) -> None:
    """Append without waiting for the disk, which takes longer than all the rest: it is derived."""
    with files.locked(path, mode=_FILE_MODE, timeout=_LOCK_SECONDS) as descriptor:
        content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
        kept = bounded(content)
        data = line.encode("ascii")
        if kept != content:
            os.ftruncate(descriptor, 0)
            data = kept + data
        elif content and not content.endswith(b"\n"):
            data = b"\n" + data  # a line that was cut off by a crash must not spoil this one
        os.write(descriptor, data)


def retrievals_of(cache: Path, session_id: str) -> list[Retrieval]:
    """Read the retrieval log of a session, oldest first."""
    try:
        text = files.read_text(retrieval_log(cache, session_id)) or ""
    except StorageError:
        return []
    # Where the client holds two sets of hooks, both may have found nothing.
    return [one for one in map(from_line, dict.fromkeys(text.splitlines())) if one is not None]


def explain(
    session: Session, retrievals: Sequence[Retrieval], learning_id: str, entry: Entry | None
) -> list[Explanation]:
    """Say for each retrieval, and for the files that were touched, what became of a learning."""
    found = [_explain(one, learning_id, entry) for one in retrievals]
    return sorted([*found, *_beside_files(session, learning_id)], key=lambda one: one.at)


def _explain(retrieval: Retrieval, learning_id: str, entry: Entry | None) -> Explanation:
    at, via = parse_instant(retrieval.at), retrieval.via
    for one in retrieval.candidates:
        if one.id == learning_id:
            # The only reason with a name in it says which learning says the same.
            outcome, reason = _OUTCOMES.get(one.reason, Outcome.SAYS_THE_SAME), one.reason
            if outcome is Outcome.BELOW_FLOOR:
                threshold = f"the threshold {retrieval.floor:g}"
                reason = f"relevance {one.score.relevance:.5f} is below {threshold}"
            return Explanation(at, via, outcome, reason, one.rank, one.score, retrieval.floor)
    if entry is not None and instant(entry.created) > at:
        reason = f"it was written later ({instant(entry.created):%Y-%m-%d %H:%M:%S} UTC)"
        return Explanation(at, via, Outcome.NOT_WRITTEN_YET, reason)
    logged, found = len(retrieval.candidates), retrieval.found
    if found > logged:
        reason = f"it was not among the best {logged} of {found} that were found"
        return Explanation(at, via, Outcome.NOT_AMONG_BEST, reason)
    reason = "it was not found: it had nothing in common with the work, or was not active then"
    return Explanation(at, via, Outcome.NOT_FOUND, reason)


def _beside_files(session: Session, learning_id: str) -> Iterator[Explanation]:
    for one in session.trace.events:
        told = one.details
        if (
            one.event_type is EventType.LEARNINGS_INJECTED
            and told.get("via") == VIA_FILE
            and told.get("learnings") == learning_id
        ):
            reason = f"shown when {told.get('file', 'a file that it names')} was touched"
            yield Explanation(one.timestamp, VIA_FILE, Outcome.SHOWN, reason)

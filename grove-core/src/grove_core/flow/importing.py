"""``grove import``: from files of other programs to stored learnings and events."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from grove_core.errors import BackendError, LearningNotFoundError, StorageError
from grove_core.flow.import_events import EventsOutcome, import_events
from grove_core.flow.import_judging import ImportJudge, ImportState, Outcome, own_ids
from grove_core.flow.import_sources import ImportFormat, Source, find_sources, learnings_beside
from grove_core.flow.import_superseding import mark_superseded
from grove_core.flow.storing import alone, deliver_outbox, store_learning
from grove_core.interchange.entries import Entry, Origin, Reading, left_out
from grove_core.interchange.jsonl import read_jsonl
from grove_core.interchange.notes import read_notes
from grove_core.interchange.older_grove import read_older_learnings
from grove_core.interchange.recognising import why_not_read_as
from grove_core.interchange.solutions import read_solution
from grove_core.model.events import Restored
from grove_core.model.learning import Learning, LearningStatus, Scope
from grove_core.model.memory import ReceiptStatus
from grove_core.model.value import Value
from grove_core.reflection.schema import read_enum
from grove_core.workspace import Workspace

Progress = Callable[[str, int, int], None]
"""Is told what is being done, with how many entries it is done, and how many there are."""

_LOCK_SECONDS: Final = 30.0
_SLOW_LOCK_SECONDS: Final = 300.0
_CHUNK: Final = 50
# Younger ones need no word in the log to be kept from decaying at once.
_OLD: Final = timedelta(days=1)
_NOTHING_OLDER: Final = (
    "no learning of the older grove stands in it; `grove import notes` reads other markdown"
)


@frozen(kw_only=True, eq=False, repr=False)
class ImportReport(Value):
    """What became of an import."""

    outcomes: tuple[Outcome, ...]
    events: EventsOutcome | None = None

    def count(self, state: ImportState) -> int:
        """Tell of how many entries something became."""
        return sum(one.state is state for one in self.outcomes)


def import_from(
    workspace: Workspace,
    form: ImportFormat,
    path: Path,
    *,
    scope: Scope,
    dry_run: bool,
    progress: Progress,
) -> ImportReport:
    """Import a file or a folder; what is there already is left as it is."""
    sources = list(find_sources(form, path, workspace.root))
    readings = [(one, _read(form, one)) for one in sources if not one.is_log]
    entries = [entry for _, reading in readings for entry in reading.entries]
    judge = ImportJudge(workspace, own_ids(entries), scope)
    judged = list(_judged(judge, readings, len(entries), progress))
    outcomes = judged if dry_run else _stored(workspace, judged, form, progress)
    outcomes = mark_superseded(workspace, outcomes, progress, dry_run=dry_run)
    logs = [one for one in sources if one.is_log]
    beside = [] if path.is_dir() else learnings_beside(logs, workspace.root)
    entries += [entry for one in beside for entry in _read(form, one).entries]
    events = None
    if logs:
        events = import_events(workspace, logs, _personal_ids(entries, scope), dry_run=dry_run)
    if not dry_run:
        deliver_outbox(workspace)
    return ImportReport(outcomes=tuple(outcomes), events=events)


def _personal_ids(entries: Iterable[Entry], scope: Scope) -> dict[str, bool]:
    """Tell of the learnings that a source names whether they are personal."""
    return {
        one.learning_id: (read_enum(Scope, one.fields.get("scope")) or scope) is Scope.PERSONAL
        for one in entries
        if one.learning_id is not None
    }


def _read(form: ImportFormat, source: Source) -> Reading:
    if source.problem is not None:
        return Reading(left_out=(source.problem,))
    mistaken = why_not_read_as(form.value, source.text)
    if mistaken:
        return Reading(left_out=(left_out(1, source.path.name, mistaken, is_fault=True),))
    readers: dict[ImportFormat, Callable[[str, Origin], Reading]] = {
        ImportFormat.OLDER_GROVE: lambda text, _: read_older_learnings(text),
        ImportFormat.SOLUTIONS: read_solution,
        ImportFormat.NOTES: read_notes,
        ImportFormat.JSONL: read_jsonl,
    }
    reading = readers[form](source.text, source.origin)
    if (
        form is ImportFormat.OLDER_GROVE
        and source.text.strip()
        and not (reading.entries or reading.left_out)
    ):
        return Reading(left_out=(left_out(1, source.path.name, _NOTHING_OLDER),))
    return reading


def _judged(
    judge: ImportJudge,
    readings: Iterable[tuple[Source, Reading]],
    total: int,
    progress: Progress,
) -> Iterator[Outcome]:
    done = 0
    for source, reading in readings:
        path = source.origin.path or str(source.path)
        outcomes = [judge.left_out(path, one) for one in reading.left_out]
        for entry in reading.entries:
            outcomes.append(judge.judge(path, entry))
            done += 1
            progress("checked", done, total)
        yield from sorted(outcomes, key=lambda one: one.line)


def _stored(
    workspace: Workspace, judged: Sequence[Outcome], form: ImportFormat, progress: Progress
) -> list[Outcome]:
    """Store what may be stored, some at a time, so that others need not wait for the end."""
    outcomes = list(judged)
    places = [at for at, one in enumerate(outcomes) if one.learning is not None]
    for start in range(0, len(places), _CHUNK):
        chunk = places[start : start + _CHUNK]
        learnings = [one for at in chunk if (one := outcomes[at].learning) is not None]
        # First of all, should the process end in between: an event of nothing does no harm.
        _keep_from_decay(workspace, learnings, form)
        for place, learning in zip(chunk, learnings, strict=True):
            try:
                outcomes[place] = _store(workspace, outcomes[place], learning)
            except StorageError as error:
                return _given_up(outcomes, places[places.index(place) :], str(error))
        progress("stored", min(start + _CHUNK, len(places)), len(places))
    return outcomes


def _store(workspace: Workspace, outcome: Outcome, learning: Learning) -> Outcome:
    # Others, such as a reflection, have their turn between two learnings.
    with alone(workspace, _SLOW_LOCK_SECONDS if workspace.library.is_slow else _LOCK_SECONDS):
        kept = store_learning(workspace, learning)
        notes = (*outcome.notes, *kept.notes, *_with_status(workspace, learning))
    receipt = kept.receipt
    if receipt.status is ReceiptStatus.DUPLICATE:
        return evolve(
            outcome, state=ImportState.PRESENT, existing_id=learning.id, backend=receipt.backend
        )
    workspace.plugins.learning_written(learning, receipt)
    waits = receipt.status is ReceiptStatus.QUEUED
    return evolve(outcome, backend=receipt.backend, waits=waits, notes=notes)


def _with_status(workspace: Workspace, learning: Learning) -> list[str]:
    """See to it that what is put away is put away in its backend as well."""
    if learning.status is LearningStatus.ACTIVE:
        return []
    found = workspace.library.get(learning.id)
    if found is None or found.hit.learning.status is learning.status:
        return []
    try:
        workspace.library.set_status(learning.id, learning.status, "imported")
    except (BackendError, LearningNotFoundError) as error:
        return [f"it is {found.hit.learning.status.value} and not {learning.status.value}: {error}"]
    return []


def _keep_from_decay(
    workspace: Workspace, learnings: Sequence[Learning], form: ImportFormat
) -> None:
    """Let old learnings begin anew, or the next session would archive what nobody was shown yet."""
    old = [
        one
        for one in learnings
        if one.status is LearningStatus.ACTIVE and workspace.now - one.timestamp > _OLD
    ]
    for personal in (False, True):
        workspace.log_events(
            [
                Restored(ts=workspace.now, learning_id=one.id, reason=f"imported from {form.value}")
                for one in old
                if (one.scope is Scope.PERSONAL) is personal
            ],
            personal=personal,
        )


def _given_up(outcomes: list[Outcome], places: Sequence[int], why: str) -> list[Outcome]:
    for place in places:
        outcomes[place] = evolve(
            outcomes[place],
            state=ImportState.REFUSED,
            reason=f"not stored: {why}; run the import again to finish it",
        )
    return outcomes

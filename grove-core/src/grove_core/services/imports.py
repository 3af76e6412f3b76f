"""``grove import``: from files of other programs to stored learnings."""

import os
from base64 import b32encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Final

from attrs import evolve

from grove_core.errors import BackendError, GroveError, LearningNotFoundError, StorageError
from grove_core.identifiers import is_session_id
from grove_core.interchange.entries import Entry, LeftOut, Origin, Reading, left_out
from grove_core.interchange.jsonl import read_jsonl
from grove_core.interchange.markdown import read_document
from grove_core.interchange.older_grove import read_older_learnings
from grove_core.model.events import Restored
from grove_core.model.learning import (
    SUMMARY_LENGTH_MAX,
    Candidate,
    Learning,
    LearningStatus,
    Rejection,
    Scope,
    Stage,
)
from grove_core.model.memory import Capability, ReceiptStatus
from grove_core.model.value import Value, frozen
from grove_core.plugins.descriptors import ReflectionContext
from grove_core.project import Project
from grove_core.reflection.candidates import read_candidate, readable_parts
from grove_core.reflection.pipeline import WITHHELD, candidate_from, fingerprint, learning_from
from grove_core.reflection.secrets import find_leak, objection_to
from grove_core.services.candidates import plugins_check
from grove_core.services.feedback import correct, log_corrections
from grove_core.services.storing import alone, deliver_outbox, store_learning, why_not_stored
from grove_core.similarity import SimilarityIndex, normalised_summary
from grove_core.storage import files
from grove_core.text import shorten

Progress = Callable[[str, int], Callable[[], None]]
"""Is called with what is counted and how many there are; what it gives is called after each."""

IMPORT_SESSION: Final = "import"
"""The session of imported learnings whose source names none."""
_LOCK_SECONDS: Final = 30.0
_SLOW_LOCK_SECONDS: Final = 300.0
_SHOWN: Final = 80
# As far as clocks of other machines may be ahead.
_CLOCK_SKEW: Final = timedelta(days=1)
_OLDER_FILES: Final = ("learnings.md", "personal-learnings.md")


class ImportFormat(Enum):
    """What can be imported."""

    OLDER_GROVE = "older-grove"
    MARKDOWN = "markdown"
    JSONL = "jsonl"


class ImportState(Enum):
    """What became of an entry."""

    IMPORTED = "imported"
    PRESENT = "present"
    DUPLICATE = "duplicate"
    REFUSED = "refused"
    LEFT_OUT = "left_out"


@frozen(kw_only=True, eq=False, repr=False)
class Outcome(Value):
    """An entry and what became of it."""

    path: str
    line: int
    state: ImportState
    summary: str
    learning: Learning | None = None
    existing_id: str | None = None
    stage: Stage | None = None
    field: str | None = None
    reason: str = ""
    backend: str = ""
    waits: bool = False
    notes: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class ImportReport(Value):
    """What became of an import."""

    outcomes: tuple[Outcome, ...]

    def count(self, state: ImportState) -> int:
        """Count the entries that ended in a state."""
        return sum(one.state is state for one in self.outcomes)


def import_from(
    project: Project,
    form: ImportFormat,
    path: Path,
    *,
    scope: Scope,
    dry_run: bool,
    progress: Progress,
) -> ImportReport:
    """Import a file or a folder; what is there already is left as it is."""
    readings = [_read(form, one, project.root) for one in _files_of(form, path)]
    advance = progress("entries", sum(len(reading.entries) for _, reading in readings))
    importer = _Importer(project, [one for _, reading in readings for one in reading.entries])
    outcomes: list[Outcome] = []
    for name, reading in readings:
        found = [importer.leave_out(name, one) for one in reading.left_out]
        for entry in reading.entries:
            one = importer.evaluate(name, entry, scope)
            found.append(one if dry_run else _store(project, one, form))
            advance()
        outcomes += sorted(found, key=lambda one: one.line)
    outcomes = _supersede(project, outcomes, dry_run=dry_run)
    if not dry_run:
        deliver_outbox(project)
    return ImportReport(outcomes=tuple(outcomes))


def _files_of(form: ImportFormat, path: Path) -> Sequence[Path]:
    """List the files of an import; links within a folder are not followed."""
    if not path.is_dir():
        return [path]
    if form is ImportFormat.JSONL:
        raise GroveError(f"{path} is a folder; give a file of JSON Lines")
    if form is ImportFormat.OLDER_GROVE:
        folder = path / ".grove" if (path / ".grove").is_dir() else path
        found = [folder / name for name in _OLDER_FILES]
    else:
        found = [one for one in sorted(path.rglob("*.md")) if not _is_hidden(one, path)]
    found = [one for one in found if one.exists() and not one.is_symlink()]
    if not found:
        wanted = ", ".join(_OLDER_FILES) if form is ImportFormat.OLDER_GROVE else "*.md"
        raise GroveError(f"{path} holds nothing to import ({wanted})")
    return found


def _is_hidden(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    return any(part.startswith((".", "node_modules")) for part in parts)


def _read(form: ImportFormat, path: Path, root: Path) -> tuple[str, Reading]:
    """Read a file, which is never changed; return how it is called and what it holds."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - `..` is resolved as text, without links
    inside = absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else ""
    origin = Origin(name=path.name, folder=absolute.parent.name, path=inside)
    line = 1
    try:
        text = (files.read_bytes(path) or b"").decode("utf-8-sig").replace("\r\n", "\n")
        reason = "it is no text" if "\0" in text else ""
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        reason = "it is not UTF-8; save it as UTF-8"
    except StorageError as error:
        reason = str(error)
    if reason:
        reading = Reading(left_out=(left_out(line, path.name, reason, is_fault=True),))
    elif form is ImportFormat.OLDER_GROVE:
        reading = read_older_learnings(text)
    else:
        read = read_document if form is ImportFormat.MARKDOWN else read_jsonl
        reading = read(text, origin)
    return inside or str(path), reading


class _Importer:
    """Sends entries through the stages of a reflection but its write gate, and remembers them."""

    def __init__(self, project: Project, entries: Sequence[Entry]) -> None:
        self._project = project
        own = {one.learning_id for one in entries}
        stored = (one.hit.learning for one in project.library.iterate())
        self._summaries: dict[str, str] = {}
        self._by_content: dict[str, str] = {}
        self._there, self._imported = SimilarityIndex(), SimilarityIndex()
        for learning in stored:
            self._summaries[learning.id] = learning.summary
            self._by_content[fingerprint(candidate_from(learning))] = learning.id
            if learning.session_id == IMPORT_SESSION:
                # Found again although somebody has edited it.
                self._by_content.setdefault(learning.id.rpartition("_")[2], learning.id)
            # What an interrupted import has stored already must not refuse the rest of it.
            if learning.status is LearningStatus.ACTIVE and learning.id not in own:
                self._there.add(learning.id, learning.summary, learning.detail)
        # A backend may have a learning although it cannot list what it has.
        self._asks_by_id = not all(
            Capability.ITERATE in one.backend.capabilities
            for one in project.library.project_backends
        )
        context = ReflectionContext(
            root=project.root, session_id=IMPORT_SESSION, ticket=None, now=project.now
        )
        self._plugins_check = plugins_check(project, context)

    def leave_out(self, path: str, piece: LeftOut) -> Outcome:
        """Report a piece that is no entry."""
        leak = find_leak(piece.title, self._project.config.secrets.allow)
        return Outcome(
            path=path,
            line=piece.line,
            state=ImportState.REFUSED if piece.is_fault else ImportState.LEFT_OUT,
            summary=shorten(piece.title, _SHOWN) if leak is None else WITHHELD,
            reason=piece.reason,
        )

    def evaluate(self, path: str, entry: Entry, scope: Scope) -> Outcome:
        """Return what is to become of an entry; a scope is for one that names none."""
        tell = partial(Outcome, path=path, line=entry.line)
        leak = self._leak(entry)
        if leak is not None:
            return _refused(partial(tell, summary=WITHHELD), Stage.SECRET, leak)
        root = self._project.root
        answer = read_candidate({"scope": scope.value, **entry.fields}, root=root)
        if isinstance(answer, Rejection):
            said, _ = readable_parts(dict(entry.fields))
            shown = shorten(said or "(no summary)", SUMMARY_LENGTH_MAX)
            return _refused(partial(tell, summary=shown), Stage.SCHEMA, answer)
        candidate = answer.candidate
        tell = partial(tell, summary=candidate.summary, notes=(*entry.notes, *answer.notes))
        found = self._present(entry, candidate, tell) or self._duplicate(entry, candidate, tell)
        if found is not None:
            return found
        if (objection := self._plugins_check(candidate)) is not None:
            return _refused(tell, Stage.PLUGIN, objection)
        if (reason := why_not_stored(self._project, candidate.scope)) is not None:
            return _refused(tell, Stage.ROUTING, Rejection(reason=reason, field="scope"))
        learning = self._learning(entry, candidate)
        self._summaries[learning.id] = learning.summary
        self._by_content[fingerprint(candidate)] = learning.id
        if learning.status is LearningStatus.ACTIVE:
            self._imported.add(learning.id, learning.summary, learning.detail)
        return tell(state=ImportState.IMPORTED, learning=learning)

    def _leak(self, entry: Entry) -> Rejection | None:
        allowed = self._project.config.secrets.allow
        objection = objection_to(dict(entry.fields), allowed)
        if objection is not None:
            return objection
        beside = {
            "id": entry.learning_id,
            "ticket_id": entry.ticket_id,
            "session_id": entry.session_id,
            # A note may quote what the source has besides.
            "an unknown field": list(entry.notes),
        }
        leaks = (find_leak(text, allowed, name) for name, text in beside.items())
        leak = next(filter(None, leaks), None)
        return None if leak is None else Rejection(reason=leak.text, field=leak.field)

    def _present(
        self, entry: Entry, candidate: Candidate, tell: Callable[..., Outcome]
    ) -> Outcome | None:
        """Find the same learning from an earlier import, or another one that has its id."""
        existing = entry.learning_id
        if existing is None:
            keys = (fingerprint(candidate), _content_key(candidate))
            existing = next((one for key in keys if (one := self._by_content.get(key))), None)
            return tell(state=ImportState.PRESENT, existing_id=existing) if existing else None
        summary = self._summary_of(existing)
        if summary is None:
            return None
        if normalised_summary(summary) == normalised_summary(candidate.summary):
            return tell(state=ImportState.PRESENT, existing_id=existing)
        reason = (
            f'{existing} is another learning here ("{summary}"): take the id out of the file to'
            " import it under a new one"
        )
        return tell(state=ImportState.REFUSED, field="id", existing_id=existing, reason=reason)

    def _summary_of(self, learning_id: str) -> str | None:
        if learning_id not in self._summaries and self._asks_by_id:
            found = self._project.library.get(learning_id)
            if found is not None:
                self._summaries[learning_id] = found.hit.learning.summary
        return self._summaries.get(learning_id)

    def _duplicate(
        self, entry: Entry, candidate: Candidate, tell: Callable[..., Outcome]
    ) -> Outcome | None:
        """Find a learning that says the same; of archived ones, history keeps every one."""
        if entry.status is not LearningStatus.ACTIVE:
            return None
        compared = (candidate.summary, candidate.detail, candidate.supersedes)
        found = self._there.find(*compared)
        if found is None and entry.learning_id is None:
            # Those that have an id have been compared with each other when they were written.
            found = self._imported.find(*compared)
        if found is None:
            return None
        known, _ = found
        reason = f'{known.key} says it already ("{known.summary}")'
        return tell(state=ImportState.DUPLICATE, existing_id=known.key, reason=reason)

    def _learning(self, entry: Entry, candidate: Candidate) -> Learning:
        written = entry.timestamp or self._project.now
        if entry.learning_id is None and written - self._project.now > _CLOCK_SKEW:
            written = self._project.now
        session = entry.session_id
        learning = learning_from(
            candidate,
            learning_id=entry.learning_id or self._new_id(candidate, written),
            session_id=session if session and is_session_id(session) else IMPORT_SESSION,
            ticket_id=entry.ticket_id,
            now=written,
        )
        return evolve(learning, status=entry.status)

    def _new_id(self, candidate: Candidate, written: datetime) -> str:
        """Make an id from the content; of thousands of learnings, two may have the same one."""
        ids = (_derived_id(candidate, written, attempt) for attempt in count())
        return next(one for one in ids if self._summary_of(one) is None)


def _refused(tell: Callable[..., Outcome], stage: Stage, objection: Rejection) -> Outcome:
    said = {"field": objection.field, "reason": objection.reason}
    return tell(state=ImportState.REFUSED, stage=stage, **said)


def _store(project: Project, outcome: Outcome, form: ImportFormat) -> Outcome:
    learning = outcome.learning
    if learning is None:
        return outcome
    # First of all, should the process end in between: an event of nothing does no harm.
    _keep_from_decay(project, learning, form)
    try:
        # Others, such as a reflection, have their turn between two learnings.
        with alone(project, _SLOW_LOCK_SECONDS if project.library.is_slow else _LOCK_SECONDS):
            kept = store_learning(project, learning)
            notes = (*outcome.notes, *kept.notes, *_with_status(project, learning))
    except StorageError as error:
        reason = f"not stored: {error}; run the import again to finish it"
        return evolve(outcome, state=ImportState.REFUSED, reason=reason)
    receipt = kept.receipt
    if receipt.status is ReceiptStatus.DUPLICATE:
        return evolve(
            outcome, state=ImportState.PRESENT, existing_id=learning.id, backend=receipt.backend
        )
    project.plugins.learning_written(learning, receipt)
    waits = receipt.status is ReceiptStatus.QUEUED
    return evolve(outcome, backend=receipt.backend, waits=waits, notes=notes)


def _with_status(project: Project, learning: Learning) -> list[str]:
    """Give what is archived or superseded that status in its backend as well."""
    if learning.status is LearningStatus.ACTIVE:
        return []
    found = project.library.get(learning.id)
    if found is None or found.hit.learning.status is learning.status:
        return []
    try:
        project.library.set_status(learning.id, learning.status, "imported")
    except (BackendError, LearningNotFoundError) as error:
        return [f"it is {found.hit.learning.status.value} and not {learning.status.value}: {error}"]
    return []


def _keep_from_decay(project: Project, learning: Learning, form: ImportFormat) -> None:
    """Start the decay of an old learning now, or the next session would archive it unseen."""
    if learning.status is LearningStatus.ACTIVE and project.now - learning.timestamp > _CLOCK_SKEW:
        reason = f"imported from {form.value}"
        event = Restored(ts=project.now, learning_id=learning.id, reason=reason)
        project.log_events([event], personal=learning.scope is Scope.PERSONAL)


def _supersede(project: Project, outcomes: Sequence[Outcome], *, dry_run: bool) -> list[Outcome]:
    """Mark what imported learnings correct, also where an earlier import was interrupted."""
    stored = {one.hit.learning.id: one.hit.learning for one in project.library.iterate()}
    known = {one.learning.id: one.learning for one in outcomes if one.learning} | stored
    touched = {one.learning.id if one.learning else one.existing_id for one in outcomes}
    successors: dict[str, str] = {}
    notes: dict[str, list[str]] = {}
    for new in sorted(known.values(), key=lambda one: (one.timestamp, one.id), reverse=True):
        for old in new.supersedes:
            if _leads_to(new.id, old, successors):
                continue
            successors.setdefault(old, new.id)
            is_done = old in known and known[old].status is LearningStatus.SUPERSEDED
            if is_done or not {new.id, old} & touched:
                continue
            said = notes.setdefault(new.id if new.id in touched else old, [])
            if dry_run:
                said.append(f"{old} would be superseded by {new.id}")
                continue
            changed, warnings = correct(project, (), {new.id: evolve(new, supersedes=(old,))})
            log_corrections(project, IMPORT_SESSION, changed)
            said += [*(f"{one} is now superseded by {new.id}" for one in changed), *warnings]
    return [
        evolve(one, notes=(*one.notes, *notes.get(one.learning.id, ())))
        if one.learning and one.state is ImportState.IMPORTED
        else one
        for one in outcomes
    ]


def _leads_to(start: str, goal: str, successors: Mapping[str, str]) -> bool:
    while start != goal and start in successors:
        start = successors[start]
    return start == goal


def _content_key(candidate: Candidate, attempt: int = 0) -> str:
    """Digest what a candidate says, so that it is the same learning each time."""
    digest = bytes.fromhex(fingerprint(candidate))
    if attempt:
        digest = sha256(digest + str(attempt).encode()).digest()
    return b32encode(digest[:5]).decode("ascii").lower()[:6]


def _derived_id(candidate: Candidate, written: datetime, attempt: int) -> str:
    day = written.astimezone(UTC)
    return f"cl_{day.year:04}{day:%m%d}_{_content_key(candidate, attempt)}"

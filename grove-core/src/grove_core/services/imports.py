"""``grove import``: from files of other programs to stored learnings."""

import os
from base64 import b32encode
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from grove_core.model.learning import Candidate, Learning, LearningStatus, Rejection, Scope, Stage
from grove_core.model.memory import Capability, ReceiptStatus
from grove_core.model.value import Value, frozen
from grove_core.plugins.descriptors import ReflectionContext
from grove_core.reflection.candidates import read_candidate
from grove_core.reflection.limits import SUMMARY_LENGTH_MAX
from grove_core.reflection.pipeline import WITHHELD, candidate_from, fingerprint, learning_from
from grove_core.reflection.secrets import find_leak, objection_to
from grove_core.services.candidates import plugins_check
from grove_core.services.feedback import correct, log_corrections
from grove_core.services.storing import alone, deliver_outbox, store_learning, why_not_stored
from grove_core.similarity import SimilarityIndex, normalised_summary
from grove_core.storage import files
from grove_core.text import clean_line, shorten
from grove_core.workspace import Workspace

Progress = Callable[[int], None]
"""Is called after each entry with the number of all."""

IMPORT_SESSION: Final = "import"
"""The session of imported learnings whose source names none."""
FILES_MAX: Final = 10_000
BYTES_MAX: Final = 64 * 1024 * 1024
_LOCK_SECONDS: Final = 30.0
_SLOW_LOCK_SECONDS: Final = 300.0
_SHOWN: Final = 80
# As far as clocks of other machines may be ahead.
_CLOCK_SKEW: Final = timedelta(days=1)
_OLDER_FILES: Final = ("learnings.md", "personal-learnings.md")
_LINK: Final = "a symbolic link, which is not followed; import what it leads to by itself"


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


@frozen(kw_only=True, eq=False, repr=False)
class _Source(Value):
    """A file to import: its text, or why it has none."""

    origin: Origin
    path: str
    text: str = ""
    problem: LeftOut | None = None


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
    sources = _sources(form, path, workspace.root)
    readings = [(one, _reading(form, one)) for one in sources]
    total = sum(len(reading.entries) for _, reading in readings)
    importer = _Importer(workspace, readings, scope)
    outcomes: list[Outcome] = []
    for source, reading in readings:
        found = [importer.leave_out(source.path, one) for one in reading.left_out]
        for entry in reading.entries:
            one = importer.evaluate(source.path, entry)
            found.append(one if dry_run else _store(workspace, one, form))
            progress(total)
        outcomes += sorted(found, key=lambda one: one.line)
    outcomes = _supersede(workspace, outcomes, dry_run=dry_run)
    if not dry_run:
        deliver_outbox(workspace)
    return ImportReport(outcomes=tuple(outcomes))


def _sources(form: ImportFormat, path: Path, root: Path) -> Iterator[_Source]:
    """Read the files of an import one by one; they are never changed."""
    if not path.is_dir():
        yield _read(path, root)
        return
    if form is ImportFormat.JSONL:
        raise GroveError(f"{path} is a folder; give a file of JSON Lines")
    is_older = form is ImportFormat.OLDER_GROVE
    found = _older_files(path) if is_older else _documents(path)
    if not found:
        wanted = ", ".join(_OLDER_FILES) if is_older else "*.md"
        raise GroveError(f"{path} holds nothing to import ({wanted})")
    if len(found) > FILES_MAX:
        raise GroveError(f"{path} holds more than {FILES_MAX} files; import its folders one by one")
    for one in found:
        yield _unread(one, root, _LINK) if one.is_symlink() else _read(one, root)


def _older_files(folder: Path) -> Sequence[Path]:
    inner = folder / ".grove"
    if inner.is_symlink():
        return [inner]  # named as one that is not followed
    base = inner if inner.is_dir() else folder
    return [path for name in _OLDER_FILES if os.path.lexists(path := base / name)]


def _documents(folder: Path) -> Sequence[Path]:
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "node_modules")))
        paths = [Path(place, name) for name in (*folders, *sorted(names))]
        found += [
            one
            for one in paths
            if one.is_symlink() or (one.suffix.lower() == ".md" and not one.is_dir())
        ]
        if len(found) > FILES_MAX:
            break
    return [one for one in found if not one.name.startswith(".")]


def _read(path: Path, root: Path) -> _Source:
    try:
        if path.stat().st_size > BYTES_MAX:
            limit = BYTES_MAX // 1024 // 1024
            return _unread(path, root, f"it has more than {limit} MB; divide it")
        text = (files.read_bytes(path) or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return _unread(path, root, "it is not UTF-8; save it as UTF-8", line)
    except (OSError, StorageError) as error:
        return _unread(path, root, str(error))
    if "\0" in text:
        return _unread(path, root, "it is no text")
    origin = _origin(path, root)
    return _Source(origin=origin, path=origin.path or str(path), text=text.replace("\r\n", "\n"))


def _unread(path: Path, root: Path, reason: str, line: int = 1) -> _Source:
    origin = _origin(path, root)
    problem = left_out(line, path.name, reason, is_fault=True)
    return _Source(origin=origin, path=origin.path or str(path), problem=problem)


def _origin(path: Path, root: Path) -> Origin:
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - `..` is resolved as text, without links
    inside = absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else ""
    return Origin(name=path.name, folder=absolute.parent.name, path=inside)


def _reading(form: ImportFormat, source: _Source) -> Reading:
    if source.problem is not None:
        return Reading(left_out=(source.problem,))
    if form is ImportFormat.MARKDOWN:
        return read_document(source.text, source.origin)
    if form is ImportFormat.JSONL:
        return read_jsonl(source.text, source.origin)
    return read_older_learnings(source.text)


class _Importer:
    """Sends entries through the stages of a reflection but its write gate, and remembers them."""

    def __init__(
        self, workspace: Workspace, readings: Sequence[tuple[_Source, Reading]], scope: Scope
    ) -> None:
        self._workspace = workspace
        self._scope = scope
        own = {one.learning_id for _, reading in readings for one in reading.entries}
        waiting = [entry.learning for entry in workspace.outbox.entries(workspace.root)]
        stored = (one.hit.learning for one in workspace.library.iterate())
        self._summaries: dict[str, str] = {}
        self._by_content: dict[str, str] = {}
        self._there, self._imported = SimilarityIndex(), SimilarityIndex()
        for learning in (*stored, *waiting):
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
            for one in workspace.library.project_backends
        )
        context = ReflectionContext(
            root=workspace.root, session_id=IMPORT_SESSION, ticket=None, now=workspace.now
        )
        self._plugins_check = plugins_check(workspace, context)

    def leave_out(self, path: str, piece: LeftOut) -> Outcome:
        """Report a piece that is no entry."""
        leak = find_leak(piece.title, self._workspace.config.secrets.allow)
        return Outcome(
            path=path,
            line=piece.line,
            state=ImportState.REFUSED if piece.is_fault else ImportState.LEFT_OUT,
            summary=shorten(piece.title, _SHOWN) if leak is None else WITHHELD,
            reason=piece.reason,
        )

    def evaluate(self, path: str, entry: Entry) -> Outcome:
        """Return what is to become of an entry."""
        tell = partial(Outcome, path=path, line=entry.line)
        leak = self._leak(entry)
        if leak is not None:
            return _refused(tell, WITHHELD, Stage.SECRET, leak)
        fields = {"scope": self._scope.value, **entry.fields}
        answer = read_candidate(fields, root=self._workspace.root)
        if isinstance(answer, Rejection):
            said = entry.fields.get("summary")
            shown = clean_line(said, SUMMARY_LENGTH_MAX) if isinstance(said, str) else ""
            return _refused(tell, shown or "(no summary)", Stage.SCHEMA, answer)
        candidate = answer.candidate
        tell = partial(tell, summary=candidate.summary, notes=(*entry.notes, *answer.notes))
        found = self._present(entry, candidate, tell) or self._duplicate(entry, candidate, tell)
        if found is not None:
            return found
        for stage, objection in (
            (Stage.PLUGIN, self._plugins_check(candidate)),
            (Stage.ROUTING, self._not_routed(candidate.scope)),
        ):
            if objection is not None:
                return _refused(tell, candidate.summary, stage, objection)
        learning = self._learning(entry, candidate)
        self._summaries[learning.id] = learning.summary
        self._by_content[fingerprint(candidate)] = learning.id
        if learning.status is LearningStatus.ACTIVE:
            self._imported.add(learning.id, learning.summary, learning.detail)
        return tell(state=ImportState.IMPORTED, learning=learning)

    def _leak(self, entry: Entry) -> Rejection | None:
        allowed = self._workspace.config.secrets.allow
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
            found = self._workspace.library.get(learning_id)
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

    def _not_routed(self, scope: Scope) -> Rejection | None:
        reason = why_not_stored(self._workspace, scope)
        return None if reason is None else Rejection(reason=reason, field="scope")

    def _learning(self, entry: Entry, candidate: Candidate) -> Learning:
        written = entry.timestamp or self._workspace.now
        if entry.learning_id is None and written - self._workspace.now > _CLOCK_SKEW:
            written = self._workspace.now
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


def _refused(
    tell: Callable[..., Outcome], summary: str, stage: Stage, rejection: Rejection
) -> Outcome:
    return tell(
        state=ImportState.REFUSED,
        summary=summary,
        stage=stage,
        field=rejection.field,
        reason=rejection.reason,
    )


def _store(workspace: Workspace, outcome: Outcome, form: ImportFormat) -> Outcome:
    learning = outcome.learning
    if learning is None:
        return outcome
    # First of all, should the process end in between: an event of nothing does no harm.
    _keep_from_decay(workspace, learning, form)
    try:
        # Others, such as a reflection, have their turn between two learnings.
        with alone(workspace, _SLOW_LOCK_SECONDS if workspace.library.is_slow else _LOCK_SECONDS):
            kept = store_learning(workspace, learning)
            notes = (*outcome.notes, *kept.notes, *_with_status(workspace, learning))
    except StorageError as error:
        reason = f"not stored: {error}; run the import again to finish it"
        return evolve(outcome, state=ImportState.REFUSED, reason=reason)
    receipt = kept.receipt
    if receipt.status is ReceiptStatus.DUPLICATE:
        return evolve(
            outcome, state=ImportState.PRESENT, existing_id=learning.id, backend=receipt.backend
        )
    workspace.plugins.learning_written(learning, receipt)
    waits = receipt.status is ReceiptStatus.QUEUED
    return evolve(outcome, backend=receipt.backend, waits=waits, notes=notes)


def _with_status(workspace: Workspace, learning: Learning) -> list[str]:
    """Give what is archived or superseded that status in its backend as well."""
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


def _keep_from_decay(workspace: Workspace, learning: Learning, form: ImportFormat) -> None:
    """Let an old learning begin anew, or the next session would archive it unseen."""
    if (
        learning.status is LearningStatus.ACTIVE
        and workspace.now - learning.timestamp > _CLOCK_SKEW
    ):
        reason = f"imported from {form.value}"
        event = Restored(ts=workspace.now, learning_id=learning.id, reason=reason)
        workspace.log_events([event], personal=learning.scope is Scope.PERSONAL)


def _supersede(
    workspace: Workspace, outcomes: Sequence[Outcome], *, dry_run: bool
) -> list[Outcome]:
    """Mark what imported learnings correct, also where an earlier import was interrupted."""
    stored = {one.hit.learning.id: one.hit.learning for one in workspace.library.iterate()}
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
            changed, warnings = correct(workspace, (), {new.id: evolve(new, supersedes=(old,))})
            log_corrections(workspace, IMPORT_SESSION, changed)
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

"""``grove import``: from files of other programs to stored learnings."""

import re
from base64 import b32encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, timedelta
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

from attrs import asdict, evolve, frozen

from grove_core.config.schema import WriteGateMode
from grove_core.errors import GroveError, StorageError
from grove_core.interchange.entries import Entry, complete, left_out
from grove_core.interchange.jsonl import read_jsonl
from grove_core.interchange.markdown import WHOLE, read_document
from grove_core.interchange.older_grove import read_older_learnings
from grove_core.model.events import Imported
from grove_core.model.learning import (
    SUMMARY_LENGTH_MAX,
    Candidate,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
    Rejection,
    Scope,
    Stage,
)
from grove_core.model.memory import ReceiptStatus
from grove_core.project import Project
from grove_core.reflection.candidates import read_candidate, readable_parts
from grove_core.reflection.pipeline import WITHHELD, Doubt, fingerprint, learning_from
from grove_core.reflection.secrets import find_leak
from grove_core.services.candidates import check_by_plugins, check_by_write_gate
from grove_core.services.feedback import correct
from grove_core.services.result import Line, Result
from grove_core.services.storing import alone, check_routing, deliver_outbox, store_learning
from grove_core.similarity import SimilarityIndex, normalised_summary
from grove_core.storage import files
from grove_core.storage.paths import place_in
from grove_core.text import clean_line, counted, shorten

Pick = Callable[[Sequence["Outcome"]], Collection[int]]
"""Is shown what an import would store and returns the places of what it shall."""

IMPORT_SESSION: Final = "import"
"""The session of imported learnings whose source names none."""
_BY_HAND: Final = "by-hand"
_SHOWN: Final = 80
_LONGEST_PATH: Final = 4_096
# As far as clocks of other machines may be ahead.
_CLOCK_SKEW: Final = timedelta(days=1)


class _Format(NamedTuple):
    """What can be imported: the files of a folder, and how one is read."""

    files: str
    read: Callable[[str, PurePath], list[Entry]]


FORMATS: Final[Mapping[str, _Format]] = {
    "older-grove": _Format("*learnings.md", read_older_learnings),
    "markdown": _Format("**/*.md", read_document),
    "jsonl": _Format("*.jsonl", read_jsonl),
}


_IMPORTED, _PRESENT, _REFUSED = "imported", "present", "refused"
_DUPLICATE, _LEFT_OUT = "duplicate", "left_out"
# What became of an entry, and how people are told.
_STATES: Final = {
    _IMPORTED: "imported",
    _PRESENT: "there already",
    _DUPLICATE: "duplicates",
    _REFUSED: "refused",
    _LEFT_OUT: "left out",
}


@frozen(kw_only=True)
class Outcome:
    """An entry and what became of it."""

    path: str
    line: int
    state: str = _REFUSED
    summary: str
    learning: Learning | None = None
    """The learning, if it is one that is new."""
    existing_id: str | None = None
    stage: Stage | None = None
    field: str | None = None
    reason: str = ""
    backend: str = ""
    waits: bool = False
    notes: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """A line of a file, whose name may be a stranger's and hold anything."""
        return f"{clean_line(self.path, _LONGEST_PATH)}:{self.line}"

    def noted(self, note: str) -> "Outcome":
        """Return the same with one more note."""
        return evolve(self, notes=(*self.notes, note))

    def without(self, state: str, reason: str = "", existing_id: str | None = None) -> "Outcome":
        """Return the same without a new learning."""
        return evolve(self, learning=None, state=state, reason=reason, existing_id=existing_id)

    def refused(self, objection: Rejection, stage: Stage | None = None) -> "Outcome":
        """Return the same as refused."""
        reason, existing = objection.reason, objection.existing_id
        return evolve(self, stage=stage, reason=reason, field=objection.field, existing_id=existing)


def import_learnings(
    project: Project,
    form: str,
    path: Path,
    *,
    scope: Scope,
    dry_run: bool,
    pick: Pick | None = None,
) -> Result:
    """Import a file or a folder, or what is picked of it; what is there already stays as it is."""
    if (objection := check_routing(project, scope)) is not None:
        raise GroveError(objection.reason)
    entries = [
        (place, one)
        for file in _files_of(form, path)
        for place, entry in _read(form, file, project.root)
        for one in (entry.rules if pick and entry.rules else (entry,))
    ]
    importer = _Importer(project, [entry for _, entry in entries])
    outcomes = [importer.evaluate(place, entry, scope) for place, entry in entries]
    if pick is not None:
        offered = [at for at, one in enumerate(outcomes) if one.learning]
        picked = pick([outcomes[at] for at in offered])
        for number, at in enumerate(offered):
            if number not in picked:
                outcomes[at] = outcomes[at].without(_LEFT_OUT, "not picked")
    for at, one in enumerate(outcomes):
        if one.learning is not None and not dry_run:
            outcomes[at] = _store(project, one, one.learning, form)
    warnings: Sequence[str] = ()
    if not dry_run:
        warnings = _supersede(project, outcomes)
        deliver_outbox(project)
    document = {"format": form, "path": path.absolute(), "dry_run": dry_run}
    return _result(outcomes, document, warnings)


# --- files ----------------------------------------------------------------------------------------


def _files_of(form: str, path: Path) -> Sequence[Path]:
    """List the files of an import; links within a folder are not followed."""
    if not path.is_dir():
        return [path]
    if (path / ".grove").is_dir():
        path = path / ".grove"
    hidden = re.compile(r"(?:^|/)(?:\.|node_modules)")
    found = [
        one
        for one in sorted(path.glob(FORMATS[form].files))
        if not one.is_symlink() and not hidden.search(one.relative_to(path).as_posix())
    ]
    if not found:
        raise GroveError(f"{path} holds nothing to import ({FORMATS[form].files})")
    return found


def _read(form: str, path: Path, root: Path) -> Iterator[tuple[str, Entry]]:
    """Read a file, which is never changed; yield how it is called with each entry."""
    place = place_in(root, path)
    try:
        text = (files.read_bytes(path) or b"").decode("utf-8-sig").replace("\r\n", "\n")
        read = FORMATS[form].read(text, place)
    except (UnicodeDecodeError, StorageError) as error:
        read = [left_out(1, path.name, f"it cannot be read: {error}", is_fault=True)]
    name = str(path if place.is_absolute() else place)
    return ((name, one) for one in read)


# --- entries --------------------------------------------------------------------------------------


class _Importer:
    """Sends entries through the stages of a reflection but its write gate, and remembers them."""

    def __init__(self, project: Project, entries: Sequence[Entry]) -> None:
        self._project = project
        # Those of one source that have an id were compared with each other when they were written,
        # and what an interrupted import has stored already must not refuse the rest of it.
        self._own = {one.learning_id for one in entries}
        self._summaries: dict[str, str] = {}
        self._by_suffix: dict[str, str] = {}
        self._documents: dict[str | None, str] = {}
        self._texts = SimilarityIndex()
        for learning in (one.hit.learning for one in project.library.iterate()):
            self._remember(learning)
            if learning.session_id == IMPORT_SESSION and learning.status is LearningStatus.ACTIVE:
                self._documents[_document_of(learning.detail)] = learning.id

    def _remember(self, learning: Learning) -> None:
        self._summaries[learning.id] = learning.summary
        # Made of the content, so that it is found again although somebody has edited it.
        self._by_suffix[learning.id.rpartition("_")[2]] = learning.id
        if learning.status is LearningStatus.ACTIVE and learning.id not in self._own:
            self._texts.add(learning.id, learning.summary, learning.detail)

    def evaluate(self, path: str, entry: Entry, scope: Scope) -> Outcome:
        """Return what is to become of an entry; a scope is for one that names none."""
        outcome = Outcome(path=path, line=entry.line, summary=WITHHELD)
        beside = {
            "id": entry.learning_id,
            "ticket_id": entry.ticket_id,
            "session_id": entry.session_id,
            # A note may quote what the source has besides.
            "notes": list(entry.notes),
        }
        leak = find_leak({**entry.fields, **beside}, self._project.config.secrets.allow)
        if entry.reason:
            said = WITHHELD if leak else shorten(entry.fields["summary"], _SHOWN)
            state = _REFUSED if entry.is_fault else _LEFT_OUT
            return evolve(outcome, summary=said, state=state, reason=entry.reason)
        if leak is not None:
            return outcome.refused(leak, Stage.SECRET)
        read = read_candidate({"scope": scope.value, **entry.fields}, root=self._project.root)
        if isinstance(read, Rejection):
            said, _ = readable_parts(dict(entry.fields))
            shown = shorten(said or "(no summary)", SUMMARY_LENGTH_MAX)
            return evolve(outcome, summary=shown).refused(read, Stage.SCHEMA)
        notes = (*entry.notes, *read.notes)
        outcome = evolve(outcome, summary=read.candidate.summary, notes=notes)
        return self._compare(entry, read.candidate, outcome)

    def _compare(self, entry: Entry, candidate: Candidate, outcome: Outcome) -> Outcome:
        """Compare a candidate with what is there, and hear those who may object."""
        suffix = _suffix_of(candidate)
        earlier = self._documents.get(_document_of(candidate.detail) or None)
        if earlier is not None and suffix not in self._by_suffix:
            candidate = evolve(candidate, supersedes=(*candidate.supersedes, earlier))
            entry = evolve(entry, timestamp=None)
        if candidate.supersedes:
            outcome = outcome.noted(f"replaces {', '.join(candidate.supersedes)}")
        if (found := self._known(entry, candidate, suffix, outcome)) is not None:
            return found
        for stage, objection in self._objections(entry, candidate):
            if isinstance(objection, Rejection):
                return outcome.refused(objection, stage)
            if objection is not None:
                candidate = evolve(candidate, confidence=Confidence.LOW)
                outcome = outcome.noted(f"confidence low, by the write gate: {objection.hint}")
        learning = self._learning(entry, candidate, suffix)
        self._remember(learning)
        return evolve(outcome, state=_IMPORTED, learning=learning)

    def _objections(
        self, entry: Entry, candidate: Candidate
    ) -> Iterator[tuple[Stage, Rejection | Doubt | None]]:
        project = self._project
        yield Stage.PLUGIN, check_by_plugins(project, IMPORT_SESSION, None, candidate)
        yield Stage.ROUTING, check_routing(project, candidate.scope)
        # What has an id has passed the gate of another project; a person may write what they like.
        is_judged = entry.learning_id is None and entry.session_id != _BY_HAND
        if is_judged and project.config.gate.write_gate.mode is not WriteGateMode.OFF:
            yield Stage.WRITE_GATE, check_by_write_gate(project, candidate, refusals_max=0)

    def _known(
        self, entry: Entry, candidate: Candidate, suffix: str, outcome: Outcome
    ) -> Outcome | None:
        """Find what is there already: the same learning, its id, or one that says the same."""
        existing = entry.learning_id or self._by_suffix.get(suffix)
        summary = self._summaries.get(existing or "")
        is_same = summary is not None and (
            normalised_summary(summary) == normalised_summary(candidate.summary)
        )
        if existing is not None and (is_same or existing != entry.learning_id):
            return outcome.without(_PRESENT, existing_id=existing)
        if summary is not None:
            reason = (
                f'{existing} is another learning here ("{summary}"): take the id out of the file to'
                " import it under a new one"
            )
            return outcome.refused(Rejection(reason=reason, field="id", existing_id=existing))
        # Of archived ones, history keeps every one.
        if entry.status is not LearningStatus.ACTIVE:
            return None
        found = self._texts.find(candidate.summary, candidate.detail, candidate.supersedes)
        if found is None:
            return None
        reason = f'{found[0].key} says it already ("{found[0].summary}")'
        return outcome.without(_DUPLICATE, reason, found[0].key)

    def _learning(self, entry: Entry, candidate: Candidate, suffix: str) -> Learning:
        written = entry.timestamp or self._project.now
        day = written.astimezone(UTC)
        made = f"cl_{day.year:04}{day:%m%d}_{suffix}"
        learning = learning_from(
            candidate,
            learning_id=entry.learning_id or made,
            session_id=entry.session_id or IMPORT_SESSION,
            ticket_id=entry.ticket_id,
            now=written,
        )
        return evolve(learning, status=entry.status)


def _document_of(detail: str) -> str:
    """Return which document a learning was made of, empty when it was none."""
    return detail.rpartition("\n")[2].partition(WHOLE)[2]


def _suffix_of(candidate: Candidate) -> str:
    """Make the end of an id of what a candidate says, so that it is the same each time."""
    return b32encode(bytes.fromhex(fingerprint(candidate))[:5]).decode("ascii").lower()[:6]


# --- storing --------------------------------------------------------------------------------------


def _store(
    project: Project, outcome: Outcome, learning: Learning, form: str, *, is_alone: bool = False
) -> Outcome:
    is_active = learning.status is LearningStatus.ACTIVE
    if is_active and project.now - learning.timestamp > _CLOCK_SKEW:
        # Its decay starts now, or the next session would archive it unseen. First of all, should
        # the process end in between: an event of nothing does no harm.
        reason = f"imported from {form}"
        event = Imported(ts=project.now, learning_id=learning.id, reason=reason)
        project.log_events([event], personal=learning.scope is Scope.PERSONAL)
    try:
        # Others, such as a reflection, have their turn between two learnings.
        with nullcontext() if is_alone else alone(project):
            receipt = store_learning(project, learning)
    except StorageError as error:
        reason = f"not stored: {error}; run the import again to finish it"
        return outcome.without(_REFUSED, reason)
    stored = evolve(outcome, backend=receipt.backend)
    if receipt.status is ReceiptStatus.DUPLICATE:
        return stored.without(_PRESENT, existing_id=learning.id)
    project.plugins.learning_written(learning, receipt)
    waits = receipt.status is ReceiptStatus.QUEUED
    notes = (receipt.note,) if receipt.note else ()
    return evolve(stored, waits=waits, notes=(*outcome.notes, *notes))


def _supersede(project: Project, outcomes: Iterable[Outcome]) -> Sequence[str]:
    """Mark what imported learnings correct, also where an earlier import was interrupted."""
    stored = {one.hit.learning.id: one.hit.learning for one in project.library.iterate()}
    touched = {one.learning.id if one.learning else one.existing_id for one in outcomes}
    written: dict[str, Candidate] = {}
    for new in stored.values():
        # Of two that name each other, the newer one holds.
        older = (
            old.id
            for old in filter(None, map(stored.get, new.supersedes))
            if (old.timestamp, old.id) < (new.timestamp, new.id)
        )
        names = tuple(one for one in older if not touched.isdisjoint((one, new.id)))
        written[new.id] = evolve(new, supersedes=names)
    return correct(project, IMPORT_SESSION, (), written)[1]


# --- the result -----------------------------------------------------------------------------------


def _result(
    outcomes: Sequence[Outcome], document: Mapping[str, Any], warnings: Sequence[str]
) -> Result:
    counts = {state: sum(one.state == state for one in outcomes) for state in _STATES}
    refused = [one for one in outcomes if one.state == _REFUSED]
    reasons = [
        f"{one.place}: refused{f' ({one.stage.value})' if one.stage else ''} {one.summary!r}:"
        f" {one.reason}"
        for one in refused
    ]
    failed = {"error": f"{counted(len(refused), 'piece')} refused; each says why"}
    entries: list[dict[str, Any]] = []
    lines: list[Line] = []
    for one in outcomes:
        told = asdict(one, recurse=False, filter=lambda field, _: field.name != "learning")
        identity = {"id": one.learning.id if one.learning else None, "backend": one.backend or None}
        entries.append(told | identity)
        if one.learning is not None:
            waits = f" (waits for the backend {one.backend})" if one.waits else ""
            lines += [f"{one.place}  {one.learning.id}{waits}", f"  {one.summary}"]
            lines += [(f"  {note}", "dim") for note in one.notes]
        elif one.state in (_DUPLICATE, _LEFT_OUT):
            lines.append((f"{one.place}  {_STATES[one.state]}: {one.reason}", "dim"))
    numbers = ", ".join(
        f"{counts[state]} {words}" for state, words in _STATES.items() if counts[state]
    )
    dry = "Dry run, nothing was written: " if document["dry_run"] else ""
    return Result(
        document={
            **document,
            "counts": counts,
            "entries": entries,
            **(failed if refused else {}),
        },
        lines=[*lines, f"{dry}{numbers or 'nothing to import'}."],
        ids=[one.learning.id for one in outcomes if one.learning],
        exit_code=1 if refused else 0,
        warnings=[*reasons, *warnings],
    )


def add_learning(project: Project, fields: Mapping[str, Any], *, dry_run: bool) -> Result:
    """Store a learning that a person has written; the write gate only gives a hint."""
    completed = {"criteria_met": [Criterion.STABLE_FACT.value], **fields}
    notes = complete(completed)
    entry = Entry(line=1, fields=completed, session_id=_BY_HAND, notes=tuple(notes))
    # From the duplicate check to the write no other process writes into this project.
    with alone(project):
        one = _Importer(project, [entry]).evaluate("", entry, Scope.PROJECT)
        if one.learning is not None and not dry_run:
            one = _store(project, one, one.learning, _BY_HAND, is_alone=True)
    learning = one.learning
    if learning is None:
        return Result.failed(f"not stored: {one.reason or f'{one.existing_id} says it already'}")
    objection = check_by_write_gate(project, learning)
    if isinstance(objection, Rejection):
        note = f"an agent's would be refused: {objection.reason}"
        one = evolve(one, notes=(*one.notes, note))
    if not dry_run:
        deliver_outbox(project)
        project.publish_events()
    verb = "would be stored as" if dry_run else "queued" if one.waits else "stored"
    return Result(
        document={
            "id": learning.id,
            "summary": one.summary,
            "backend": one.backend or None,
            "waits": one.waits,
            "notes": one.notes,
            "dry_run": dry_run,
        },
        lines=[
            f"{verb} {learning.id}",
            f"  {one.summary}",
            *((f"  {note}", "dim") for note in one.notes),
        ],
        ids=[learning.id],
    )

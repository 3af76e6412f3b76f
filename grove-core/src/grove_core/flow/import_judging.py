"""What becomes of each entry of an import: the stages of a reflection, without its write gate."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from enum import Enum
from functools import partial
from itertools import count
from typing import Final

from attrs import evolve, frozen

from grove_core.flow.judging import as_candidate, plugins_check
from grove_core.flow.storing import why_not_stored
from grove_core.identifiers import is_session_id
from grove_core.interchange.duplicates import DuplicateIndex, KnownLearning
from grove_core.interchange.entries import Entry, LeftOut
from grove_core.interchange.identity import IMPORT_SESSION, content_key, derived_id
from grove_core.model.learning import (
    Candidate,
    Learning,
    LearningStatus,
    Rejection,
    Scope,
    Stage,
)
from grove_core.model.memory import Capability
from grove_core.model.value import Value
from grove_core.plugins.descriptors import ReflectionContext
from grove_core.reflection.duplicates import fingerprint, normalised_summary
from grove_core.reflection.funnel import WITHHELD, learning_from
from grove_core.reflection.limits import SUMMARY_LENGTH_MAX
from grove_core.reflection.schema import read_candidate
from grove_core.reflection.secrets import find_leak, objection_to
from grove_core.text import clean_line, shorten
from grove_core.workspace import Workspace

_SHOWN: Final = 80
# Two of a thousand million learnings have the same key; three hardly ever.
_ATTEMPTS: Final = 3
# As far as clocks of other machines may be ahead.
_CLOCK_SKEW: Final = timedelta(days=1)


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


class ImportJudge:
    """Judges entries one by one, and remembers what it has let pass."""

    def __init__(self, workspace: Workspace, own_ids: Iterable[str], scope: Scope) -> None:
        """Read what is there."""
        self._workspace = workspace
        self._scope = scope
        own = frozenset(own_ids)
        waiting = [entry.learning for entry in workspace.outbox.entries(workspace.root)]
        stored = (one.hit.learning for one in workspace.library.iterate())
        self._known = {one.id: one.summary for one in waiting}
        self._by_content: dict[str, str] = {}
        self._there = DuplicateIndex()
        for learning in (*stored, *waiting):
            self._known[learning.id] = learning.summary
            candidate = as_candidate(learning)
            self._by_content[fingerprint(candidate)] = learning.id
            key = learning.id.rpartition("_")[2]
            if learning.session_id == IMPORT_SESSION and key not in _keys_of(candidate):
                # Found again although somebody has changed a tag of it.
                self._by_content.setdefault(key, learning.id)
            # What an interrupted import has stored already must not refuse the rest of it.
            if learning.status is LearningStatus.ACTIVE and learning.id not in own:
                self._there.add(learning.id, learning.summary, learning.detail)
        self._imported = DuplicateIndex()
        self._reasons: dict[Scope, str | None] = {}
        self._asks_by_id = not all(
            Capability.ITERATE in one.backend.capabilities
            for one in workspace.library.project_backends
        )
        context = ReflectionContext(
            root=workspace.root, session_id=IMPORT_SESSION, ticket=None, now=workspace.now
        )
        self._plugins_check = plugins_check(workspace, context)

    def judge(self, path: str, entry: Entry) -> Outcome:
        """Judge an entry."""
        tell = partial(Outcome, path=path, line=entry.line)
        leak = self._leak(entry)
        if leak is not None:
            return _refused(tell, WITHHELD, Stage.SECRET, leak)
        fields = {"scope": self._scope.value, **entry.fields}
        read = read_candidate(fields, root=self._workspace.root)
        if isinstance(read, Rejection):
            said = entry.fields.get("summary")
            shown = clean_line(said, SUMMARY_LENGTH_MAX) if isinstance(said, str) else ""
            return _refused(tell, shown or "(no summary)", Stage.SCHEMA, read)
        candidate = read.candidate
        tell = partial(tell, summary=candidate.summary, notes=(*entry.notes, *read.notes))
        found = self._there_already(entry, candidate, tell) or self._same(entry, candidate, tell)
        if found is not None:
            return found
        for stage, objection in (
            (Stage.PLUGIN, self._plugins_check(candidate)),
            (Stage.ROUTING, self._not_routed(candidate.scope)),
        ):
            if objection is not None:
                return _refused(tell, candidate.summary, stage, objection)
        learning, notes = self._learning(entry, candidate)
        self._remember(learning, candidate)
        tell = partial(tell, notes=(*entry.notes, *read.notes, *notes))
        return tell(state=ImportState.IMPORTED, learning=learning)

    def left_out(self, path: str, piece: LeftOut) -> Outcome:
        """Tell of a piece that is no entry."""
        leak = find_leak(piece.title, self._workspace.config.secrets.allow)
        return Outcome(
            path=path,
            line=piece.line,
            state=ImportState.REFUSED if piece.is_fault else ImportState.LEFT_OUT,
            summary=shorten(piece.title, _SHOWN) if leak is None else WITHHELD,
            reason=piece.reason,
        )

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
        found = (find_leak(text, allowed, name) for name, text in beside.items())
        leak = next((one for one in found if one is not None), None)
        return None if leak is None else Rejection(reason=leak.text, field=leak.field)

    def _there_already(
        self, entry: Entry, candidate: Candidate, tell: Callable[..., Outcome]
    ) -> Outcome | None:
        if entry.learning_id is None:
            keys = (fingerprint(candidate), *_keys_of(candidate))
            existing = next((found for key in keys if (found := self._by_content.get(key))), None)
            if existing is None:
                return None
            return tell(state=ImportState.PRESENT, existing_id=existing)
        summary = self._summary_of(entry.learning_id)
        if summary is None:
            return None
        if normalised_summary(summary) == normalised_summary(candidate.summary):
            return tell(state=ImportState.PRESENT, existing_id=entry.learning_id)
        reason = (
            f'{entry.learning_id} is another learning here ("{summary}"): take the id out of the'
            " file to import it under a new one"
        )
        return tell(
            state=ImportState.REFUSED, field="id", existing_id=entry.learning_id, reason=reason
        )

    def _summary_of(self, learning_id: str) -> str | None:
        if learning_id not in self._known and self._asks_by_id:
            found = self._workspace.library.get(learning_id)
            if found is not None:
                self._known[learning_id] = found.hit.learning.summary
        return self._known.get(learning_id)

    def _same(
        self, entry: Entry, candidate: Candidate, tell: Callable[..., Outcome]
    ) -> Outcome | None:
        """Find a learning that says the same; of what is put away, history keeps every one."""
        if entry.status is not LearningStatus.ACTIVE:
            return None
        known: KnownLearning | None = self._there.find(candidate)
        if known is None and entry.learning_id is None:
            # Those that have an id have been compared with each other when they were written.
            known = self._imported.find(candidate)
        if known is None:
            return None
        reason = f'{known.learning_id} says it already ("{known.summary}")'
        return tell(state=ImportState.DUPLICATE, existing_id=known.learning_id, reason=reason)

    def _not_routed(self, scope: Scope) -> Rejection | None:
        if scope not in self._reasons:
            reason = why_not_stored(self._workspace, scope)
            if scope is Scope.EPHEMERAL and self._workspace.library.target_for(scope) is None:
                reason = "no backend here keeps a daily log; give it another scope, or leave it out"
            self._reasons[scope] = reason
        reason = self._reasons[scope]
        return None if reason is None else Rejection(reason=reason, field="scope")

    def _learning(self, entry: Entry, candidate: Candidate) -> tuple[Learning, list[str]]:
        written = entry.timestamp or self._workspace.now
        notes: list[str] = []
        # What has an id is a learning of grove's own, which is kept as it is.
        if entry.learning_id is None and written - self._workspace.now > _CLOCK_SKEW:
            notes.append("timestamp: it lies in the future; the time of the import was taken")
            written = self._workspace.now
        session = entry.session_id
        learning = learning_from(
            candidate,
            learning_id=entry.learning_id or self._new_id(candidate, written),
            session_id=session if session and is_session_id(session) else IMPORT_SESSION,
            ticket_id=entry.ticket_id,
            now=written,
        )
        return evolve(learning, status=entry.status), notes

    def _new_id(self, candidate: Candidate, written: datetime) -> str:
        """Make an id; of thousands of learnings, two may well have the same characters."""
        ids = (derived_id(candidate, written, attempt) for attempt in count())
        return next(one for one in ids if self._summary_of(one) is None)

    def _remember(self, learning: Learning, candidate: Candidate) -> None:
        self._known[learning.id] = learning.summary
        self._by_content[fingerprint(candidate)] = learning.id
        if learning.status is LearningStatus.ACTIVE:
            self._imported.add(learning.id, learning.summary, learning.detail)


def _keys_of(candidate: Candidate) -> tuple[str, ...]:
    """Return the keys that the id of a learning may have been made with."""
    return tuple(content_key(candidate, attempt) for attempt in range(_ATTEMPTS))


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


def own_ids(entries: Sequence[Entry]) -> list[str]:
    """Name the ids that entries have."""
    return [one.learning_id for one in entries if one.learning_id is not None]

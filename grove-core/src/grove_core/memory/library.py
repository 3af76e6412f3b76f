"""The memory backends of a project as one library: storing, searching and changing learnings."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeGuard, TypeVar

from attrs import evolve

from grove_core.errors import BackendError, LearningNotFoundError, UnsupportedError
from grove_core.memory.backends import AvailableBackends, FoundLearning, OpenBackend
from grove_core.memory.sanitize import (
    clean,
    clean_hit,
    clean_receipt,
    is_hit,
    is_learning,
)
from grove_core.model.learning import Learning, LearningStatus, Scope
from grove_core.model.memory import (
    Capability,
    Changes,
    Filters,
    Health,
    Hit,
    Query,
    Receipt,
    ReceiptStatus,
    Synchronised,
)
from grove_core.plugins.descriptors import BackendSpec, Freshness
from grove_core.plugins.manager import Contribution

WRITE_SECONDS: Final = 5.0
SLOW_WRITE_SECONDS: Final = 90.0
READ_SECONDS: Final = 5.0
SLOW_READ_SECONDS: Final = 30.0
"""How long a slow backend may take to search, or to say how it does, outside of hooks."""
LIST_SECONDS: Final = 60.0
"""How long a backend may take to list all its learnings; a hook's own deadline holds as well."""

_GRACE_SECONDS: Final = 15.0
_ACTIVE: Final = LearningStatus.ACTIVE
_NOT_ASKED: Final = "not asked here: `grove backends` asks its server"

_FAILED: Final = object()

T = TypeVar("T")


class MemoryLibrary(AvailableBackends):
    """All memory backends that are available in a project."""

    has_written = False

    def store(self, target: OpenBackend, learning: Learning) -> Receipt:
        """Write a learning, or have it wait in the outbox until its backend can take it."""
        awaited = self.awaited(learning.scope)
        receipt = None if awaited else self.write(target, learning)
        if receipt is not None:
            return receipt
        assert self._outbox is not None, "a library that stores has an outbox"
        self._outbox.put(learning, self._context.root)
        self.has_written = True
        name = awaited or target.name
        return Receipt(learning_id=learning.id, status=ReceiptStatus.QUEUED, backend=name)

    def deliver(self, *, in_a_hurry: bool = False) -> Sequence[Receipt]:
        """Try to deliver what waits for the project; backends are idempotent."""
        receipts: list[Receipt] = []
        was_slow = False
        for entry in self._outbox.entries(self._context.root) if self._outbox else ():
            target = self.target_for(entry.learning.scope)
            if target is None or self.awaited(entry.learning.scope):
                continue
            is_slow = target.can(Capability.SLOW)
            if is_slow and was_slow and in_a_hurry:
                continue
            was_slow = was_slow or is_slow
            receipt = self.write(target, entry.learning)
            if receipt is not None:
                entry.path.unlink(missing_ok=True)
                receipts.append(receipt)
        return receipts

    def write(self, target: OpenBackend, learning: Learning) -> Receipt | None:
        """Write a learning to one backend; ``None`` when it could not take it."""
        self.has_written = True
        slow = target.can(Capability.SLOW)
        seconds = SLOW_WRITE_SECONDS if slow else WRITE_SECONDS
        answer = self._ask(target, "write", learning, seconds=seconds)
        receipt = clean_receipt(answer, learning.id)
        if receipt is None:
            if answer is not None:
                self._complain(target, "write", f"returned no sound Receipt of {learning.id}")
        elif learning.scope is Scope.TEAM and not self.is_shared(target):
            unseen = f"git ignores what {receipt.backend} writes here, so the team does not see it"
            said = (receipt.note, f"{unseen}, and no other backend here is shared")
            return evolve(receipt, note="; ".join(filter(None, said)))
        return receipt

    def changes(
        self, opened: OpenBackend, mark: str, *, seconds: float = LIST_SECONDS
    ) -> Changes | None:
        """Ask a backend that can list its learnings what has changed."""
        if opened.can(Capability.CHANGES):
            answer = self._ask(opened, "changes", mark, seconds=seconds)
            if not isinstance(answer, Changes):
                self.unread.add(opened.name)
                return None
            sound = self._sound(opened, "changes", answer.learnings, is_learning)
        else:
            listed = self._list(opened, seconds)
            if listed is None:
                return None
            answer, sound = Changes(learnings=(), mark="", whole=True), listed
        clean = tuple(_located(learning, opened).hit.learning for learning in sound)
        return evolve(answer, learnings=clean)

    def search(
        self,
        query: Query,
        filters: Filters,
        *,
        seconds: float = READ_SECONDS,
        asked: Callable[[OpenBackend], bool] = lambda _: True,
    ) -> Sequence[FoundLearning]:
        """Search backends; of several hits with one id the most relevant stays."""
        found: dict[str, FoundLearning] = {}
        for opened in filter(asked, self._all()):
            limit = self._limit(opened, seconds)
            hits = self._ask(opened, "search", query, filters, seconds=limit, default=_FAILED)
            for hit in self._sound(opened, "search", hits, is_hit):
                if not filters.admit(hit.learning):
                    continue
                one = FoundLearning(hit=clean_hit(hit), backend=opened.name, area=opened.area)
                known = found.get(hit.learning.id)
                if known is None or one.hit.relevance > known.hit.relevance:
                    found[hit.learning.id] = one
        ordered = sorted(found.values(), key=lambda one: -one.hit.relevance)
        return ordered[: filters.limit]

    def get(self, learning_id: str) -> FoundLearning | None:
        """Fetch one learning of any status from whichever backend has it."""
        found: FoundLearning | None = None
        for opened in self.able(Capability.GET):
            learning = self._get(opened, learning_id)
            if learning is not None and (found is None or _supersedes(learning, found)):
                found = _located(learning, opened)
        return found

    def iterate(self) -> Iterator[FoundLearning]:
        """Go through the learnings of all backends that can list theirs."""
        found: dict[str, FoundLearning] = {}
        self.unread.update(name for _, name in self.silent())
        for opened in self.able(Capability.ITERATE):
            for learning in self._list(opened) or ():
                known = found.get(learning.id)
                if known is None or _supersedes(learning, known):
                    found[learning.id] = _located(learning, opened)
        yield from found.values()

    def sources(self) -> Sequence[Path] | None:
        """Name what the learnings that can be listed are read from."""
        found: list[Path] = []
        for opened in self.able(Capability.ITERATE):
            if not opened.can(Capability.FILES):
                return None
            paths = self._ask(opened, "files", seconds=READ_SECONDS)
            if paths is None or not all(isinstance(path, Path) for path in paths):
                return None
            found += paths
        return found

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        """Archive, restore or supersede a learning wherever it lies."""
        holders = [one for one in self.able(Capability.GET) if self._get(one, learning_id)]
        if not holders:
            raise LearningNotFoundError(f"no learning has the id {learning_id}")
        able = [one for one in holders if one.can(Capability.SET_STATUS)]
        if not able:
            names = ", ".join(one.name for one in holders)
            raise UnsupportedError(f"the backend {names} cannot change the status of {learning_id}")
        changed = [self._set_status(one, learning_id, status, note) for one in able]
        return changed[0]

    def _set_status(
        self, opened: OpenBackend, learning_id: str, status: LearningStatus, note: str
    ) -> Learning:
        self.has_written = True
        arguments = (learning_id, status, note)
        changed = self._ask(opened, "set_status", *arguments, seconds=WRITE_SECONDS)
        if not isinstance(changed, Learning):
            why = self._fault(opened.provided, "set_status", changed)
            raise BackendError(f"the backend {opened.name} could not change {learning_id}: {why}")
        return changed

    def healths(self, *, servers: bool = True) -> dict[str, Health]:
        """Ask the project's backends how they do."""
        found: dict[str, Health] = {}
        for one in self.project_backends:
            asks = servers or not one.can(Capability.SYNCHRONISE)
            found[one.spec.name] = self.health(one) if asks else Health(ok=True, detail=_NOT_ASKED)
        for state in self.states:
            if state.is_active and state.spec.name not in found:
                why = self._fault(state.provided, "open")
                found[state.spec.name] = Health(ok=False, detail=f"could not be opened: {why}")
        return found

    def health(self, opened: OpenBackend) -> Health:
        """Ask a backend how it does."""
        answer = self._ask(opened, "ping", seconds=self._limit(opened, READ_SECONDS))
        health = clean(Health, answer)
        if health is None:
            why = self._fault(opened.provided, "ping", answer)
            return Health(ok=False, detail=f"did not answer: {why}")
        return health

    def freshness(self) -> Sequence[Freshness]:
        """Return how well what backends store here stands for what their servers have."""
        answers = [
            self._ask(one, "freshness", seconds=READ_SECONDS)
            for one in self.able(Capability.SYNCHRONISE)
        ]
        found = (clean(Freshness, one) for one in answers)
        return [one for one in found if one is not None]

    def synchronise(self, seconds: float, *, asked: bool) -> Sequence[tuple[str, Synchronised]]:
        """Bring backends and their servers into line."""
        found: list[tuple[str, Synchronised]] = []
        for opened in self.able(Capability.SYNCHRONISE):
            self.has_written = True
            limit = seconds + _GRACE_SECONDS
            answer = self._ask(opened, "synchronise", seconds, asked=asked, seconds=limit)
            done = clean(Synchronised, answer)
            if done is None:
                why = self._fault(opened.provided, "synchronise", answer)
                done = Synchronised(fault=f"it did not answer: {why}")
            found.append((opened.name, done))
        return found

    def _list(
        self, opened: OpenBackend, seconds: float = LIST_SECONDS
    ) -> Sequence[Learning] | None:
        listed = self._plugins.call(
            opened.provided,
            "iterate",
            lambda: tuple(opened.backend.iterate()),
            seconds=seconds,
            default=None,
        )
        if listed is None:
            self.unread.add(opened.name)
            return None
        return self._sound(opened, "iterate", listed, is_learning)

    def _get(self, opened: OpenBackend, learning_id: str) -> Learning | None:
        found = self._ask(opened, "get", learning_id, seconds=READ_SECONDS, default=_FAILED)
        answer = found if found is _FAILED else [found] if found else []
        sound = self._sound(opened, "get", answer, is_learning)
        return next(iter(sound), None)

    def _limit(self, opened: OpenBackend, seconds: float) -> float:
        """Give a slow backend more time, where no hook waits for it."""
        slow = opened.can(Capability.SLOW) and not self._context.in_hook
        return max(seconds, SLOW_READ_SECONDS) if slow else seconds

    def _ask(
        self,
        opened: OpenBackend,
        method: str,
        *arguments: object,
        seconds: float,
        default: object = None,
        **options: object,
    ) -> Any:  # noqa: ANN401 - whatever the plugin answers
        """Call a method of a backend; what it does wrong is reported and gives the default."""

        def ask() -> object:
            return getattr(opened.backend, method)(*arguments, **options)

        return self._plugins.call(opened.provided, method, ask, seconds=seconds, default=default)

    def _fault(
        self, provided: Contribution[BackendSpec], method: str, answer: object = None
    ) -> str:
        """Say why a method gave nothing that can be used."""
        what = f"{method} of {provided.name}"
        if answer is not None:
            self._plugins.complain(provided, what, f"returned {type(answer).__name__}")
        problems = [one for one in self._plugins.problems if one.source is provided.source]
        details = [one.detail for one in problems if one.what == what]
        return "; ".join(details) or "it does not say why"

    def _complain(self, opened: OpenBackend, method: str, detail: str) -> None:
        what = f"{method} of {opened.spec.name}"
        self._plugins.complain(opened.provided, what, detail)

    def _sound(
        self,
        opened: OpenBackend,
        method: str,
        answer: object,
        is_sound: Callable[[object], TypeGuard[T]],
    ) -> Sequence[T]:
        """Take what can be used of a backend's answer; the rest is reported."""
        if not isinstance(answer, list | tuple):
            self.unread.add(opened.name)
            if answer is not _FAILED:
                kind = type(answer).__name__
                self._complain(opened, method, f"returned {kind} instead of a list")
            return ()
        sound = [one for one in answer if is_sound(one)]
        if len(sound) < len(answer):
            self.unread.add(opened.name)
            detail = "returned a learning whose fields are not as they should be"
            self._complain(opened, method, detail)
        return sound


def _located(learning: Learning, opened: OpenBackend) -> FoundLearning:
    """Say where a learning came from, and clean it."""
    hit = clean_hit(Hit(learning=learning, relevance=1.0))
    return FoundLearning(hit=hit, backend=opened.name, area=opened.area)


def _supersedes(learning: Learning, known: FoundLearning) -> bool:
    """Check whether a backend has archived what another one still has as active."""
    return known.hit.learning.status is _ACTIVE and learning.status is not _ACTIVE

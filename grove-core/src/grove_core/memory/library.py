"""The memory backends of a project as one library: routing by scope, searching all of them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import Final, TypeGuard, TypeVar

from grove_core.errors import BackendError, LearningNotFoundError, UnsupportedError
from grove_core.memory.available import AvailableBackends
from grove_core.memory.backends import (
    FoundLearning,
    OpenBackend,
    located,
)
from grove_core.memory.unopened import UnopenedBackend
from grove_core.memory.untrusted import (
    cleaned,
    cleaned_freshness,
    cleaned_health,
    cleaned_receipt,
    cleaned_synchronised,
    is_hit,
    is_learning,
)
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import (
    Capability,
    Changes,
    Filters,
    Health,
    Query,
    Receipt,
    Synchronised,
)
from grove_core.plugins.descriptors import (
    Area,
    FileBacked,
    Freshness,
    Incremental,
    MemoryBackend,
    Synchronising,
    Withdrawing,
)

WRITE_SECONDS: Final = 5.0
SLOW_WRITE_SECONDS: Final = 90.0
READ_SECONDS: Final = 5.0
SLOW_READ_SECONDS: Final = 30.0
"""How long a slow backend may take to search, or to say how it does, outside of hooks."""
LIST_SECONDS: Final = 60.0
"""How long a backend may take to list all its learnings; a hook's own deadline holds as well."""

_GRACE_SECONDS: Final = 15.0
_ELSEWHERE: Final = "put away in another backend"

T = TypeVar("T")
D = TypeVar("D")


class Missing(Enum):
    """Why a backend has given no learning."""

    ABSENT = auto()
    """It has looked, and there is none."""
    FAILED = auto()
    """It could not look; this has been reported."""
    NOT_ASKED = auto()
    """It is not available here, or gives nothing by id."""


class MemoryLibrary(AvailableBackends):
    """All memory backends that are available in a project."""

    has_written = False

    def get_from(self, name: str, learning_id: str) -> Learning | Missing:
        """Fetch a learning from one backend of the project."""
        opened = self.named(name)
        if opened is None:
            return Missing.FAILED if (Area.PROJECT, name) in self.silent() else Missing.NOT_ASKED
        if Capability.GET not in opened.backend.capabilities:
            return Missing.NOT_ASKED
        get = opened.backend.get
        answer: object = self._call(
            opened, "get", get, learning_id, seconds=READ_SECONDS, default=Missing.FAILED
        )
        if answer is None:
            return Missing.ABSENT
        if answer is Missing.FAILED:
            return Missing.FAILED
        return next(iter(self._sound(opened, "get", [answer], is_learning)), Missing.FAILED)

    def withdraw(self, name: str, learning: Learning) -> bool | None:
        """Take a learning out of the backend that has kept it for another one."""
        opened = self.named(name)
        if opened is None or not isinstance(opened.backend, Withdrawing):
            return False
        self.has_written = True
        withdraw = opened.backend.withdraw
        taken = self._call(
            opened, "withdraw", withdraw, learning, seconds=WRITE_SECONDS, default=None
        )
        return taken if isinstance(taken, bool) else None

    def write(self, target: OpenBackend, learning: Learning) -> Receipt | None:
        """Write a learning."""
        self.has_written = True
        slow = Capability.SLOW in target.backend.capabilities
        seconds = SLOW_WRITE_SECONDS if slow else WRITE_SECONDS
        answer: object = self._call(
            target, "write", target.backend.write, learning, seconds=seconds, default=None
        )
        receipt = cleaned_receipt(answer, learning)
        if receipt is None and answer is not None:
            what = _name("write", target)
            complaint = f"returned no sound Receipt of {learning.id}"
            self._plugins.complain(target.state.provided, what, complaint)
        return receipt

    def changes(
        self, opened: OpenBackend, mark: str, *, seconds: float = LIST_SECONDS
    ) -> Changes | None:
        """Ask a backend that can list its learnings what has changed."""
        backend = opened.backend
        if Capability.CHANGES in backend.capabilities and isinstance(backend, Incremental):
            answer: object = self._call(
                opened, "changes", backend.changes, mark, seconds=seconds, default=None
            )
            if not isinstance(answer, Changes) or not isinstance(answer.mark, str):
                return None
            learnings: object = answer.learnings
        else:
            answer = Changes(learnings=(), mark="", whole=True)
            listed = _listed(backend)
            learnings = self._call(opened, "iterate", listed, seconds=seconds, default=None)
            if learnings is None:
                return None
        if not isinstance(learnings, list | tuple):
            kind = type(learnings).__name__
            what = _name("changes", opened)
            complaint = f"returned {kind} instead of a list"
            self._plugins.complain(opened.state.provided, what, complaint)
            return None
        sound = self._sound(opened, "changes", learnings, is_learning)
        clean = tuple(located(learning, opened).hit.learning for learning in sound)
        return Changes(learnings=clean, mark=answer.mark, whole=bool(answer.whole))

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
            search = opened.backend.search
            limit = self._limit(opened, seconds)
            hits = self._call(opened, "search", search, query, filters, seconds=limit, default=())
            for hit in self._sound(opened, "search", hits, is_hit):
                if not filters.admit(hit.learning):
                    continue
                one = FoundLearning(hit=cleaned(hit), backend=opened.backend.name, area=opened.area)
                known = found.get(hit.learning.id)
                if known is None or one.hit.relevance > known.hit.relevance:
                    found[hit.learning.id] = one
        ordered = sorted(found.values(), key=lambda one: -one.hit.relevance)
        return ordered[: filters.limit]

    def get(self, learning_id: str) -> FoundLearning | None:
        """Fetch one learning of any status from whichever backend has it."""
        found: FoundLearning | None = None
        for opened in self._with(Capability.GET):
            learning = self._get(opened, learning_id)
            if learning is not None and (found is None or _puts_away(learning, found)):
                is_note = self._is_note(opened, learning_id)
                found = located(learning, opened, complete=not is_note)
        return found

    def _is_note(self, opened: OpenBackend, learning_id: str) -> bool:
        """Return whether what a backend has given is somebody else's note."""
        if not {Capability.NOTES, Capability.ITERATE} <= opened.backend.capabilities:
            return False
        return all(one.id != learning_id for one in self._listed_by(opened))

    def _listed_by(self, opened: OpenBackend) -> Sequence[Learning]:
        listed = _listed(opened.backend)
        answer = self._call(opened, "iterate", listed, seconds=LIST_SECONDS, default=())
        return self._sound(opened, "iterate", answer, is_learning)

    def _get(self, opened: OpenBackend, learning_id: str) -> Learning | None:
        learning = self._call(
            opened, "get", opened.backend.get, learning_id, seconds=READ_SECONDS, default=None
        )
        return next(
            iter(self._sound(opened, "get", [learning] if learning else [], is_learning)), None
        )

    def iterate(self) -> Iterator[FoundLearning]:
        """Go through the learnings of all backends that can list theirs."""
        found: dict[str, FoundLearning] = {}
        for opened in self._with(Capability.ITERATE):
            for learning in self._listed_by(opened):
                known = found.get(learning.id)
                if known is None or _puts_away(learning, known):
                    found[learning.id] = located(learning, opened)
        yield from found.values()

    @property
    def may_hold_copies(self) -> bool:
        """Whether several backends of the project list learnings, of which some may be the same."""
        return sum(one.area is Area.PROJECT for one in self._with(Capability.ITERATE)) > 1

    def level(self) -> None:
        """Put away in each backend of the project what another one has put away."""
        listed = {
            one.backend.name: {learning.id: learning.status for learning in self._listed_by(one)}
            for one in self._with(Capability.ITERATE)
            if one.area is Area.PROJECT
        }
        put_away = {
            learning_id: status
            for statuses in listed.values()
            for learning_id, status in statuses.items()
            if status is not LearningStatus.ACTIVE
        }
        for opened in self._with(Capability.SET_STATUS):
            statuses = listed.get(opened.backend.name, {}) if opened.area is Area.PROJECT else {}
            for learning_id in put_away.keys() & statuses.keys():
                if statuses[learning_id] is LearningStatus.ACTIVE:
                    with suppress(BackendError):
                        self._set_status(opened, learning_id, put_away[learning_id], _ELSEWHERE)

    def sources(self) -> Sequence[Path] | None:
        """Name what the learnings that can be listed are read from."""
        found: list[Path] = []
        for opened in self._with(Capability.ITERATE):
            backend = opened.backend
            if Capability.FILES not in backend.capabilities or not isinstance(backend, FileBacked):
                return None
            paths = self._call(opened, "files", backend.files, seconds=READ_SECONDS, default=None)
            if paths is None or not all(isinstance(path, Path) for path in paths):
                return None
            found += paths
        return found

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        """Archive, restore or supersede a learning wherever it lies."""
        holders = [one for one in self._with(Capability.GET) if self._get(one, learning_id)]
        if not holders:
            raise LearningNotFoundError(f"no learning has the id {learning_id}")
        if self._is_note(holders[0], learning_id):
            name = holders[0].backend.name
            raise UnsupportedError(
                f"{learning_id} is somebody else's note in {name}, which grove does not change"
            )
        able = [one for one in holders if Capability.SET_STATUS in one.backend.capabilities]
        if not able:
            names = ", ".join(one.backend.name for one in holders)
            raise UnsupportedError(f"the backend {names} cannot change the status of {learning_id}")
        changed = [self._set_status(one, learning_id, status, note) for one in able]
        return changed[0]

    def _set_status(
        self, opened: OpenBackend, learning_id: str, status: LearningStatus, note: str
    ) -> Learning:
        self.has_written = True
        before = len(self._plugins.report().problems)
        changed = self._call(
            opened,
            "set_status",
            opened.backend.set_status,
            learning_id,
            status,
            note,
            seconds=WRITE_SECONDS,
            default=None,
        )
        if not isinstance(changed, Learning):
            problems = self._plugins.report().problems[before:]
            why = "; ".join(one.detail for one in problems) or "it does not say why"
            raise BackendError(
                f"the backend {opened.backend.name} could not change {learning_id}: {why}"
            )
        return changed

    def healths(self, *, servers: bool = True) -> dict[str, Health]:
        """Ask the project's backends how they do."""
        opened = {one.state.spec.name: one for one in self.project_backends}
        closed = UnopenedBackend("").ping()
        return {
            one.spec.name: self._health_of(opened[one.spec.name], servers=servers)
            if one.spec.name in opened
            else closed
            for one in self.states
            if one.is_active
        }

    def _health_of(self, opened: OpenBackend, *, servers: bool) -> Health:
        if servers or Capability.SYNCHRONISE not in opened.backend.capabilities:
            return self.health(opened)
        return Health(ok=True, detail="not asked here: `grove backends` asks its server")

    def health(self, opened: OpenBackend) -> Health:
        """Ask a backend how it does."""
        ping, seconds = opened.backend.ping, self._limit(opened, READ_SECONDS)
        health = cleaned_health(self._call(opened, "ping", ping, seconds=seconds, default=None))
        if health is not None:
            return health
        return Health(ok=False, detail="did not answer; `grove plugins` names the fault")

    def freshness(self) -> Sequence[Freshness]:
        """Return how well what backends keep here stands for what their servers have."""
        found: list[Freshness] = []
        for opened in self._with(Capability.SYNCHRONISE):
            if isinstance(opened.backend, Synchronising):
                ask = opened.backend.freshness
                answer: object = self._call(
                    opened, "freshness", ask, seconds=READ_SECONDS, default=None
                )
                fresh = cleaned_freshness(answer)
                if fresh is not None:
                    found.append(fresh)
        return found

    def synchronise(self, seconds: float, *, asked: bool) -> Sequence[tuple[str, Synchronised]]:
        """Bring backends and their servers into line."""
        found: list[tuple[str, Synchronised]] = []
        for opened in self._with(Capability.SYNCHRONISE):
            if isinstance(opened.backend, Synchronising):
                self.has_written = True
                answer: object = self._call(
                    opened,
                    "synchronise",
                    partial(opened.backend.synchronise, seconds, asked=asked),
                    seconds=seconds + _GRACE_SECONDS,
                    default=None,
                )
                done = cleaned_synchronised(answer)
                fault = "it did not answer; `grove plugins` names the fault"
                found.append((opened.backend.name, done or Synchronised(fault=fault)))
        return found

    def _limit(self, opened: OpenBackend, seconds: float) -> float:
        """Return a slow backend more time, where no hook waits for it."""
        slow = Capability.SLOW in opened.backend.capabilities and not self._context.in_hook
        return max(seconds, SLOW_READ_SECONDS) if slow else seconds

    def _call(
        self,
        opened: OpenBackend,
        method: str,
        function: Callable[..., T],
        *arguments: object,
        seconds: float,
        default: D,
    ) -> T | D:
        return self._plugins.call(
            opened.state.provided,
            function,
            *arguments,
            seconds=seconds,
            default=default,
            what=_name(method, opened),
        )

    def _sound(
        self,
        opened: OpenBackend,
        method: str,
        answer: object,
        is_sound: Callable[[object], TypeGuard[T]],
    ) -> Sequence[T]:
        """Take what can be used of a backend's answer; the rest is reported."""
        what = _name(method, opened)
        if not isinstance(answer, list | tuple):
            self._plugins.complain(
                opened.state.provided, what, f"returned {type(answer).__name__} instead of a list"
            )
            return ()
        sound = [one for one in answer if is_sound(one)]
        if len(sound) < len(answer):
            self._plugins.complain(
                opened.state.provided,
                what,
                "returned a learning whose fields are not as they should be",
            )
        return sound


def _puts_away(learning: Learning, known: FoundLearning) -> bool:
    """Return whether a backend has put away what another one still has as active."""
    active = LearningStatus.ACTIVE
    return known.hit.learning.status is active and learning.status is not active


def _name(method: str, opened: OpenBackend) -> str:
    """Name a backend's method in reports."""
    return f"{method} of {opened.state.spec.name}"


def _listed(backend: MemoryBackend) -> Callable[[], Sequence[Learning]]:
    return lambda: tuple(backend.iterate())

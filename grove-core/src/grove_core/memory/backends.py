"""The memory backends of a project: which there are, and which of them a learning goes to."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from attrs import evolve

from grove_core import __version__
from grove_core.errors import BackendError
from grove_core.git import is_ignored_by_git
from grove_core.memory.outbox import Outbox, WaitingLearnings
from grove_core.memory.sanitize import clean_line_with_paths
from grove_core.model.learning import Scope
from grove_core.model.memory import Capability, Detection, Hit
from grove_core.model.value import Value, frozen
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec, MemoryBackend
from grove_core.plugins.discovery import Plugin
from grove_core.plugins.manager import Contribution, Plugins

DETECT_SECONDS: Final = 0.5
OPEN_SECONDS: Final = 2.0

_FAILED: Final = object()
_CORE: Final = Plugin("grove.core", "outbox", "", "grove-core", __version__)


@frozen(kw_only=True, eq=False, repr=False)
class BackendState(Value):
    """A memory backend and how it stands to a project."""

    provided: Contribution[BackendSpec]
    detection: Detection | None = None
    is_primary: bool = False
    has_failed: bool = False

    @property
    def spec(self) -> BackendSpec:
        """The specification."""
        return self.provided.value

    @property
    def is_active(self) -> bool:
        """Whether it is searched."""
        return self.detection is not None and self.detection.usable

    @property
    def why(self) -> str:
        """Why it is used or not."""
        if self.detection is None:
            return "not available in this project"
        if self.is_active:
            note = self.detection.note or f"found {self.detection.marker}"
            return clean_line_with_paths(note)
        return clean_line_with_paths(self.detection.note) or "cannot be used here"


@frozen(kw_only=True, eq=False, repr=False)
class OpenBackend(Value):
    """A backend that is open."""

    provided: Contribution[BackendSpec]
    area: Area
    backend: MemoryBackend

    @property
    def spec(self) -> BackendSpec:
        """The specification."""
        return self.provided.value

    @property
    def name(self) -> str:
        """What it calls itself: of several servers, which one."""
        return self.backend.name

    def can(self, capability: Capability) -> bool:
        """Return whether it has a capability."""
        return capability in self.backend.capabilities


@frozen(kw_only=True, eq=False, repr=False)
class FoundLearning(Value):
    """A hit and where it came from."""

    hit: Hit
    backend: str
    area: Area


class AvailableBackends:
    """The backends that are available in a project, found and opened when they are needed."""

    def __init__(
        self,
        plugins: Plugins,
        context: BackendContext,
        *,
        personal_backend: str,
        settings: Mapping[str, Any],
        outbox: Outbox | None = None,
        primary: str | None = None,
    ) -> None:
        """Open nothing yet; ``primary`` is the backend that the configuration names."""
        self._plugins = plugins
        self._context = context
        self._personal_backend = personal_backend
        self._settings = settings
        self._outbox = outbox
        self._configured = primary
        # Those that could not be read, so that what was found may not be all.
        self.unread: set[str] = set()

    @cached_property
    def states(self) -> Sequence[BackendState]:
        """All installed backends in order, as they stand to the project."""
        states: list[BackendState] = []
        for provided in self._plugins.memory_backends():
            context = self.context_for(provided.value.name, Area.PROJECT)
            detect = provided.value.detect
            answer: object = self._plugins.call(
                provided, "detect", detect, context, seconds=DETECT_SECONDS, default=_FAILED
            )
            state = BackendState(
                provided=provided,
                detection=answer if isinstance(answer, Detection) else None,
                has_failed=answer is _FAILED,
            )
            is_first = state.is_active and not any(one.is_primary for one in states)
            states.append(evolve(state, is_primary=is_first))
        return states

    @cached_property
    def project_backends(self) -> Sequence[OpenBackend]:
        """The open backends of the project, the primary one first."""
        opened = (self._open(state, Area.PROJECT) for state in self.states if state.is_active)
        return [one for one in opened if one is not None]

    @cached_property
    def personal(self) -> OpenBackend | None:
        """The backend of the user's personal learnings, if one can serve them."""
        for state in self.states:
            if state.spec.name == self._personal_backend:
                opened = self._open(state, Area.PERSONAL)
                if opened and opened.can(Capability.PERSONAL):
                    return opened
        return None

    @cached_property
    def _waiting(self) -> Sequence[OpenBackend]:
        """The outbox as a backend for each area: what waits is found like what is stored."""
        if self._outbox is None:
            return ()
        spec = BackendSpec(name=WaitingLearnings.name, detect=_nothing, open=_nothing)
        provided = Contribution(value=spec, source=_CORE)
        found = []
        for area in Area:
            personal = area is Area.PERSONAL
            waiting = WaitingLearnings(self._outbox, self._context.root, personal=personal)
            found.append(OpenBackend(provided=provided, area=area, backend=waiting))
        return found

    def _all(self) -> Sequence[OpenBackend]:
        personal = [self.personal] if self.personal else []
        return [*self.project_backends, *personal, *self._waiting]

    def own_paths(self) -> tuple[str, ...]:
        """Return which paths belong to backends."""
        return tuple(path for one in self._plugins.memory_backends() for path in one.value.paths)

    def target_for(self, scope: Scope) -> OpenBackend | None:
        """Choose where a learning of some scope is written."""
        match scope:
            case Scope.PERSONAL:
                return self.personal
            case Scope.EPHEMERAL:
                able = self.able(Capability.EPHEMERAL)
                return next((one for one in able if one.area is Area.PROJECT), None)
            case Scope.TEAM if self._primary and self._primary in self.project_backends:
                return next(filter(self.is_shared, self.project_backends), self._primary)
        return self._primary

    def is_shared(self, opened: OpenBackend) -> bool:
        """Check whether others who work on the project get what a backend stores."""
        files = [self._context.root / one.replace("*", "x") for one in opened.spec.shared]
        return not files or not all(map(is_ignored_by_git, files))

    @cached_property
    def _primary(self) -> OpenBackend | None:
        """The primary backend; the outbox, and no other, takes the place of one that is closed."""
        state = next((one for one in self.states if one.is_primary), None)
        if state is None:
            return None
        return self._opened(state) or next(iter(self._waiting), None)

    def _opened(self, state: BackendState) -> OpenBackend | None:
        return next((one for one in self.project_backends if one.spec is state.spec), None)

    def awaited(self, scope: Scope) -> str | None:
        """Name the backend that a learning waits for because it is not available here."""
        if scope not in {Scope.PROJECT, Scope.TEAM}:
            return None
        for state in self.states:
            if state.spec.name == self._configured and not state.is_active:
                return state.spec.name
        for state in self.states:
            if state.has_failed or (state.is_primary and not self._opened(state)):
                return state.spec.name
            if state.is_primary:
                break
        return None

    def destinations(self, scopes: Iterable[Scope]) -> tuple[str, ...]:
        """Name the backends that learnings of some scopes go to, available or not."""
        names: dict[str, None] = {}
        for scope in scopes:
            target = self.target_for(scope)
            name = self.awaited(scope) or (target and target.name)
            if name:
                names[name] = None
        return tuple(names)

    @property
    def is_slow(self) -> bool:
        """Whether a write to the project's primary backend may take long."""
        return self._primary is not None and self._primary.can(Capability.SLOW)

    def silent(self) -> Sequence[tuple[Area, str]]:
        """Name the backends that should be there and have failed to be found or opened."""
        opened = {(one.area, one.spec.name) for one in self._all()}
        expected = [
            (Area.PROJECT, state.spec.name)
            for state in self.states
            if state.is_active or state.has_failed
        ]
        return [one for one in expected if one not in opened]

    def able(self, capability: Capability) -> Sequence[OpenBackend]:
        """Return the backends that have a capability, the project's first."""
        return [one for one in self._all() if one.can(capability)]

    def _open(self, state: BackendState, area: Area) -> OpenBackend | None:
        context = self.context_for(state.spec.name, area)

        def opened() -> MemoryBackend:
            backend = state.spec.open(context)
            name: object = backend.name
            # A method that it lacks fails when it is called.
            if not isinstance(name, str) or not isinstance(backend.capabilities, frozenset):
                fault = "returned a backend whose name or capabilities are something else"
                raise BackendError(fault)
            return backend

        provided = state.provided
        backend = self._plugins.call(provided, "open", opened, seconds=OPEN_SECONDS, default=None)
        if backend is None:
            return None
        return OpenBackend(provided=provided, area=area, backend=backend)

    def context_for(self, name: str, area: Area) -> BackendContext:
        """Describe the place to work to a backend."""
        return evolve(self._context, area=area, settings=self._settings.get(name))


def _nothing(_: object) -> Any:  # noqa: ANN401 - never called
    return None

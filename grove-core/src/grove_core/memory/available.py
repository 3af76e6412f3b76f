"""The memory backends of a project: which there are, and which of them a learning goes to."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any, Final

from attrs import evolve

from grove_core.memory.backends import (
    Availability,
    BackendState,
    OpenBackend,
    availability,
    judge,
)
from grove_core.memory.unopened import UnopenedBackend
from grove_core.model.learning import Scope
from grove_core.model.memory import Capability, Detection
from grove_core.plugins.descriptors import Area, BackendContext
from grove_core.plugins.facade import Plugins
from grove_core.stats_cache.stamps import Stamp, stamp_of

DETECT_SECONDS: Final = 0.5
OPEN_SECONDS: Final = 2.0

_ALWAYS: Final = ("name", "capabilities", "write", "search", "ping")
_METHODS: Final = {
    Capability.GET: "get",
    Capability.ITERATE: "iterate",
    Capability.SET_STATUS: "set_status",
    Capability.FILES: "files",
    Capability.CHANGES: "changes",
    Capability.WITHDRAW: "withdraw",
    Capability.SYNCHRONISE: "synchronise",
}
"""What a backend must have besides, by what it says it can do."""

_LENDING: Final = frozenset({Capability.GET, Capability.WITHDRAW})
"""What it takes to give back what was lent."""

_FAILED: Final = object()


class AvailableBackends:
    """The backends that are available in a project, found and opened when they are needed."""

    def __init__(
        self,
        plugins: Plugins,
        context: BackendContext,
        *,
        personal_backend: str,
        settings: Mapping[str, Any],
    ) -> None:
        """Open nothing yet."""
        self._plugins = plugins
        self._context = context
        self._personal_backend = personal_backend
        self._settings = settings
        self._looks: dict[str, Stamp] = {}
        self._refuses_personal = False

    @cached_property
    def states(self) -> Sequence[BackendState]:
        """All installed backends in order, as they stand to the project."""
        states: list[BackendState] = []
        primary_found = False
        for provided in self._plugins.memory_backends():
            paths = [self._context.root / path for path in provided.value.paths]
            self._looks[provided.value.name] = stamp_of(paths)
            answer: object = self._plugins.call(
                provided,
                provided.value.detect,
                self.context_for(provided.value.name, Area.PROJECT),
                seconds=DETECT_SECONDS,
                default=_FAILED,
            )
            detection = answer if isinstance(answer, Detection) else None
            usable = detection is not None and detection.usable
            is_primary = usable and not primary_found
            primary_found = primary_found or usable
            has_failed = answer is _FAILED
            states.append(judge(provided, detection, is_primary=is_primary, has_failed=has_failed))
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
                if opened and Capability.PERSONAL in opened.backend.capabilities:
                    return opened
                self._refuses_personal = opened is not None
        return None

    def _all(self) -> Sequence[OpenBackend]:
        return [*self.project_backends, *([self.personal] if self.personal else [])]

    def own_paths(self) -> tuple[str, ...]:
        """Return which paths belong to backends."""
        return tuple(path for one in self._plugins.memory_backends() for path in one.value.paths)

    def availability(self) -> Availability | None:
        """Tell where to look, to see that the same backends are available."""
        return availability(self.states, self._context.root, self._looks)

    def target_for(self, scope: Scope) -> OpenBackend | None:
        """Tell where a learning of some scope is written."""
        if scope is Scope.PERSONAL:
            return self.personal
        if scope is Scope.EPHEMERAL:
            return next(
                (
                    one
                    for one in self.project_backends
                    if Capability.EPHEMERAL in one.backend.capabilities
                ),
                None,
            )
        return self._primary

    @cached_property
    def _primary(self) -> OpenBackend | None:
        """The primary backend; no other takes its place when it cannot be opened."""
        for state in self.states:
            if state.is_primary:
                opened = (one for one in self.project_backends if one.state is state)
                closed = UnopenedBackend(state.spec.name)
                return next(opened, OpenBackend(state=state, area=Area.PROJECT, backend=closed))
        return None

    def awaited(self, name: str | None, scope: Scope) -> str | None:
        """Return whether a learning is written elsewhere than where the project wants it."""
        if scope not in {Scope.PROJECT, Scope.TEAM}:
            return None
        for state in self.states:
            if state.spec.name == name and not state.is_active:
                return state.spec.name
        before = takewhile(lambda state: not state.is_primary, self.states)
        return next((state.spec.name for state in before if state.has_failed), None)

    def homes_of(self, name: str | None, scopes: Iterable[Scope]) -> tuple[str, ...]:
        """Name the backends that learnings of some scopes wait for."""
        homes = (self.home_of(name, scope) for scope in dict.fromkeys(scopes))
        return tuple(dict.fromkeys(home for home in homes if home is not None))

    def home_of(self, name: str | None, scope: Scope) -> str | None:
        """Name the backend that a learning of some scope belongs to, available or not."""
        target = self.target_for(scope)
        return self.awaited(name, scope) or (None if target is None else target.backend.name)

    def named(self, name: str) -> OpenBackend | None:
        """Return one of the project's open backends."""
        return next((one for one in self.project_backends if one.backend.name == name), None)

    @property
    def is_slow(self) -> bool:
        """Whether a write to the project's primary backend may take long."""
        primary = self._primary
        return primary is not None and Capability.SLOW in primary.backend.capabilities

    def lenders(self, target: OpenBackend, scope: Scope) -> Sequence[OpenBackend]:
        """Name the backends that can keep what another one cannot take, until that can."""
        if scope not in {Scope.PROJECT, Scope.TEAM}:
            return ()
        return [
            one
            for one in self.project_backends
            if one.state is not target.state and one.backend.capabilities >= _LENDING
        ]

    def listable(self) -> Sequence[OpenBackend]:
        """Name the backends that can list their learnings, the project's first."""
        return self._with(Capability.ITERATE)

    def silent(self) -> Sequence[tuple[Area, str]]:
        """Name the backends that should be there and have failed to be found or opened."""
        opened = {(one.area, one.state.spec.name) for one in self._all()}
        expected = [
            (Area.PROJECT, state.spec.name)
            for state in self.states
            if state.is_active or state.has_failed
        ]
        names = [state.spec.name for state in self.states]
        # One that cannot keep personal learnings has none that could be missed.
        if self._personal_backend in names and not self._refuses_personal:
            expected.append((Area.PERSONAL, self._personal_backend))
        return [one for one in expected if one not in opened]

    def names_with(self, capability: Capability) -> frozenset[str]:
        """Name the backends that have a capability."""
        return frozenset(one.backend.name for one in self._with(capability))

    def _with(self, capability: Capability) -> Sequence[OpenBackend]:
        return [one for one in self._all() if capability in one.backend.capabilities]

    def _open(self, state: BackendState, area: Area) -> OpenBackend | None:
        backend = self._plugins.call(
            state.provided,
            state.spec.open,
            self.context_for(state.spec.name, area),
            seconds=OPEN_SECONDS,
            default=None,
        )
        if backend is None:
            return None
        what = f"open of {state.spec.name}"
        complaint = self._plugins.call(
            state.provided,
            _complaint_about,
            backend,
            seconds=OPEN_SECONDS,
            default="is broken",
            what=what,
        )
        if complaint:
            self._plugins.complain(state.provided, what, complaint)
            return None
        return OpenBackend(state=state, area=area, backend=backend)

    def context_for(self, name: str, area: Area) -> BackendContext:
        """Describe the place to work to a backend."""
        return evolve(self._context, area=area, settings=self._settings.get(name))


def _complaint_about(backend: object) -> str:
    """Return what is wrong with a backend; its properties are the plugin's code and may raise."""
    kind = type(backend).__name__
    if missing := [one for one in _ALWAYS if not hasattr(backend, one)]:
        return f"returned {kind}, which has no {', '.join(missing)}"
    capabilities: object = getattr(backend, "capabilities", None)
    if not isinstance(getattr(backend, "name", None), str):
        return "returned a backend whose name is no text"
    if not isinstance(capabilities, frozenset):
        return "returned a backend whose capabilities are no frozenset"
    for capability, method in _METHODS.items():
        if capability in capabilities and not hasattr(backend, method):
            return f"returned {kind}, which says it can {capability.value} and has no {method}"
    return ""

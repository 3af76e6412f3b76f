"""The one place from which plugins are loaded and called.

pluggy checks what a plugin implements; grove calls each implementation by itself, with a time
limit, so that a broken plugin is reported under its distribution's name and the others go on.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from inspect import getattr_static, iscoroutinefunction, isroutine
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

import pluggy

from grove_core.errors import PluginError
from grove_core.model.gate import Gate
from grove_core.model.learning import Candidate, Learning, Rejection
from grove_core.model.memory import Receipt
from grove_core.model.session import Session
from grove_core.model.value import frozen
from grove_core.plugins.descriptors import (
    BackendSpec,
    CloseMatcher,
    CommandReader,
    CommandSpec,
    HealthCheck,
    ReflectionContext,
    TicketProbe,
)
from grove_core.plugins.discovery import (
    BACKEND_GROUP,
    GENERAL_GROUP,
    GROUPS,
    TICKET_GROUP,
    PluginSettings,
    choose,
    rank,
)
from grove_core.plugins.hookspecs import GROVE_API, HOOK_SPECIFICATIONS, PROJECT_NAME
from grove_core.plugins.limits import Deadline, TimeLimitError, TimeLimits, call_limited
from grove_core.plugins.report import (
    Plugin,
    PluginProblem,
    PluginReport,
    PluginState,
    ProblemList,
)

if TYPE_CHECKING:
    # Only `grove stats` needs them, and every hook imports this module.
    from grove_core.model.statistics import Insight, Statistics

T = TypeVar("T")
D = TypeVar("D")

LOADING: Final = "load"
_HOOK_PREFIX: Final = "grove_"
_DEFAULT_LIMITS: Final = TimeLimits()
_FAILED: Final = object()


class _Hook(NamedTuple):
    """How a hook is called: which groups are asked, and what kind of values it gives."""

    groups: Sequence[str]
    gives: type | str | None = None
    is_list: bool = True
    family: str = GENERAL_GROUP


_TICKETS: Final = (TICKET_GROUP, GENERAL_GROUP)
_BACKENDS: Final = (BACKEND_GROUP, GENERAL_GROUP)
_HOOKS: Final[Mapping[str, _Hook]] = {
    "grove_ticket_probes": _Hook(_TICKETS, TicketProbe, family=TICKET_GROUP),
    "grove_close_matchers": _Hook(_TICKETS, CloseMatcher, family=TICKET_GROUP),
    "grove_command_readers": _Hook(_TICKETS, CommandReader),
    "grove_memory_backends": _Hook(_BACKENDS, BackendSpec, family=BACKEND_GROUP),
    "grove_commands": _Hook(GROUPS, CommandSpec),
    "grove_health_checks": _Hook(GROUPS, HealthCheck),
    "grove_check_candidate": _Hook(GROUPS, Rejection, is_list=False),
    "grove_insights": _Hook(GROUPS, "Insight"),
    "grove_learning_written": _Hook(GROUPS),
    # The gate moves in hooks that never need a backend, so backends are not imported for it.
    "grove_gate_changed": _Hook(_TICKETS),
}
GROUPS_OF_HOOK: Final = {name: tuple(hook.groups) for name, hook in _HOOKS.items()}
"""The entry point groups whose plugins are asked, by hook; only these are imported for it."""


class _RefusedError(PluginError):
    """The plugin could be imported and must not be used."""


@frozen(kw_only=True)
class Contribution(Generic[T]):
    """A value and the plugin it comes from."""

    value: T
    source: Plugin

    @property
    def name(self) -> str:
        """The name that a descriptor is known by."""
        match self.value:
            case CloseMatcher():
                return self.value.system
            case CommandReader():
                return ", ".join(self.value.tools)
        return str(self.value.name)  # type: ignore[attr-defined]  # all other descriptors have one


class Plugins:
    """All plugins of this process, imported when something is asked of them."""

    def __init__(
        self,
        found: Iterable[Plugin],
        settings: PluginSettings,
        on_problem: Callable[[PluginProblem], None],
        *,
        limits: TimeLimits = _DEFAULT_LIMITS,
        deadline: Deadline | None = None,
    ) -> None:
        found = tuple(found)
        self._settings = settings
        self._limits = limits
        self._deadline = deadline or Deadline()
        self._problems = ProblemList(on_problem)
        self._plugins = [one for group in GROUPS for one in choose(found, group, settings)]
        self._loaded: set[str] = set()
        self._offers: dict[str, list[Contribution[Any]]] = {}
        self._hung: set[tuple[Plugin, str]] = set()

    def serve(
        self, on_problem: Callable[[PluginProblem], None], at: float | None, work: float | None
    ) -> None:
        """Go on for another hook in the same process: what was late before may be asked again."""
        self._problems.tell(on_problem)
        self._deadline.at, self._deadline.work = at, work
        self._hung.clear()

    def ticket_probes(self) -> list[Contribution[TicketProbe]]:
        """Return the ticket systems: configured ones in their order, the others by name."""
        return self._offered("grove_ticket_probes")

    def close_matchers(self) -> list[Contribution[CloseMatcher]]:
        """Return the close matchers, in the order of their ticket systems."""
        return self._offered("grove_close_matchers")

    def command_readers(self) -> list[Contribution[CommandReader]]:
        """Return what reads the commands of a shell, in the order of the plugins' names."""
        return self._offered("grove_command_readers")

    def memory_backends(self) -> list[Contribution[BackendSpec]]:
        """Return the memory backends: configured ones in their order, the others by name."""
        return self._offered("grove_memory_backends")

    def commands(self) -> list[Contribution[CommandSpec]]:
        """Return the plugins' sub-commands by name."""
        return self._offered("grove_commands")

    def health_checks(self) -> list[Contribution[HealthCheck]]:
        """Return the plugins' health checks by name."""
        return self._offered("grove_health_checks")

    def check_candidate(
        self, candidate: Candidate, context: ReflectionContext
    ) -> list[Contribution[Rejection]]:
        """Ask whether there are objections to a candidate."""
        hook = "grove_check_candidate"
        found = self.ask(hook, candidate=candidate, context=context)
        for one in found:
            if not one.value.reason.strip():
                self.complain(one, hook, "returned a Rejection without a reason")
        return [one for one in found if one.value.reason.strip()]

    def insights(self, statistics: "Statistics") -> "list[Contribution[Insight]]":
        """Ask what is worth knowing in the numbers."""
        return self.ask("grove_insights", statistics=statistics)

    def learning_written(self, learning: Learning, receipt: Receipt) -> None:
        """Tell the plugins that a learning was written."""
        self.ask("grove_learning_written", learning=learning, receipt=receipt)

    def gate_changed(self, session: Session, before: Gate, after: Gate, cause: str) -> None:
        """Tell the plugins that a session's gate has moved."""
        self.ask("grove_gate_changed", session=session, before=before, after=after, cause=cause)

    def observe_the_gate(self) -> bool:
        """Return whether any plugin wants to hear of changes of the gate."""
        hook = "grove_gate_changed"
        return any(hook in one.hooks for one in self._active(*GROUPS_OF_HOOK[hook]))

    def ask(self, hook: str, **arguments: object) -> list[Contribution[Any]]:
        """Call a hook's implementations one by one, and return the sound values they give."""
        about = _HOOKS[hook]
        seconds = self._limits.life_cycle if arguments else self._limits.registration
        found: list[Contribution[Any]] = []
        for plugin in self._active(*about.groups):
            for implementation in plugin.implementations.get(hook, ()):
                given = [arguments[name] for name in implementation.argnames]
                call = partial(_values, implementation.function, given, about)
                for values in self._limited(plugin, hook, call, seconds):
                    sound = [one for one in values if _is_a(one, about.gives)]
                    found += [Contribution(value=one, source=plugin) for one in sound]
                    for one in values:
                        if not _is_a(one, about.gives):
                            kind = _name_of_kind(about)
                            detail = f"returned {type(one).__name__} instead of {kind}"
                            self._problems.add(plugin, hook, detail)
        return found

    def call(
        self,
        provided: Contribution[Any],
        what: str,
        function: Callable[..., T],
        *arguments: Any,  # noqa: ANN401 - whatever the function takes
        seconds: float,
        default: D,
    ) -> T | D:
        """Call a function that a descriptor holds, named as its field is."""
        what = f"{what} of {provided.name}"
        answers = self._limited(provided.source, what, partial(function, *arguments), seconds)
        return answers[0] if answers else default

    def call_for_list(
        self,
        provided: Contribution[Any],
        what: str,
        kind: type[T],
        function: Callable[..., object],
        *arguments: Any,  # noqa: ANN401 - whatever the function takes
        seconds: float,
    ) -> list[T] | None:
        """Call a function that a descriptor holds and gives a list; ``None`` when it has failed."""
        answer = self.call(provided, what, function, *arguments, seconds=seconds, default=_FAILED)
        if isinstance(answer, list | tuple) and all(isinstance(one, kind) for one in answer):
            return list(answer)
        if answer is not _FAILED:
            detail = f"returned no list of {kind.__name__}"
            self.complain(provided, f"{what} of {provided.name}", detail)
        return None

    def complain(self, provided: Contribution[Any], what: str, detail: str) -> None:
        """Report something that a plugin did wrong without raising, such as a senseless answer."""
        self._problems.add(provided.source, what, detail)

    def load_all(self) -> None:
        """Load every plugin and ask for all it offers, so that the report is complete."""
        self._active(*GROUPS)
        for hook in GROUPS_OF_HOOK:
            if hook.endswith("s") and hook != "grove_insights":
                self._offered(hook)

    def report(self) -> PluginReport:
        """Return what has become of each plugin so far, without loading any."""
        return PluginReport(plugins=tuple(self._plugins), problems=self._problems.everything())

    def _offered(self, hook: str) -> list[Contribution[Any]]:
        """Bring what plugins offer into order; of several with one name the first is used."""
        if hook not in self._offers:
            self._offers[hook] = self._chosen(hook, self.ask(hook))
        return list(self._offers[hook])

    def _chosen(self, hook: str, offers: list[Contribution[Any]]) -> list[Contribution[Any]]:
        family = _HOOKS[hook].family
        order = self._settings.order(family)
        offers.sort(
            key=lambda one: (
                *rank(order, one.name, one.source.distribution),
                not one.source.first_party,
            )
        )
        chosen: list[Contribution[Any]] = []
        first: dict[str, Plugin] = {}
        for offer in offers:
            name = offer.name
            if self._settings.blocks(family, name):
                continue
            is_new = name not in first
            used = first.setdefault(name, offer.source)
            # A ticket system may have a matcher for each kind of tools; nothing else comes twice.
            if is_new or (used is offer.source and isinstance(offer.value, CloseMatcher)):
                chosen.append(offer)
            else:
                detail = f"{name} is provided by {used} as well, which is used"
                self._problems.add(offer.source, hook, detail)
        return chosen

    def _limited(
        self, plugin: Plugin, what: str, function: Callable[[], T], seconds: float
    ) -> tuple[T, ...]:
        """Call one function; nothing comes back when it fails, which is reported."""
        if (plugin, what) in self._hung:
            return ()
        try:
            return (call_limited(function, seconds, self._deadline),)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self._problems.add(plugin, what, error)
            if isinstance(error, TimeLimitError):
                self._hung.add((plugin, what))
            return ()

    def _active(self, *groups: str) -> Sequence[Plugin]:
        """Return the usable plugins of some groups, loading what is not loaded yet."""
        for group in groups:
            if group not in self._loaded:
                self._loaded.add(group)
                for plugin in self._plugins:
                    if plugin.group == group and plugin.state is PluginState.NOT_LOADED:
                        self._load(plugin)
        found: dict[int, Plugin] = {}
        for group in groups:
            for plugin in self._plugins:
                if plugin.group == group and plugin.state is PluginState.ACTIVE:
                    found.setdefault(id(plugin.instance), plugin)
        return [*found.values()]

    def _load(self, plugin: Plugin) -> None:
        """Load one plugin; whatever it does wrong ends in the report."""
        started = time.perf_counter()
        try:
            self._import(plugin)
            plugin.state = PluginState.ACTIVE
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            refused = isinstance(error, _RefusedError | pluggy.PluginValidationError)
            plugin.state = PluginState.REFUSED if refused else PluginState.FAILED
            plugin.implementations = {}
            plugin.detail = self._problems.add(plugin, LOADING, error)
        plugin.milliseconds = round((time.perf_counter() - started) * 1000, 1)

    def _import(self, plugin: Plugin) -> None:
        seconds = self._limits.load
        importing = partial(import_target, plugin.target)
        plugin.instance, api = call_limited(importing, seconds, self._deadline)
        self._check_api(plugin, api)
        # Looking through an object can run its code, too.
        registering = partial(self._register, plugin.entry_point, plugin.instance)
        plugin.implementations, warnings = call_limited(registering, seconds, self._deadline)
        for name in plugin.hooks:
            if plugin.group not in GROUPS_OF_HOOK[name]:
                groups = " or ".join(GROUPS_OF_HOOK[name])
                warnings.append(
                    (name, f"is never called in {plugin.group}; it belongs in {groups}")
                )
        if not plugin.hooks:
            warnings.append((LOADING, "implements no hook of grove"))
        for what, detail in warnings:
            self._problems.add(plugin, what, detail)

    def _check_api(self, plugin: Plugin, api: object) -> None:
        if api is None:
            return
        if type(api) is not int:
            self._problems.add(plugin, "grove_api", f"is no whole number such as {GROVE_API}")
        elif api != GROVE_API:
            older = plugin.distribution if api < GROVE_API else "grove-core"
            raise _RefusedError(
                f"was written for plugin API {api}; this grove speaks {GROVE_API}: upgrade {older}"
            )

    def _register(
        self, name: str, instance: object
    ) -> tuple[dict[str, tuple[pluggy.HookImpl, ...]], list[tuple[str, str]]]:
        """Let pluggy check a plugin; the second result is what is odd about it."""
        registry = self._registry
        if not any(instance is known for _, known in registry.list_name_plugin()):
            registry.register(instance, name)
        warnings = [
            (name, "is not marked with @hookimpl") for name in _unmarked(registry, instance)
        ]
        implementations: dict[str, tuple[pluggy.HookImpl, ...]] = {}
        for caller in registry.get_hookcallers(instance) or ():
            own = tuple(each for each in caller.get_hookimpls() if each.plugin is instance)
            if caller.has_spec():
                implementations[caller.name] = own
                for one in own:
                    if one.wrapper or one.hookwrapper:
                        why = "is a wrapper; grove calls every implementation by itself"
                        raise _RefusedError(f"{caller.name} {why}")
                    if iscoroutinefunction(one.function):
                        why = "is a coroutine function; grove calls plain functions"
                        raise _RefusedError(f"{caller.name} {why}")
            elif not all(each.optionalhook for each in own):
                warnings.append((caller.name, f"is no hook of plugin API {GROVE_API}"))
        return dict(sorted(implementations.items())), warnings

    @cached_property
    def _registry(self) -> pluggy.PluginManager:
        registry = pluggy.PluginManager(PROJECT_NAME)
        for specification in HOOK_SPECIFICATIONS:
            registry.add_hookspecs(specification)
        return registry


def import_target(target: str) -> tuple[object, object]:
    """Import what an entry point names; the second result is the API it was written for."""
    module_name, _, path = target.partition(":")
    module = import_module(module_name.strip())
    instance: Any = module
    for attribute in filter(None, path.strip().split(".")):
        instance = getattr(instance, attribute)
    if instance is None:
        raise PluginError(f"{target} is None")
    api = getattr(instance, "grove_api", None)
    return instance, getattr(module, "grove_api", None) if api is None else api


def _unmarked(registry: pluggy.PluginManager, instance: object) -> list[str]:
    return [
        name
        for name in dir(instance)
        if name.startswith(_HOOK_PREFIX)
        and isroutine(getattr_static(instance, name, None))
        and registry.parse_hookimpl_opts(instance, name) is None
    ]


def _values(function: Callable[..., Any], given: Sequence[object], about: _Hook) -> list[Any]:
    """Call an implementation and take its values, within its time limit."""
    answer = function(*given)
    if about.gives is None or (not about.is_list and answer is None):
        return []
    if not about.is_list:
        return [answer]
    if isinstance(answer, list | tuple) and not _is_a(answer, about.gives):
        return list(answer)
    raise PluginError(
        f"returned {type(answer).__name__} instead of a list of {_name_of_kind(about)}"
    )


def _is_a(value: object, kind: type | str | None) -> bool:
    if kind == "Insight":
        # Hooks import no statistics; a plugin that gives insights has imported them.
        from grove_core.model.statistics import Insight

        return isinstance(value, Insight)
    return isinstance(kind, type) and isinstance(value, kind)


def _name_of_kind(about: _Hook) -> str:
    return about.gives if isinstance(about.gives, str) else getattr(about.gives, "__name__", "None")

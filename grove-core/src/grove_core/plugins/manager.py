"""The one place from which plugins are loaded and called.

pluggy checks what a plugin implements; grove calls each implementation by itself, with a time
limit, so that a broken plugin is reported under its distribution's name and the others go on.
"""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from functools import cached_property, partial
from importlib import import_module
from inspect import getattr_static, iscoroutinefunction, isroutine
from threading import get_ident, main_thread
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

import pluggy
from attrs import evolve

from grove_core.errors import PluginError
from grove_core.model.learning import Candidate, Learning, Rejection
from grove_core.model.memory import Health, Receipt
from grove_core.model.value import frozen
from grove_core.plugins.descriptors import (
    BackendSpec,
    CloseMatcher,
    CommandReader,
    CommandSpec,
    HealthCheck,
    ProjectContext,
    ReflectionContext,
    TicketProbe,
)
from grove_core.plugins.discovery import (
    BACKEND_GROUP,
    GATES,
    GENERAL_GROUP,
    GROUPS,
    HOST_GROUP,
    TICKET_GROUP,
    Plugin,
    PluginProblem,
    PluginSettings,
    PluginState,
    choose,
    describe_error,
    rank,
)
from grove_core.plugins.hookspecs import GROVE_API, HOOK_SPECIFICATIONS, PROJECT_NAME
from grove_core.plugins.limits import (
    Deadline,
    NoTimeLeftError,
    TimeLimitError,
    TimeLimits,
    call_limited,
)

if TYPE_CHECKING:
    # Few plugins have gates.
    from grove_core.plugins.gates import GateSpec, PluginGate
    from grove_core.plugins.hosts import HostSpec

T = TypeVar("T")
D = TypeVar("D")

_Implementations = Mapping[str, tuple[pluggy.HookImpl, ...]]

LOADING: Final = "load"
_HOOK_PREFIX: Final = "grove_"
_DEFAULT_LIMITS: Final = TimeLimits()
_HEALTH_SECONDS: Final = 2.0
_OPEN_SECONDS: Final = 0.5
_TICKETS: Final = (TICKET_GROUP, GENERAL_GROUP)
_BACKENDS: Final = (BACKEND_GROUP, GENERAL_GROUP)

GROUPS_OF_HOOK: Final[Mapping[str, Sequence[str]]] = {
    "grove_ticket_probes": _TICKETS,
    "grove_close_matchers": _TICKETS,
    "grove_command_readers": _TICKETS,
    "grove_memory_backends": _BACKENDS,
    "grove_hosts": (HOST_GROUP,),
    # Hooks ask, and must not import ticket systems and backends for it.
    "grove_gates": (GENERAL_GROUP,),
    "grove_commands": GROUPS,
    "grove_health_checks": GROUPS,
    "grove_check_candidate": GROUPS,
    "grove_learning_written": GROUPS,
}
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


class OpenGate(NamedTuple):
    """A plugin's gate, open for a project."""

    source: "Contribution[GateSpec]"
    gate: "PluginGate"

    @property
    def name(self) -> str:
        """The gate's name."""
        return self.source.name


class Plugins:
    """All plugins of this process, imported when something is asked of them.

    ``found`` are the plugins in their order, with what has become of each so far; ``problems`` is
    what they have done wrong, oldest first.
    """

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
        self.found = [one for group in GROUPS for one in choose(found, group, settings)]
        self.problems: list[PluginProblem] = []
        self._settings = settings
        self._limits = limits
        self._deadline = deadline or Deadline()
        self._on_problem = on_problem
        self._is_out_of_time = False
        self._offers: dict[tuple[str, str], list[Contribution[Any]]] = {}
        self._hung: set[tuple[Plugin, str]] = set()

    def serve(
        self, on_problem: Callable[[PluginProblem], None], at: float | None, work: float | None
    ) -> None:
        """Go on for another hook in the same process: what was late before may be asked again."""
        self._on_problem, self._is_out_of_time = on_problem, False
        self._deadline.at, self._deadline.work = at, work
        for plugin, what in self._hung:
            if what == LOADING:
                plugin.state = PluginState.NOT_LOADED
        if self._hung:
            self._offers.clear()
        self._hung.clear()

    def ticket_probes(self) -> list[Contribution[TicketProbe]]:
        """Return the ticket systems: configured ones in their order, the others by name."""
        return self._offered("grove_ticket_probes", TicketProbe, TICKET_GROUP)

    def close_matchers(self) -> list[Contribution[CloseMatcher]]:
        """Return the close matchers, in the order of their ticket systems."""
        return self._offered("grove_close_matchers", CloseMatcher, TICKET_GROUP)

    def command_readers(self) -> list[Contribution[CommandReader]]:
        """Return what reads the commands of a shell, in the order of the plugins' names."""
        return self._offered("grove_command_readers", CommandReader)

    def memory_backends(self) -> list[Contribution[BackendSpec]]:
        """Return the memory backends: configured ones in their order, the others by name."""
        return self._offered("grove_memory_backends", BackendSpec, BACKEND_GROUP)

    def gates(self) -> "list[Contribution[GateSpec]]":
        """Return the gates: configured ones in their order, the others by name."""
        hook = "grove_gates"
        if not any(hook in one.hooks for one in self._active(GROUPS_OF_HOOK[hook])):
            return []
        from grove_core.plugins.gates import GateSpec

        return self._offered(hook, GateSpec, GATES)

    def open_gates(
        self, context: ProjectContext, settings: Mapping[str, Any], most_blocks: int
    ) -> "list[OpenGate]":
        """Open the gates that are on, as long as together they block no more often in a row."""
        from grove_core.plugins.gates import PluginGate

        found: list[OpenGate] = []
        left = most_blocks
        for one in self.gates():
            own, ask = evolve(context, settings=settings.get(one.name)), one.value.open
            opened: object = self.call(one, "open", ask, own, seconds=_OPEN_SECONDS, default=None)
            if opened is None:
                continue
            if not isinstance(opened, PluginGate):
                self.complain(one, f"open of {one.name}", "returned no PluginGate")
            elif opened.most_blocks > left:
                why = f"it blocks {opened.most_blocks} times, and the client takes {left} more"
                self.complain(one, f"gate {one.name}", f"is off: {why} in a row")
            else:
                left -= opened.most_blocks
                found.append(OpenGate(one, opened))
        return found

    def hosts(self) -> "list[Contribution[HostSpec]]":
        """Return the clients by name."""
        from grove_core.plugins.hosts import HostSpec

        return self._offered("grove_hosts", HostSpec)

    def host(self, name: str) -> "Contribution[HostSpec] | None":
        """Return a client's adapter; only the plugin that is named like it is loaded."""
        from grove_core.plugins.hosts import HostSpec

        offers = self._offered("grove_hosts", HostSpec, only=name)
        return next((one for one in offers if one.name == name), None)

    def commands(self) -> list[Contribution[CommandSpec]]:
        """Return the plugins' sub-commands by name."""
        return self._offered("grove_commands", CommandSpec)

    def health_checks(self) -> list[Contribution[HealthCheck]]:
        """Return the plugins' health checks by name."""
        return self._offered("grove_health_checks", HealthCheck)

    def load_all(self) -> None:
        """Load every plugin and ask for all it offers, so that nothing is missing in the report."""
        self._active(GROUPS)
        self.ticket_probes()
        self.close_matchers()
        self.command_readers()
        self.memory_backends()
        self.gates()
        self.hosts()
        self.commands()
        self.health_checks()

    def healths(
        self, context: ProjectContext, settings: Mapping[str, Any]
    ) -> list[tuple[str, Health]]:
        """Ask every health check; one that gives no answer is not well."""
        found: list[tuple[str, Health]] = []
        for one in self.health_checks():
            before, run = len(self.problems), one.value.run
            own = evolve(context, settings=settings.get(one.name))
            answer: object = self.call(one, "run", run, own, seconds=_HEALTH_SECONDS, default=None)
            if not isinstance(answer, Health):
                why = "; ".join(each.detail for each in self.problems[before:])
                answer = Health(
                    ok=False,
                    detail=f"{one.source} could not look: {why or 'it gave no health'}",
                    fix=f"Upgrade {one.source.distribution}, or report this to its authors",
                )
            found.append((one.name, answer))
        return found

    def check_candidate(
        self, candidate: Candidate, context: ReflectionContext
    ) -> list[Contribution[Rejection]]:
        """Ask whether there are objections to a candidate."""
        hook = "grove_check_candidate"
        return self._ask(hook, _objections, candidate=candidate, context=context)

    def learning_written(self, learning: Learning, receipt: Receipt) -> None:
        """Tell the plugins that a learning was written."""
        self._ask("grove_learning_written", lambda _: [], learning=learning, receipt=receipt)

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

        def listed() -> list[T]:
            return _list_of(kind, function(*arguments))

        return self.call(provided, what, listed, seconds=seconds, default=None)

    def complain(self, provided: Contribution[Any], what: str, detail: str) -> None:
        """Report something that a plugin did wrong without raising, such as a senseless answer."""
        self._report(provided.source, what, detail)

    def _report(self, source: Plugin, what: str, error: Exception | str) -> str:
        """Report a problem once, and say it in a line; that no time is left is one for all."""
        problem = PluginProblem(source=source, what=what, detail=describe_error(error))
        is_out_of_time = isinstance(error, NoTimeLeftError)
        if problem not in self.problems and not (is_out_of_time and self._is_out_of_time):
            self.problems.append(problem)
            self._on_problem(problem)
        self._is_out_of_time = self._is_out_of_time or is_out_of_time
        return problem.detail

    def _ask(
        self, hook: str, take: Callable[[Any], list[T]], *, only: str = "", **arguments: object
    ) -> list[Contribution[T]]:
        """Call a hook's implementations one by one, and take the sound values they give."""
        seconds = self._limits.life_cycle if arguments else self._limits.registration
        found: list[Contribution[T]] = []

        def call(one: pluggy.HookImpl) -> list[T]:
            return take(one.function(*(arguments[name] for name in one.argnames)))

        for plugin in self._active(GROUPS_OF_HOOK[hook], only):
            for one in plugin.implementations.get(hook, ()):
                for values in self._limited(plugin, hook, partial(call, one), seconds):
                    found += [Contribution(value=value, source=plugin) for value in values]
        return found

    def _offered(
        self, hook: str, kind: type[T], family: str = GENERAL_GROUP, only: str = ""
    ) -> list[Contribution[T]]:
        """Bring what plugins offer into order; of several with one name the first is used."""
        if (hook, only) not in self._offers:
            offers = self._ask(hook, partial(_list_of, kind), only=only)
            self._offers[hook, only] = self._chosen(hook, family, offers)
        return list(self._offers[hook, only])

    def _chosen(
        self, hook: str, family: str, offers: list[Contribution[T]]
    ) -> list[Contribution[T]]:
        order = self._settings.order(family)
        offers.sort(
            key=lambda one: (
                *rank(order, one.name, one.source.distribution),
                not one.source.first_party,
            )
        )
        chosen: list[Contribution[T]] = []
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
                self._report(offer.source, hook, detail)
        return chosen

    def _limited(
        self, plugin: Plugin, what: str, function: Callable[[], T], seconds: float
    ) -> tuple[T, ...]:
        """Call one function; nothing comes back when it fails, which is reported."""
        if (plugin, what) in self._hung:
            return ()
        try:
            # What a command prints is read by programs. A server has threads, and no output.
            is_command = get_ident() == main_thread().ident
            with redirect_stdout(sys.stderr) if is_command else nullcontext():
                return (call_limited(function, seconds, self._deadline),)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self._report(plugin, what, error)
            if isinstance(error, TimeLimitError):
                self._hung.add((plugin, what))
            return ()

    def _active(self, groups: Sequence[str], only: str = "") -> Iterable[Plugin]:
        """Return the usable plugins of some groups, loading what is not loaded yet."""
        asked: dict[int, Plugin] = {}
        for plugin in self.found:
            if plugin.group in groups and only in ("", plugin.name):
                if plugin.state is PluginState.NOT_LOADED:
                    self._load(plugin)
                if plugin.state is PluginState.LOADED:
                    asked.setdefault(id(plugin.instance), plugin)
        return asked.values()

    def _load(self, plugin: Plugin) -> None:
        """Load one plugin; whatever it does wrong ends in the report."""
        started = time.perf_counter()
        try:
            # Looking through an object can run its code, as importing does.
            importing = partial(self._import, plugin)
            found = call_limited(importing, self._limits.load, self._deadline)
            plugin.instance, plugin.implementations, odd = found
            for what, detail in odd:
                self._report(plugin, what, detail)
            plugin.state = PluginState.LOADED
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            refused = isinstance(error, _RefusedError | pluggy.PluginValidationError)
            plugin.state = PluginState.REFUSED if refused else PluginState.FAILED
            plugin.detail = self._report(plugin, LOADING, error)
            if isinstance(error, TimeLimitError | NoTimeLeftError):
                self._hung.add((plugin, LOADING))
        plugin.milliseconds = round((time.perf_counter() - started) * 1000, 1)

    def _import(self, plugin: Plugin) -> tuple[object, _Implementations, list[tuple[str, str]]]:
        """Import a plugin and let pluggy check it; what is odd about it comes back."""
        instance, api = import_target(plugin.target)
        if api not in (None, GROVE_API):
            speaks = f"was written for plugin API {api}; this grove speaks {GROVE_API}"
            raise _RefusedError(f"{speaks}: upgrade {plugin.distribution} or grove-core")
        registry = self._registry
        if not any(instance is known for _, known in registry.list_name_plugin()):
            registry.register(instance, plugin.entry_point)
        odd = [(name, "is not marked with @hookimpl") for name in _unmarked(registry, instance)]
        implementations: dict[str, tuple[pluggy.HookImpl, ...]] = {}
        for caller in registry.get_hookcallers(instance) or ():
            hook = caller.name
            own = tuple(one for one in caller.get_hookimpls() if one.plugin is instance)
            groups = GROUPS_OF_HOOK.get(hook)
            if groups is not None:
                implementations[hook] = own
                _refuse_what_is_called_otherwise(hook, own)
                if plugin.group not in groups:
                    wrong = f"is never called in {plugin.group}; it belongs in"
                    odd.append((hook, f"{wrong} {' or '.join(groups)}"))
            elif not all(one.optionalhook for one in own):
                odd.append((hook, f"is no hook of plugin API {GROVE_API}"))
        if not implementations:
            odd.append((LOADING, "implements no hook of grove"))
        return instance, dict(sorted(implementations.items())), odd

    @cached_property
    def _registry(self) -> pluggy.PluginManager:
        registry = pluggy.PluginManager(PROJECT_NAME)
        for specification in HOOK_SPECIFICATIONS:
            registry.add_hookspecs(specification)
        return registry


def import_target(target: str) -> tuple[object, Any]:
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


def _refuse_what_is_called_otherwise(hook: str, own: Iterable[pluggy.HookImpl]) -> None:
    for one in own:
        if one.wrapper or one.hookwrapper:
            raise _RefusedError(f"{hook} is a wrapper; grove calls every implementation by itself")
        if iscoroutinefunction(one.function):
            raise _RefusedError(f"{hook} is a coroutine function; grove calls plain functions")


def _list_of(kind: type[T], answer: object) -> list[T]:
    if isinstance(answer, kind) or not isinstance(answer, list | tuple):
        found = type(answer).__name__
        raise PluginError(f"returned {found} instead of a list of {kind.__name__}")
    for one in answer:
        if not isinstance(one, kind):
            raise PluginError(f"returned {type(one).__name__} instead of {kind.__name__}")
    return list(answer)


def _objections(answer: object) -> list[Rejection]:
    if answer is None:
        return []
    if not isinstance(answer, Rejection):
        raise PluginError(f"returned {type(answer).__name__} instead of Rejection")
    if not answer.reason.strip():
        raise PluginError("returned a Rejection without a reason")
    return [answer]

"""Loading plugins: imports on demand, checks what was imported, and keeps the broken ones apart."""

import time
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import getattr_static, iscoroutinefunction, isroutine
from typing import Any, Final

import pluggy
from attrs import evolve

from grove_core import __version__
from grove_core.errors import PluginError
from grove_core.model.value import frozen
from grove_core.plugins.discovery import (
    BACKEND_GROUP,
    GENERAL_GROUP,
    GROUPS,
    TICKET_GROUP,
    FoundPlugin,
)
from grove_core.plugins.hookspecs import HOOK_SPECIFICATIONS
from grove_core.plugins.limits import Deadline, TimeLimits, call_limited
from grove_core.plugins.markers import GROVE_API, PROJECT_NAME
from grove_core.plugins.report import (
    PluginEntry,
    PluginSource,
    PluginState,
    ProblemList,
    describe_error,
)
from grove_core.plugins.selection import Choice, PluginSettings, choose

LOADING: Final = "load"
OWN_GROUP: Final = "grove.core"
"""No entry point group: what grove itself contributes, for hooks that name this group."""
_OWN: Final = FoundPlugin(
    OWN_GROUP, "grove-core", "grove_core.plugins.own", "grove-core", __version__, first_party=True
)
_HOOK_PREFIX: Final = "grove_"
_TICKET_HOOK_GROUPS: Final = (TICKET_GROUP, GENERAL_GROUP)
_BACKEND_HOOK_GROUPS: Final = (BACKEND_GROUP, GENERAL_GROUP)

GROUPS_OF_HOOK: Final[Mapping[str, tuple[str, ...]]] = {
    "grove_ticket_probes": _TICKET_HOOK_GROUPS,
    "grove_close_matchers": _TICKET_HOOK_GROUPS,
    "grove_command_readers": _TICKET_HOOK_GROUPS,
    "grove_memory_backends": _BACKEND_HOOK_GROUPS,
    "grove_commands": GROUPS,
    "grove_health_checks": GROUPS,
    "grove_retrieval_engines": (OWN_GROUP, *GROUPS),
    "grove_query_terms": GROUPS,
    "grove_check_candidate": GROUPS,
    "grove_insights": (OWN_GROUP, *GROUPS),
    "grove_learning_written": GROUPS,
    # The gate moves in hooks that never need a backend, so backends are not imported for it.
    "grove_gate_changed": _TICKET_HOOK_GROUPS,
}
"""The entry point groups whose plugins are asked, by hook; only these are imported for it."""


class _RefusedError(PluginError):
    """The plugin could be imported and must not be used."""


@frozen(kw_only=True, eq=False)
class LoadedPlugin:
    """A plugin that is ready to be called."""

    source: PluginSource
    first_party: bool
    instance: object
    implementations: Mapping[str, tuple[pluggy.HookImpl, ...]]


class Manager:
    """Loads the plugins of an entry point group when they are first needed."""

    def __init__(
        self,
        found: Iterable[FoundPlugin],
        settings: PluginSettings,
        limits: TimeLimits,
        deadline: Deadline,
        problems: ProblemList,
    ) -> None:
        found = tuple(found)
        # Settings choose among what is installed; grove's own part is always there.
        choices = [Choice(found=_OWN, state=PluginState.NOT_LOADED)]
        choices += [choice for group in GROUPS for choice in choose(found, group, settings)]
        self._choices: tuple[Choice, ...] = tuple(choices)
        self._entries = {
            choice.found: PluginEntry(found=choice.found, state=choice.state, detail=choice.detail)
            for choice in choices
        }
        self._limits = limits
        self._deadline = deadline
        self._problems = problems
        self._loaded: dict[str, tuple[LoadedPlugin, ...]] = {}
        self._registry: pluggy.PluginManager | None = None

    def plugins(self, groups: Iterable[str]) -> tuple[LoadedPlugin, ...]:
        """Return the usable plugins of some groups, loading what is not loaded yet."""
        loaded = [plugin for group in groups for plugin in self._load_group(group)]
        unique: dict[int, LoadedPlugin] = {}
        for plugin in loaded:
            unique.setdefault(id(plugin.instance), plugin)
        return tuple(unique.values())

    def entries(self) -> tuple[PluginEntry, ...]:
        """Return what has become of each installed plugin so far, in the order they are asked."""
        return tuple(entry for found, entry in self._entries.items() if found is not _OWN)

    def own_entry(self) -> PluginEntry:
        """Return what has become of grove's own part."""
        return self._entries[_OWN]

    def _load_group(self, group: str) -> tuple[LoadedPlugin, ...]:
        if group not in self._loaded:
            attempts = [
                self._attempt(choice)
                for choice in self._choices
                if choice.found.group == group and choice.state is PluginState.NOT_LOADED
            ]
            self._loaded[group] = tuple(plugin for plugin in attempts if plugin)
        return self._loaded[group]

    def _attempt(self, choice: Choice) -> LoadedPlugin | None:
        """Load one plugin; whatever it does wrong ends in the report."""
        started = time.perf_counter()
        source = PluginSource.of(choice.found)
        plugin: LoadedPlugin | None = None
        state, detail = PluginState.ACTIVE, choice.detail
        try:
            plugin = self._load(choice.found, source)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            refused = isinstance(error, _RefusedError | pluggy.PluginValidationError)
            state = PluginState.REFUSED if refused else PluginState.FAILED
            detail = describe_error(error)
            self._problems.add_error(source, LOADING, error)
        self._entries[choice.found] = evolve(
            self._entries[choice.found],
            state=state,
            detail=detail,
            hooks=tuple(sorted(plugin.implementations)) if plugin else (),
            milliseconds=round((time.perf_counter() - started) * 1000, 1),
        )
        return plugin

    def _load(self, found: FoundPlugin, source: PluginSource) -> LoadedPlugin:
        instance, api = call_limited(
            lambda: import_target(found.target), self._limits.load, self._deadline
        )
        self._check_api(api, source)
        # Looking through an object can run its code, too.
        implementations, warnings = call_limited(
            lambda: self._register(source.entry_point, instance),
            self._limits.load,
            self._deadline,
        )
        for name in implementations:
            if found.group not in GROUPS_OF_HOOK[name]:
                groups = " or ".join(GROUPS_OF_HOOK[name])
                warnings.append((name, f"is never called in {found.group}; it belongs in {groups}"))
        if not implementations:
            warnings.append((LOADING, "implements no hook of grove"))
        for what, detail in warnings:
            self._problems.add(source, what, detail)
        return LoadedPlugin(
            source=source,
            first_party=found.first_party,
            instance=instance,
            implementations=implementations,
        )

    def _check_api(self, api: object, source: PluginSource) -> None:
        if api is None:
            return
        if type(api) is not int:
            self._problems.add(source, "grove_api", f"is no whole number such as {GROVE_API}")
        elif api > GROVE_API:
            raise _RefusedError(
                f"was written for plugin API {api}; this grove speaks {GROVE_API}: "
                "upgrade grove-core"
            )

    def _register(
        self, name: str, instance: object
    ) -> tuple[dict[str, tuple[pluggy.HookImpl, ...]], list[tuple[str, str]]]:
        """Let pluggy check a plugin; the second result is what is odd about it."""
        registry = self._specified()
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
                _refuse_what_cannot_be_called(caller.name, own)
            elif not all(each.optionalhook for each in own):
                warnings.append((caller.name, f"is no hook of plugin API {GROVE_API}"))
        return implementations, warnings

    def _specified(self) -> pluggy.PluginManager:
        if self._registry is None:
            self._registry = pluggy.PluginManager(PROJECT_NAME)
            for specification in HOOK_SPECIFICATIONS:
                self._registry.add_hookspecs(specification)
        return self._registry


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


def _refuse_what_cannot_be_called(hook: str, implementations: Iterable[pluggy.HookImpl]) -> None:
    for implementation in implementations:
        if implementation.wrapper or implementation.hookwrapper:
            raise _RefusedError(f"{hook} is a wrapper; grove calls every implementation by itself")
        function: Callable[..., object] = implementation.function
        if iscoroutinefunction(function):
            raise _RefusedError(f"{hook} is a coroutine function; grove calls plain functions")

"""Which plugins are used, in which order: a pure function of what is installed and configured."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from attrs import field

from grove_core.model.value import Value, frozen
from grove_core.plugins.discovery import (
    BACKEND_GROUP,
    TICKET_GROUP,
    FoundPlugin,
    canonical_name,
)
from grove_core.plugins.report import PluginState

ALLOW_LIST_VARIABLE: Final = "GROVE_PLUGINS"
_SECTION_OF_GROUP: Final = {TICKET_GROUP: "ticketing", BACKEND_GROUP: "backends"}


@frozen(kw_only=True, eq=False, repr=False)
class PluginSettings(Value):
    """What the user and the project want of plugins."""

    ticket_order: tuple[str, ...] = ()
    backend_order: tuple[str, ...] = ()
    ticket_overrides: Mapping[str, bool] = field(factory=dict)
    backend_overrides: Mapping[str, bool] = field(factory=dict)
    enabled: bool = True
    allowed: frozenset[str] | None = None

    def order(self, group: str) -> tuple[str, ...]:
        """Tell the configured order of an entry point group; empty for the general one."""
        return {TICKET_GROUP: self.ticket_order, BACKEND_GROUP: self.backend_order}.get(group, ())

    def blocks(self, group: str, name: str) -> bool:
        """Return whether an override switches off what bears a name in a group."""
        overrides = {TICKET_GROUP: self.ticket_overrides, BACKEND_GROUP: self.backend_overrides}
        return overrides.get(group, {}).get(name) is False


def read_allow_list(environment: Mapping[str, str]) -> frozenset[str] | None:
    """Read ``GROVE_PLUGINS``: names separated by commas."""
    text = environment.get(ALLOW_LIST_VARIABLE)
    if text is None:
        return None
    return frozenset(name.strip() for name in text.split(",") if name.strip())


@frozen(kw_only=True, eq=False, repr=False)
class Choice(Value):
    """What is to be done with a plugin that was found."""

    found: FoundPlugin
    state: PluginState
    detail: str = ""


def choose(found: Iterable[FoundPlugin], group: str, settings: PluginSettings) -> list[Choice]:
    """Decide which plugins of a group are used."""
    order = settings.order(group)
    plugins = sorted(
        (plugin for plugin in found if plugin.group == group),
        key=lambda plugin: (
            *rank(order, plugin.name, plugin.distribution),
            not plugin.first_party,
            canonical_name(plugin.distribution),
        ),
    )
    winners: dict[str, FoundPlugin] = {}
    for plugin in plugins:
        winners.setdefault(plugin.name, plugin)
    return [_choice(plugin, winners[plugin.name], plugins, settings) for plugin in plugins]


def rank(order: Sequence[str], name: str, distribution: str) -> tuple[int, str]:
    """Give the sort key that puts configured names first and the others in the alphabet's order."""
    for position, wanted in enumerate(order):
        wanted_name, _, wanted_distribution = wanted.partition("@")
        if wanted_name == name and (
            not wanted_distribution
            or canonical_name(wanted_distribution) == canonical_name(distribution)
        ):
            return position, ""
    return len(order), name


def _choice(
    plugin: FoundPlugin,
    winner: FoundPlugin,
    plugins: Sequence[FoundPlugin],
    settings: PluginSettings,
) -> Choice:
    reason = _blocked(plugin, settings)
    if reason:
        return Choice(found=plugin, state=PluginState.BLOCKED, detail=reason)
    if plugin is not winner:
        detail = f"{winner.distribution} provides this name as well and is used"
        return Choice(found=plugin, state=PluginState.SHADOWED, detail=detail)
    others = [
        other.distribution for other in plugins if other.name == plugin.name and other is not plugin
    ]
    detail = f"also provided by {', '.join(others)}" if others else ""
    return Choice(found=plugin, state=PluginState.NOT_LOADED, detail=detail)


def _blocked(plugin: FoundPlugin, settings: PluginSettings) -> str:
    """Tell why a plugin may not be loaded; empty when it may."""
    if not settings.enabled:
        return "plugins are switched off"
    if settings.allowed is not None and plugin.name not in settings.allowed:
        return f"{ALLOW_LIST_VARIABLE} does not name it"
    if settings.blocks(plugin.group, plugin.name):
        return f"{_SECTION_OF_GROUP[plugin.group]}.overrides.{plugin.name} is false"
    return ""

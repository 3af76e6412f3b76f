"""The installed plugins: finding and choosing them, which imports none, and what became of each."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pluggy
from attrs import define, evolve, field

from grove_core.errors import PluginError
from grove_core.model.value import Value, frozen
from grove_core.storage.installation import look, read_cached, write_cached
from grove_core.text import clean_line

if TYPE_CHECKING:
    from importlib.metadata import Distribution

TICKET_GROUP: Final = "grove.tickets"
BACKEND_GROUP: Final = "grove.backends"
GENERAL_GROUP: Final = "grove.plugins"
HOST_GROUP: Final = "grove.hosts"
GROUPS: Final = (TICKET_GROUP, BACKEND_GROUP, HOST_GROUP, GENERAL_GROUP)
GATES: Final = "gates"
"""Gates come from the general group and have an order of their own."""
ALLOW_LIST_VARIABLE: Final = "GROVE_PLUGINS"

_CORE: Final = "grove-core"
_CACHE_FORMAT: Final = 3
_DETAIL_LENGTH: Final = 300
_REQUIREMENT_NAME: Final = r"[A-Za-z0-9._-]+"
_EXTRA: Final = r";.*\bextra\s*==\s*['\"]([A-Za-z0-9._-]+)"
_SECTION_OF_GROUP: Final = {TICKET_GROUP: "ticketing", BACKEND_GROUP: "backends"}


class PluginState(Enum):
    """What became of a plugin that was found."""

    LOADED = "loaded"
    BLOCKED = "blocked"
    FAILED = "failed"
    REFUSED = "refused"
    NOT_LOADED = "not loaded"


@define(eq=False, repr=False)
class Plugin:
    """An installed entry point of one of grove's groups, and what became of it."""

    group: str
    name: str
    target: str
    distribution: str
    version: str
    first_party: bool = False
    state: PluginState = PluginState.NOT_LOADED
    detail: str = ""
    implementations: Mapping[str, tuple[pluggy.HookImpl, ...]] = field(factory=dict)
    instance: object = None
    milliseconds: float | None = None

    @property
    def row(self) -> tuple[str, str, str, str, str, bool]:
        """What was found, to be kept in a file."""
        return (
            *(self.group, self.name, self.target, self.distribution, self.version),
            self.first_party,
        )

    @property
    def entry_point(self) -> str:
        """Its group and name."""
        return ":".join(filter(None, [self.group, self.name]))

    @property
    def hooks(self) -> tuple[str, ...]:
        """The hooks that it implements."""
        return tuple(self.implementations)

    def __str__(self) -> str:
        return " ".join(filter(None, [self.distribution, self.version, f"({self.entry_point})"]))


@frozen(kw_only=True, eq=False, repr=False)
class PluginProblem(Value):
    """Something that a plugin did wrong."""

    source: Plugin
    what: str
    detail: str

    def __str__(self) -> str:
        return f"{self.source}: {self.what}: {self.detail}"


def describe_error(error: Exception | str) -> str:
    """Say in a line what an exception says; its class may be a plugin's own."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - the exception's __str__ is the plugin's code
        message = "(its message cannot be read)"
    if not isinstance(error, str | PluginError):
        message = f"{type(error).__name__}: {message}"
    return clean_line(message, _DETAIL_LENGTH)


def discover(home: Path) -> tuple[Plugin, ...]:
    """Find the installed plugins, from the cache while nothing was installed or removed since."""
    environment = look()
    state = [_CACHE_FORMAT, environment]
    try:
        return tuple(Plugin(*row) for row in read_cached(str(home), "plugins", state))
    except TypeError:
        found = _scan()
    rows = [plugin.row for plugin in found]
    write_cached(str(home), "plugins", state, environment, rows)
    return found


def canonical_name(distribution: str) -> str:
    """Write a distribution's name in the one way that package indexes compare (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _scan() -> tuple[Plugin, ...]:
    """Read the metadata of all distributions."""
    from importlib.metadata import distributions

    first_party = frozenset(name for names in extras().values() for name in names)
    found: dict[str, list[Plugin]] = {}
    for distribution in distributions():
        # Broken metadata of one distribution concerns no other.
        with suppress(Exception):
            plugins = list(_plugins_of(distribution, first_party))
            if plugins:
                # A distribution that is listed twice counts where Python looks first.
                found.setdefault(canonical_name(plugins[0].distribution), plugins)
    everything = [plugin for plugins in found.values() for plugin in plugins]
    everything.sort(
        key=lambda one: (GROUPS.index(one.group), one.name, canonical_name(one.distribution))
    )
    return tuple(everything)


def _plugins_of(distribution: "Distribution", first_party: frozenset[str]) -> Iterator[Plugin]:
    text = distribution.read_text("entry_points.txt")
    if not text or not any(group in text for group in GROUPS):
        return  # Without this look, the metadata of every distribution would be parsed.
    name = distribution.metadata["Name"]
    for entry_point in distribution.entry_points:
        if entry_point.group in GROUPS:
            yield Plugin(
                group=entry_point.group,
                name=entry_point.name,
                target=entry_point.value.partition("[")[0].strip(),
                distribution=name,
                version=distribution.version or "",
                first_party=canonical_name(name) in first_party,
            )


def extras() -> Mapping[str, Sequence[str]]:
    """Read which distributions grove-core's own extras install, by extra."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        requirements = requires(_CORE) or []
    except PackageNotFoundError:
        return {}
    found: dict[str, list[str]] = {}
    for requirement in requirements:
        extra, name = re.search(_EXTRA, requirement), re.match(_REQUIREMENT_NAME, requirement)
        if extra and name:
            found.setdefault(extra[1], []).append(canonical_name(name.group()))
    return found


@frozen(kw_only=True, eq=False, repr=False)
class PluginSettings(Value):
    """What the user and the project want of plugins."""

    orders: Mapping[str, Sequence[str]] = field(factory=dict)
    """By group, and of the gates: which names come first."""
    overrides: Mapping[str, Mapping[str, bool]] = field(factory=dict)
    """By group: what is switched off by its name, or on."""
    enabled: bool = True
    allowed: frozenset[str] | None = None

    def order(self, family: str) -> Sequence[str]:
        """Return the configured order of a group, or of the gates; empty for all else."""
        return self.orders.get(family, ())

    def blocks(self, group: str, name: str) -> bool:
        """Return whether an override switches off a name in a group."""
        return self.overrides.get(group, {}).get(name) is False


def read_allow_list(environment: Mapping[str, str]) -> frozenset[str] | None:
    """Read ``GROVE_PLUGINS``: names separated by commas."""
    text = environment.get(ALLOW_LIST_VARIABLE)
    if text is None:
        return None
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def choose(found: Iterable[Plugin], group: str, settings: PluginSettings) -> list[Plugin]:
    """Decide which plugins of a group are used, and in which order."""
    order = settings.order(group)
    plugins = sorted(
        (plugin for plugin in found if plugin.group == group),
        key=lambda plugin: (
            *rank(order, plugin.name, plugin.distribution),
            not plugin.first_party,
            canonical_name(plugin.distribution),
        ),
    )
    chosen = []
    for plugin in plugins:
        reason = _blocked(plugin, settings)
        state = PluginState.BLOCKED if reason else PluginState.NOT_LOADED
        chosen.append(evolve(plugin, state=state, detail=reason))
    return chosen


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


def _blocked(plugin: Plugin, settings: PluginSettings) -> str:
    """Say why a plugin must not be loaded; empty when it may."""
    if not settings.enabled:
        return "plugins are switched off"
    if settings.allowed is not None and plugin.name not in settings.allowed:
        return f"{ALLOW_LIST_VARIABLE} does not name it"
    if settings.blocks(plugin.group, plugin.name):
        return f"{_SECTION_OF_GROUP[plugin.group]}.overrides.{plugin.name} is false"
    return ""

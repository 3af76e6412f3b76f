"""Which plugins are installed, as plain data; nothing of a plugin is imported to find out."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import astuple

from grove_core.errors import StorageError
from grove_core.model.value import Value, frozen
from grove_core.plugins.environment import Environment, cache_file, is_settled, look
from grove_core.storage.files import make_directory, read_bytes, replace

if TYPE_CHECKING:
    from importlib.metadata import Distribution

TICKET_GROUP: Final = "grove.tickets"
BACKEND_GROUP: Final = "grove.backends"
GENERAL_GROUP: Final = "grove.plugins"
GROUPS: Final = (TICKET_GROUP, BACKEND_GROUP, GENERAL_GROUP)

_CORE: Final = "grove-core"
_CACHE_FORMAT: Final = 1
_ROW_TYPES: Final = (str, str, str, str, str, bool)
_REQUIREMENT_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA: Final = re.compile(r";.*\bextra\s*==\s*['\"]([^'\"]*)")


@frozen(eq=False, repr=False)
class FoundPlugin(Value):
    """An installed entry point of one of grove's groups."""

    group: str
    name: str
    target: str
    distribution: str
    version: str
    first_party: bool


def discover(home: Path) -> tuple[FoundPlugin, ...]:
    """Find the installed plugins, from the cache while nothing was installed or removed since."""
    environment = look()
    cache = Path(cache_file(home, "plugins"))
    known = _read_cache(cache, environment)
    if known is not None:
        return known
    found, complete = _scan()
    if complete and is_settled(environment):
        _write_cache(cache, environment, found)
    return found


def canonical_name(distribution: str) -> str:
    """Write a distribution's name in the one way that package indexes compare (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _read_cache(cache: Path, environment: Environment) -> tuple[FoundPlugin, ...] | None:
    try:
        content = read_bytes(cache)
        document = json.loads(content) if content else {}
        if [document["format"], document["environment"]] != [_CACHE_FORMAT, environment]:
            return None
        return tuple(_from_row(row) for row in document["plugins"])
    except (StorageError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _from_row(row: list[Any]) -> FoundPlugin:
    if tuple(type(cell) for cell in row) != _ROW_TYPES:
        raise ValueError("not a row of the plugin cache")
    return FoundPlugin(*row)


def _write_cache(cache: Path, environment: Environment, found: tuple[FoundPlugin, ...]) -> None:
    document = {
        "format": _CACHE_FORMAT,
        "environment": environment,
        "plugins": [astuple(plugin) for plugin in found],
    }
    try:
        if not cache.parent.parent.is_dir():
            return  # reading makes no directory; who writes a session or a setting does
        make_directory(cache.parent)
        replace(cache, json.dumps(document).encode())
    except (StorageError, OSError):
        return


def _scan() -> tuple[tuple[FoundPlugin, ...], bool]:
    """Read the metadata; the second result says whether all of it could be read."""
    from importlib.metadata import distributions

    first_party = _first_party_names()
    found: dict[str, list[FoundPlugin]] = {}
    complete = True
    for distribution in distributions():
        try:
            plugins = list(_plugins_of(distribution, first_party))
        except Exception:  # noqa: BLE001 - broken metadata of one distribution concerns no other
            complete = False
            continue
        if plugins:
            # A distribution that is listed twice counts where Python looks first.
            found.setdefault(canonical_name(plugins[0].distribution), plugins)
    everything = [plugin for plugins in found.values() for plugin in plugins]
    return tuple(sorted(everything, key=_sort_key)), complete


def _sort_key(plugin: FoundPlugin) -> tuple[int, str, str]:
    return GROUPS.index(plugin.group), plugin.name, canonical_name(plugin.distribution)


def _plugins_of(distribution: "Distribution", first_party: frozenset[str]) -> Iterator[FoundPlugin]:
    text = distribution.read_text("entry_points.txt")
    if not text or not any(group in text for group in GROUPS):
        return  # Without this look, the metadata of every distribution would be parsed.
    name = distribution.metadata["Name"]
    for entry_point in distribution.entry_points:
        if entry_point.group in GROUPS:
            yield FoundPlugin(
                group=entry_point.group,
                name=entry_point.name,
                target=entry_point.value.partition("[")[0].strip(),
                distribution=name,
                version=distribution.version or "",
                first_party=canonical_name(name) in first_party,
            )


def _first_party_names() -> frozenset[str]:
    """The distributions that grove-core's own extras name: core itself knows no plugin by name."""
    return frozenset(name for names in extras().values() for name in names)


def extras() -> dict[str, tuple[str, ...]]:
    """Return the distributions that each extra of grove-core brings, by canonical name."""
    from importlib.metadata import PackageNotFoundError, requires

    found: dict[str, tuple[str, ...]] = {}
    with suppress(PackageNotFoundError):
        for requirement in requires(_CORE) or ():
            extra, name = _EXTRA.search(requirement), _REQUIREMENT_NAME.match(requirement)
            if extra and name:
                known = found.get(extra[1], ())
                found[extra[1]] = (*known, canonical_name(name.group()))
    return found

"""Which packages are missing or switched off, and how to have them."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.config.schema import BackendsSettings
from grove_core.plugins.discovery import (
    ALLOW_LIST_VARIABLE,
    BACKEND_GROUP,
    GROUPS,
    TICKET_GROUP,
    Plugin,
    PluginState,
    extras,
)
from grove_core.project import Project

_CORE: Final = "grove-core"
_EXTRAS: Final = {
    BACKEND_GROUP: BackendsSettings().personal,
    TICKET_GROUP: TICKET_GROUP.rpartition(".")[2],
}
"""By group of plugins: the extra of grove-core that brings the usual one."""
_OPTION: Final = "--no-plugins"
_MOST_NAMED: Final = 3
_SECTIONS: Final = {BACKEND_GROUP: "backends", TICKET_GROUP: "ticketing"}


def install_command(*distributions: str, editable: str = "") -> str:
    """Return how to add packages to the environment that grove runs in."""
    from importlib.metadata import entry_points

    environment, source = Path(sys.prefix), [f"-e {editable}"] if editable else []
    if (environment / "uv-receipt.toml").is_file():
        # What is not named again would go.
        points = [point.dist for group in GROUPS for point in entry_points(group=group)]
        installed = sorted({one.name for one in points if one is not None})
        named = dict.fromkeys((*installed, *distributions))
        added = [f"--with-editable {editable}"] if editable else []
        return " ".join(["uv tool install", _CORE, *(f"--with {one}" for one in named), *added])
    if (environment / "pipx_metadata.json").is_file():
        return " ".join(["pipx inject", _CORE, *source, *distributions])
    return " ".join(["pip install", *source, *distributions])


def install_command_for(*groups: str) -> str:
    """Return how to add the usual plugins of some groups."""
    return install_command(*(name for one in groups for name in extras().get(_EXTRAS[one], ())))


def install_command_named(plugin: str) -> str:
    """Return how to add the plugin of grove's own that has a name; empty where there is none."""
    found = extras().get(plugin.replace("-", ""))
    return install_command(*found) if found else ""


def how_to_install() -> str:
    """Return how to install grove where it stays."""
    wanted = f"'{_CORE}[{','.join(_EXTRAS.values())}]'"
    return f"Install grove where it stays: uv tool install {wanted} (or: pip install {wanted})"


def cache_around(environment: Path) -> Path | None:
    """Find the cache that an environment lies in: it will be cleared some day."""
    return next((one for one in environment.parents if (one / "CACHEDIR.TAG").is_file()), None)


@frozen(kw_only=True)
class BlockedPlugin:
    """A plugin that is switched off."""

    name: str
    source: str
    by: str
    fix: str


def blocked_plugins(project: Project, group: str | None = None) -> Sequence[BlockedPlugin]:
    """Find the plugins that are switched off, of one group or of all."""
    return [
        _describe(entry, project)
        for entry in project.plugins.found
        if entry.state is PluginState.BLOCKED and group in (None, entry.group)
    ]


def _describe(entry: Plugin, project: Project) -> BlockedPlugin:
    by, fix = _OPTION, f"Run grove without {_OPTION}"
    key = f"{_SECTIONS.get(entry.group, '')}.overrides.{entry.name}"
    if ALLOW_LIST_VARIABLE in entry.detail:
        by = ALLOW_LIST_VARIABLE
        fix = f"Add {entry.name} to {by}, or: unset {by}"
    elif key in entry.detail:
        by, fix = key, f"Take {key} out of {project.loaded_config.origins[key]}"
    return BlockedPlugin(name=entry.name, source=str(entry), by=by, fix=fix)


def describe_blocked(blocked: Iterable[BlockedPlugin]) -> str:
    """Return what is blocked by what, once for each cause."""
    names: dict[str, dict[str, None]] = {}
    for one in blocked:
        names.setdefault(one.by, {})[one.name] = None
    return "; ".join(
        f"{_listed([*each])} {'is' if len(each) == 1 else 'are'} blocked by {by}"
        for by, each in names.items()
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return " and ".join([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def fixes_of(blocked: Iterable[BlockedPlugin]) -> str:
    """Return how to have plugins again."""
    return "; ".join(dict.fromkeys(one.fix for one in blocked))

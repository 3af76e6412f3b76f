"""Which packages are missing or switched off, and how to have them."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grove_core.config.schema import BackendsSettings
from grove_core.plugins.discovery import (
    BACKEND_GROUP,
    GROUPS,
    HOST_GROUP,
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
    HOST_GROUP: HOST_GROUP.rpartition(".")[2],
}
"""By group of plugins: the extra of grove-core that brings the usual one."""


def install_command(*distributions: str) -> str:
    """Return how to add packages to the environment that grove runs in."""
    from importlib.metadata import entry_points

    environment = Path(sys.prefix)
    if (environment / "uv-receipt.toml").is_file():
        # What is not named again would go.
        points = [point.dist for group in GROUPS for point in entry_points(group=group)]
        installed = sorted({one.name for one in points if one is not None})
        named = dict.fromkeys((*installed, *distributions))
        return " ".join(["uv tool install", _CORE, *(f"--with {one}" for one in named)])
    if (environment / "pipx_metadata.json").is_file():
        return " ".join(["pipx inject", _CORE, *distributions])
    return " ".join(["pip install", *distributions])


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


def blocked_plugins(project: Project, group: str) -> Sequence[Plugin]:
    """Find the plugins of a group that are switched off."""
    found = project.plugins.found
    return [one for one in found if one.state is PluginState.BLOCKED and one.group == group]


def describe_blocked(project: Project, group: str) -> str:
    """Return which plugins of a group are switched off, and by what; empty where none is."""
    names: dict[str, list[str]] = {}
    for one in blocked_plugins(project, group):
        names.setdefault(one.detail, []).append(one.name)
    return "; ".join(f"blocked: {why} ({', '.join(each)})" for why, each in names.items())

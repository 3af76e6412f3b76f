"""Settings that are no mistake and yet do nothing: for what is not there."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Final

from grove_core.config import Origin, Source
from grove_core.config.schema import DEFAULT_ENGINE
from grove_core.config.values import printable
from grove_core.plugins.discovery import BACKEND_GROUP, TICKET_GROUP
from grove_core.plugins.engines import find_engine
from grove_core.services.packages import blocked_plugins
from grove_core.workspace import Workspace

_DEFAULT: Final = Origin(source=Source.DEFAULT)
_GROUPS: Final = {"backends": BACKEND_GROUP, "tickets": TICKET_GROUP}
_OVERRIDES: Final = {"backends.overrides": BACKEND_GROUP, "ticketing.overrides": TICKET_GROUP}
_KINDS: Final = {BACKEND_GROUP: "memory backend", TICKET_GROUP: "ticket system"}
_OFFERING: Final = {BACKEND_GROUP: "grove_memory_backends", TICKET_GROUP: "grove_ticket_probes"}


def idle_settings(workspace: Workspace, sections: Collection[str]) -> list[str]:
    """Name what is set and has no effect."""
    unread = [name for name in workspace.loaded_config.plugin_sections if name not in sections]
    return [
        *_engine_of_nothing(workspace),
        *_overrides_of_nothing(workspace),
        *(_unread(name, workspace) for name in unread),
    ]


def _engine_of_nothing(workspace: Workspace) -> Iterator[str]:
    """Name an engine that is not there; in its place the index judges."""
    name = workspace.config.retrieval.engine
    if name == DEFAULT_ENGINE or find_engine(workspace.plugins, name) is not None:
        return
    known = [DEFAULT_ENGINE, *(one.value.name for one in workspace.plugins.retrieval_engines())]
    origin = workspace.loaded_config.origins.get("retrieval.engine", _DEFAULT)
    line = f"{origin}: retrieval.engine is {name!r}, and no plugin offers such an engine"
    others = ", ".join(one for one in known if one != name)
    yield printable(f"{line}; there are {others}, and {DEFAULT_ENGINE} judges in its place")


def _overrides_of_nothing(workspace: Workspace) -> Iterator[str]:
    backends, ticketing = workspace.config.backends, workspace.config.ticketing
    tables = {"backends.overrides": backends.overrides, "ticketing.overrides": ticketing.overrides}
    for section, overrides in tables.items():
        group = _OVERRIDES[section]
        known = _known_names(workspace, group) if overrides else ()
        for name, wanted in overrides.items():
            if name in known or (not wanted and _strangers_offer(workspace, group)):
                continue
            key = f"{section}.{name}"
            origin = workspace.loaded_config.origins.get(key, _DEFAULT)
            line = f"{origin}: {key} names no {_KINDS[group]} that is installed"
            yield printable(f"{line}{_hint(name, known)}")


def _known_names(workspace: Workspace, group: str) -> Collection[str]:
    plugins = workspace.plugins
    offered = plugins.memory_backends() if group == BACKEND_GROUP else plugins.ticket_probes()
    names = [one.found.name for one in plugins.report().plugins if one.found.group == group]
    return sorted({*names, *(one.value.name for one in offered)})


def _strangers_offer(workspace: Workspace, group: str) -> bool:
    """Of what a plugin offers under another name than its own, a blocked one cannot be told."""
    return any(
        _OFFERING[group] in one.hooks and not one.found.first_party
        for one in workspace.plugins.report().plugins
    )


def _hint(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else f" ({', '.join(known) or 'none is'})"


def _unread(section: str, workspace: Workspace) -> str:
    family, _, name = section.partition(".")
    group = _GROUPS[family]
    entries = workspace.plugins.report().plugins
    states = [
        one.state.value for one in entries if one.found.group == group and one.found.name == name
    ]
    why = f"the plugin {name} is {states[0]}" if states else f"no plugin {name} is installed"
    blocked = [one for one in blocked_plugins(workspace, group) if one.name == name]
    if blocked:
        why = f"the plugin {blocked[0]}"
    origins = workspace.loaded_config.origins
    origin = next((origins[one] for one in origins if one.startswith(f"{section}.")), _DEFAULT)
    return printable(f"{origin}: [{section}] has no effect: {why}")

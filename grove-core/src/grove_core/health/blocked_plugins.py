"""Plugins that are installed and that somebody has switched off: by what, and how to have them."""

from collections.abc import Iterable, Sequence
from typing import Final

from attrs import frozen

from grove_core.plugins.discovery import BACKEND_GROUP, TICKET_GROUP
from grove_core.plugins.report import PluginEntry, PluginSource, PluginState
from grove_core.plugins.selection import ALLOW_LIST_VARIABLE
from grove_core.workspace import Workspace

_OPTION: Final = "--no-plugins"
_OVERRIDES: Final = {BACKEND_GROUP: "backends.overrides", TICKET_GROUP: "ticketing.overrides"}


@frozen(kw_only=True)
class BlockedPlugin:
    """A plugin that is switched off."""

    group: str
    name: str
    source: str
    by: str
    mend: str

    def __str__(self) -> str:
        return _in_words((self.name,), self.by)


def gather_blocked(workspace: Workspace) -> tuple[BlockedPlugin, ...]:
    """Find the plugins that are switched off."""
    entries = workspace.plugins.report().plugins
    return tuple(
        _describe(entry, workspace) for entry in entries if entry.state is PluginState.BLOCKED
    )


def _describe(entry: PluginEntry, workspace: Workspace) -> BlockedPlugin:
    by, mend = _cause(entry, workspace)
    found = entry.found
    source = str(PluginSource.of(found))
    return BlockedPlugin(group=found.group, name=found.name, source=source, by=by, mend=mend)


def _cause(entry: PluginEntry, workspace: Workspace) -> tuple[str, str]:
    """The report names the variable or the key; what names neither is the option."""
    name = entry.found.name
    if ALLOW_LIST_VARIABLE in entry.detail:
        mend = f"Add {name} to {ALLOW_LIST_VARIABLE}, or: unset {ALLOW_LIST_VARIABLE}"
        return ALLOW_LIST_VARIABLE, mend
    key = f"{_OVERRIDES.get(entry.found.group, '')}.{name}"
    if key in entry.detail:
        return key, f"Take {key} out of {workspace.loaded_config.origins[key]}"
    return _OPTION, f"Run grove without {_OPTION}"


def of_group(blocked: Iterable[BlockedPlugin], group: str) -> Sequence[BlockedPlugin]:
    """Choose the plugins of one group."""
    return [one for one in blocked if one.group == group]


def named_by_cause(blocked: Iterable[BlockedPlugin]) -> str:
    """Return what is blocked by what, once for each cause."""
    names: dict[str, list[str]] = {}
    for one in blocked:
        names.setdefault(one.by, []).append(one.name)
    return "; ".join(_in_words(tuple(dict.fromkeys(each)), by) for by, each in names.items())


def _in_words(names: Sequence[str], by: str) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"{' and '.join(names)} {verb} blocked by {by}"


def mends_of(blocked: Iterable[BlockedPlugin]) -> str:
    """Return how to have plugins again."""
    return "; ".join(dict.fromkeys(one.mend for one in blocked))

"""Plugins: installed, loaded, and not at odds with each other."""

from collections.abc import Sequence
from typing import Final

from grove_core.health.blocked_plugins import BlockedPlugin, mends_of, named_by_cause, of_group
from grove_core.health.check import Check, broken, ok, warning
from grove_core.health.installer import Installer
from grove_core.plugins.discovery import BACKEND_GROUP, GENERAL_GROUP, TICKET_GROUP
from grove_core.plugins.manager import LOADING
from grove_core.plugins.report import PluginEntry, PluginProblem, PluginReport, PluginState
from grove_core.workspace import Workspace

_WHAT_TO_INSTALL: Final = {
    BACKEND_GROUP: ("memory backends", "grove-backend-markdown"),
    TICKET_GROUP: ("ticket systems", "grove-tickets"),
}
_IN_USE: Final = (PluginState.ACTIVE, PluginState.NOT_LOADED)


def judge_plugins(
    report: PluginReport, blocked: Sequence[BlockedPlugin], installer: Installer
) -> Sequence[Check]:
    """Return which plugins are missing, do not load, or do something wrong."""
    families = [
        _family(group, report.plugins, of_group(blocked, group), installer)
        for group in _WHAT_TO_INSTALL
    ]
    faults = [check for entry in report.plugins if (check := _fault(entry, installer))]
    return [*families, *faults, *(_problem(one) for one in report.problems if one.what != LOADING)]


def gather_unread_patterns(workspace: Workspace) -> Sequence[str]:
    """Find the systems of the configuration whose commands nothing reads."""
    if not workspace.config.ticketing.patterns:
        return []
    from grove_core.ticketing.patterns import KEY

    found = [(one.probe.name, one.detection) for one in workspace.tickets().all]
    return [name for name, it in found if it and it.marker == KEY and not it.usable]


def judge_unread_patterns(
    names: Sequence[str], blocked: Sequence[BlockedPlugin], installer: Installer
) -> Sequence[Check]:
    """Return whether the systems of the configuration can see a close."""
    if not names:
        return ()
    off = of_group(blocked, GENERAL_GROUP)
    why = f" ({named_by_cause(off)})" if off else ""
    named = f"{', '.join(names)} (ticketing.patterns)"
    detail = f"closes of {named} are not seen: no plugin reads commands{why}"
    _, distribution = _WHAT_TO_INSTALL[TICKET_GROUP]
    return [broken("ticket patterns", detail, mends_of(off) or installer.command(distribution))]


def _family(
    group: str,
    entries: Sequence[PluginEntry],
    blocked: Sequence[BlockedPlugin],
    installer: Installer,
) -> Check:
    name, distribution = _WHAT_TO_INSTALL[group]
    found = [entry for entry in entries if entry.found.group == group]
    used = [entry.found.name for entry in found if entry.state in _IN_USE]
    if used:
        off = f"; {named_by_cause(blocked)}" if blocked else ""
        return ok(name, f"loaded: {', '.join(used)}{off}")
    install = installer.command(distribution)
    if not found:
        return broken(name, "none is installed", install)
    others = [one for one in found if one.state is not PluginState.BLOCKED]
    why = [named_by_cause(blocked)] if blocked else []
    why += [f"{one.found.name} is {one.state.value}: {one.detail}" for one in others]
    mend = mends_of(blocked) or f"Mend one of them, or {install}"
    return broken(name, f"none can be used: {'; '.join(why)}", mend)


def _fault(entry: PluginEntry, installer: Installer) -> Check | None:
    found = entry.found
    name = f"plugin {found.name}"
    where = f"{found.distribution} {found.version} ({found.group})"
    detail = f"{where} is {entry.state.value}: {entry.detail}"
    if entry.state is PluginState.FAILED or entry.state is PluginState.REFUSED:
        return broken(name, detail, _other_version(found.distribution, installer))
    if entry.state is PluginState.SHADOWED:
        removal = installer.removal(found.distribution)
        how = f" (this one: {removal})" if removal else ""
        named = f"name `{found.name}@DISTRIBUTION` in the configuration"
        return warning(name, detail, f"Remove one of the two{how}, or {named}")
    return None


def _other_version(distribution: str, installer: Installer) -> str:
    """Return how to go on with a package that cannot be used as it is."""
    folder = installer.folder_of(distribution)
    mend = f"Mend it in {folder}" if folder else f"Upgrade it: {installer.upgrade(distribution)}"
    removal = installer.removal(distribution)
    return f"{mend}; or remove it: {removal}" if removal else mend


def _problem(problem: PluginProblem) -> Check:
    name = f"plugin {problem.source.name}"
    mend = f"Upgrade {problem.source.distribution}, or report this to its authors"
    return warning(name, str(problem), mend)

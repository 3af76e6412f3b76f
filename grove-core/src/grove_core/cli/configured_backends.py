"""Backends that the configuration names and that are not to be had."""

from difflib import get_close_matches
from typing import Final

from grove_core.config import Source
from grove_core.plugins.discovery import BACKEND_GROUP
from grove_core.services.packages import blocked_plugins, install_command_named
from grove_core.workspace import Workspace

_KEYS: Final = ("backends.primary", "backends.personal")


def backend_warnings(workspace: Workspace) -> list[str]:
    """Name the keys whose backend cannot be used, and how to fix that."""
    backends = workspace.config.backends
    lines = []
    for key, name in zip(_KEYS, (backends.primary, backends.personal), strict=True):
        origin = workspace.loaded_config.origins[key]
        if not name or origin.source is Source.DEFAULT:
            continue
        complaint = _complaint(
            workspace, name.partition("@")[0], is_primary=name is backends.primary
        )
        if complaint:
            lines.append(f"{origin}: {key} names {name}, {complaint}")
    return lines


def _complaint(workspace: Workspace, name: str, *, is_primary: bool) -> str:
    states = {state.spec.name: state for state in workspace.library.states}
    if name in states and is_primary:
        usable = states[name].is_active
        why = f"which cannot be used here: {states[name].why}"
        return "" if usable else f"{why}; its learnings are kept elsewhere until it can"
    if name in states:
        return "" if workspace.library.personal else "which cannot keep personal learnings"
    for blocked in blocked_plugins(workspace, BACKEND_GROUP):
        if blocked.name == name:
            return f"which is blocked by {blocked.by}: {_going_on(blocked.fix)}"
    for entry in workspace.plugins.report().plugins:
        if entry.found.group == BACKEND_GROUP and entry.found.name == name:
            return f"which is {entry.state.value}: `grove plugins` says why"
    installed = ", ".join(states) or "none"
    near = get_close_matches(name, states, n=1)
    how = install_command_named(name) or "install it"
    meant = f"; did you mean {near[0]}?" if near else ""
    return f"which is not installed: {how} or name another (installed: {installed}){meant}"


def _going_on(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]

"""``grove backends discover``."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.result import Result
from grove_core.config.values import printable
from grove_core.errors import PluginError
from grove_core.memory.backends import BackendState
from grove_core.plugins.checks import complaint_about
from grove_core.plugins.descriptors import Area, BackendContext, Discovered
from grove_core.plugins.discovery import BACKEND_GROUP
from grove_core.services.packages import blocked_plugins, install_command_for
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

DISCOVER_SECONDS: Final = 5.0

_Found = dict[str, Sequence[Discovered]]


@click.command("discover")
@grove_command
def command(invocation: Invocation) -> Result:
    """List the stores that backends could use here, and why each is usable or not.

    It looks at files only, and starts nothing. Of a backend that knows one store it tells what
    `grove backends` does.
    """
    found = _discover(invocation.workspace)
    stores = [(backend, one) for backend, stores in found.items() for one in stores]
    return Result(
        document={"discovered": [_document(backend, one) for backend, one in stores]},
        human=lambda console: _human(found, console),
        ids=[printable(one.name) for _, one in stores if one.usable],
    )


def _discover(workspace: Workspace) -> _Found:
    """Ask the backends in their order; those that are switched off come last."""
    found: _Found = {
        state.spec.name: _stores_of(workspace, state) for state in workspace.library.states
    }
    for blocked in blocked_plugins(workspace, BACKEND_GROUP):
        why = f"blocked by {blocked.by}: {blocked.fix}"
        found.setdefault(blocked.name, [_unusable(blocked.name, why)])
    return found


def _stores_of(workspace: Workspace, state: BackendState) -> Sequence[Discovered]:
    name, detection = state.spec.name, state.detection
    if state.spec.discover is None:
        store = Discovered(
            name=name,
            source=detection.marker if detection else "",
            usable=state.is_active,
            used=state.is_active,
            why=state.why,
        )
        return [store]
    unknown = [_unusable(name, "its plugin has failed to list them; `grove plugins` says more")]
    return workspace.plugins.call(
        state.provided,
        _checked,
        state.spec.discover,
        workspace.library.context_for(name, Area.PROJECT),
        seconds=DISCOVER_SECONDS,
        default=unknown,
        what=f"discover of {name}",
    )


def _checked(
    discover: Callable[[BackendContext], Sequence[Discovered]], context: BackendContext
) -> Sequence[Discovered]:
    """Ask a backend; what it says may be anything."""
    answer: object = discover(context)
    if not isinstance(answer, list | tuple):
        raise PluginError(f"returned {type(answer).__name__} instead of a list of Discovered")
    if complaint := next(filter(None, (complaint_about(one, Discovered) for one in answer)), None):
        raise PluginError(complaint)
    return answer


def _unusable(name: str, why: str) -> Discovered:
    return Discovered(name=name, source="", usable=False, used=False, why=why)


def _document(backend: str, store: Discovered) -> dict[str, Any]:
    return {
        "backend": backend,
        "name": store.name,
        "source": store.source or None,
        "usable": store.usable,
        "used": store.used,
        "why": store.why,
    }


def _human(found: _Found, console: "Console") -> None:
    for backend, stores in found.items():
        for store in stores:
            mark = "used" if store.used else "usable" if store.usable else "-"
            where = f"[{printable(store.source)}]" if store.source else ""
            console.print(f"{backend:<14} {printable(store.name):<20} {mark:<8} {where}".rstrip())
            console.print(f"{'':<14} {printable(store.why)}")
        if not stores:
            console.print(f"{backend:<14} nothing found")
    if not found:
        install = install_command_for(BACKEND_GROUP)
        console.print(f"No memory backend is installed: {install}")

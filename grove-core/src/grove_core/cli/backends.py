"""``grove backends``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.backend_commands import SUBCOMMANDS, BackendsGroup
from grove_core.cli.configured_backends import backend_warnings
from grove_core.cli.result import Result
from grove_core.memory.backends import BackendState
from grove_core.model.memory import Health
from grove_core.plugins.discovery import BACKEND_GROUP
from grove_core.services.packages import BlockedPlugin, blocked_plugins, install_command_for

if TYPE_CHECKING:
    from rich.console import Console


@click.group("backends", cls=BackendsGroup, lines=SUBCOMMANDS, invoke_without_command=True)
@grove_command
def command(invocation: Invocation) -> Result:
    """Show the memory backends: which are active here, in which order, why, and their health.

    Backends may have commands of their own, called as `grove backends <backend> <command>`.
    """
    library = invocation.workspace.library
    health = library.healths()
    personal = library.personal
    blocked = blocked_plugins(invocation.workspace, BACKEND_GROUP)
    document: dict[str, Any] = {
        "backends": [
            *(_document(state, health) for state in library.states),
            *(_blocked_document(one) for one in blocked),
        ],
        "personal": personal.backend.name if personal is not None else None,
        "warnings": backend_warnings(invocation.workspace),
    }
    return Result(
        document=document,
        human=lambda console: _human(library.states, health, blocked, document, console),
        ids=[state.spec.name for state in library.states if state.is_active],
        warnings=document["warnings"],
    )


def _document(state: BackendState, health: dict[str, Health]) -> dict[str, Any]:
    return {
        "name": state.spec.name,
        "active": state.is_active,
        "primary": state.is_primary,
        "marker": state.detection.marker if state.detection else None,
        "why": state.why,
        "health": health.get(state.spec.name),
        "plugin": str(state.provided.source),
    }


def _blocked_document(blocked: BlockedPlugin) -> dict[str, Any]:
    return {
        "name": blocked.name,
        "active": False,
        "primary": False,
        "marker": None,
        "why": f"blocked by {blocked.by}",
        "health": None,
        "plugin": blocked.source,
    }


def _human(
    states: Sequence[BackendState],
    health: dict[str, Health],
    blocked: Sequence[BlockedPlugin],
    document: dict[str, Any],
    console: "Console",
) -> None:
    for state in states:
        mark = "primary" if state.is_primary else "active" if state.is_active else "-"
        console.print(f"{state.spec.name:<14} {mark:<8} {state.why}  [{state.provided.source}]")
        if (found := health.get(state.spec.name)) is not None:
            console.print(f"{'':<14} {'works' if found.ok else 'FAILS':<8} {found.detail}")
            if found.mend:
                console.print(f"{'':<14} {'':<8} → {found.mend}")
    for one in blocked:
        console.print(f"{one.name:<14} {'-':<8} blocked by {one.by}  [{one.source}]")
        console.print(f"{'':<14} {'':<8} → {one.fix}")
    if not states and not blocked:
        install = install_command_for(BACKEND_GROUP)
        console.print(f"No memory backend is installed: {install}")
    console.print(f"Personal learnings go to: {document['personal'] or 'no backend can take them'}")

"""Telling a person's work from what grove, ticket systems and backends write themselves."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from grove_core.workspace import Workspace


GROVE_DIRECTORY: Final = ".grove"


def own_paths(workspace: "Workspace") -> tuple[str, ...]:
    """Collect the paths where changes are not work."""
    tickets = workspace.tickets().own_paths()
    backends = workspace.library.own_paths()
    return tuple(dict.fromkeys((GROVE_DIRECTORY, *tickets, *backends)))

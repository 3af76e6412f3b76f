"""``grove plugins``: what is installed, and commands for those who write plugins."""

from typing import TYPE_CHECKING, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.groups import LazyGroup
from grove_core.cli.result import Result
from grove_core.plugins.discovery import BACKEND_GROUP, TICKET_GROUP, PluginState
from grove_core.services.packages import install_command_for

if TYPE_CHECKING:
    from rich.console import Console

# Help lines stand here so that `grove plugins --help` imports no command.
SUBCOMMANDS: Final = {
    "check": "Try an installed plugin against the rules that every plugin has to keep.",
    "new": "Write a plugin of your own that works, with tests, to go on from.",
}

_GOOD: Final = (PluginState.ACTIVE, PluginState.BLOCKED)
_KEYS: Final = (
    *("name", "group", "distribution", "version", "target"),
    *("state", "detail", "hooks", "milliseconds"),
)


@click.group("plugins", cls=LazyGroup, lines=SUBCOMMANDS, invoke_without_command=True)
@grove_command
def command(invocation: Invocation) -> Result:
    """Show the installed plugins in the order they are asked, and what became of each.

    `grove plugins new` and `grove plugins check` are for those who write plugins.
    """
    plugins = invocation.project.plugins
    plugins.load_all()

    def human(console: "Console") -> None:
        for entry in plugins.found:
            console.print(
                f"{entry.group:<15} {entry.name:<14} {entry.distribution} {entry.version}"
                f"  {entry.state.value}{': ' + entry.detail if entry.detail else ''}",
                style=None if entry.state in _GOOD else "yellow",
            )
        if not plugins.found:
            install = install_command_for(BACKEND_GROUP, TICKET_GROUP)
            console.print(f"No plugin is installed: {install}")
        for problem in plugins.problems:
            console.print(f"problem: {problem}", style="yellow")

    return Result(
        document={
            "plugins": [{key: getattr(one, key) for key in _KEYS} for one in plugins.found],
            "problems": [
                {"plugin": str(one.source), "what": one.what, "detail": one.detail}
                for one in plugins.problems
            ],
        },
        human=human,
        ids=[entry.name for entry in plugins.found if entry.state is PluginState.ACTIVE],
        names_problems=True,
    )

"""``grove plugins``."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from grove_core.cli.invocation import Invocation, Result, grove_command
from grove_core.plugins.report import PluginEntry, PluginReport, PluginState

if TYPE_CHECKING:
    from rich.console import Console

_GOOD = (PluginState.ACTIVE, PluginState.BLOCKED)


@click.command("plugins")
@grove_command
def command(invocation: Invocation) -> Result:
    """Show the installed plugins in the order they are asked, and what became of each."""
    plugins = invocation.workspace.plugins
    plugins.load_all()
    report = plugins.report()
    return Result(
        document={
            "plugins": [_document(entry) for entry in report.plugins],
            "own": _document(report.own) if report.own else None,
            "problems": [
                {"plugin": str(one.source), "what": one.what, "detail": one.detail}
                for one in report.problems
            ],
        },
        human=lambda console: _human(report, console),
        ids=[entry.found.name for entry in report.plugins if entry.state is PluginState.ACTIVE],
        names_problems=True,
    )


def _document(entry: PluginEntry) -> dict[str, Any]:
    return {
        "name": entry.found.name,
        "group": entry.found.group,
        "distribution": entry.found.distribution,
        "version": entry.found.version,
        "target": entry.found.target,
        "state": entry.state,
        "detail": entry.detail,
        "hooks": entry.hooks,
        "milliseconds": entry.milliseconds,
    }


def _human(report: PluginReport, console: "Console") -> None:
    for entry in (*report.plugins, *([report.own] if report.own else ())):
        found = entry.found
        style = None if entry.state in _GOOD else "yellow"
        console.print(
            f"{found.group:<15} {found.name:<14} {found.distribution} {found.version}"
            f"  {entry.state.value}{': ' + entry.detail if entry.detail else ''}",
            style=style,
        )
    if not report.plugins:
        console.print("No plugin is installed: pip install grove-backend-markdown grove-tickets")
    for problem in report.problems:
        console.print(f"problem: {problem}", style="yellow")

"""``grove plugins new``."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from grove_core.cli.invocation import Invocation, Result, grove_command
from grove_core.flow.plugin_project import PluginKind, project_of, write_project
from grove_core.plugins.discovery import discover

if TYPE_CHECKING:
    from rich.console import Console


@click.command("new")
@click.argument("kind", type=click.Choice([kind.value for kind in PluginKind]))
@click.argument("name")
@click.option(
    "--into",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The project's folder, empty or not there yet; by default named as the package, here.",
)
@grove_command
def command(invocation: Invocation, *, kind: str, name: str, into: Path | None) -> Result:
    """Write a plugin of your own that works, with tests, to go on from.

    A `backend` keeps learnings; this one keeps them in a file of JSON lines. A `ticket` system
    tells when a ticket is closed; this one knows a made-up tracker. The project has a
    `pyproject.toml`, tests against the rules that plugins have to keep, a README and a CI workflow.
    """
    wanted = PluginKind(kind)
    found = discover(invocation.workspace.paths.home)
    taken = {plugin.name for plugin in found if plugin.group == wanted.group}
    project = project_of(wanted, name, taken)
    folder = into if into is not None else Path(project.distribution)
    written = write_project(project, folder)
    place = shlex.quote(folder.as_posix() if folder.is_absolute() else f".{os.sep}{folder}")
    following = [
        f"python -m pip install -e {place}'[dev]'",
        f"python -m pytest {place}",
        f"grove plugins check {project.distribution}",
    ]
    return Result(
        document={
            "distribution": project.distribution,
            "folder": folder.absolute(),
            "written": written,
            "next": following,
        },
        human=lambda console: _human(written, following, console),
        ids=[str(path) for path in written],
    )


def _human(written: tuple[Path, ...], following: list[str], console: "Console") -> None:
    for path in written:
        console.print(f"wrote {path}")
    console.print("\nNext, in the environment that grove is installed in:\n")
    for line in following:
        console.print(f"  {line}")

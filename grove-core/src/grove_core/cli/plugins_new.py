"""``grove plugins new``."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.result import Result
from grove_core.flow.plugin_project import PluginKind, PluginProject, project_of, write_project
from grove_core.plugins.discovery import discover
from grove_core.services.packages import install_command

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
    project = project_of(
        wanted,
        name,
        taken={plugin.name for plugin in found if plugin.group == wanted.group},
        packages={*_named_by_core(), *(plugin.distribution for plugin in found)},
    )
    folder = into if into is not None else Path(project.distribution)
    written = write_project(project, folder)
    following = _following(project, folder)
    return Result(
        document={
            "distribution": project.distribution,
            "folder": folder.absolute(),
            "written": [path.absolute() for path in written],
            "next": following,
        },
        human=lambda console: _human(project, written, following, console),
        ids=[str(path.absolute()) for path in written],
    )


def _named_by_core() -> Iterator[str]:
    """Name what grove's own package can bring: such names are taken where nothing is installed."""
    with suppress(PackageNotFoundError):
        for requirement in requires("grove-core") or ():
            yield from re.findall(r"^[A-Za-z0-9._-]+", requirement)


def _following(project: PluginProject, folder: Path) -> list[str]:
    """Return how to install and try the project in the environment that grove runs in."""
    place = shlex.quote(folder.as_posix() if folder.is_absolute() else f".{os.sep}{folder}")
    install = install_command(editable=f"{place}'[dev]'")
    is_pip = install.startswith("pip ")
    python = "python" if is_pip else shlex.quote(sys.executable)
    return [
        f"{python} -m {install}" if is_pip else install,
        f"{python} -m pytest {place}",
        f"grove plugins check {project.distribution}",
    ]


def _human(
    project: PluginProject, written: tuple[Path, ...], following: list[str], console: "Console"
) -> None:
    for path in written:
        console.print(f"wrote {path}")
    console.print("\nNext, in the environment that grove is installed in:\n")
    for line in following:
        console.print(f"  {line}")
    console.print(f"\nThe name is free as long as there is no {project.page}")

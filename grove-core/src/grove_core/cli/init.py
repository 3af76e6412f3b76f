"""``grove init``."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core import files
from grove_core.cli.invocation import Invocation, Result, grove_command
from grove_core.config import render_default_config
from grove_core.errors import GroveError, StorageError
from grove_core.plugins.descriptors import BackendContext
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

SCAFFOLD_SECONDS: Final = 5.0
# Two branches that append to the log both keep their lines; no two events share one.
_ATTRIBUTES: Final = "stats.log merge=union\n"
_FILE_MODE: Final = 0o644


@click.command("init")
@grove_command
def command(invocation: Invocation) -> Result:
    """Set up grove in this project.

    Creates the directory .grove at the project's root with a commented configuration and a place
    for learnings. Files that exist are never touched, so running it again is safe. Commit .grove.
    """
    workspace = invocation.workspace
    if workspace.root == workspace.paths.home.parent and workspace.project.grove_directory == (
        workspace.paths.home
    ):
        raise StorageError(
            f"{workspace.paths.home} is grove's own directory; run init inside a project"
        )
    created, kept = _scaffold(workspace)
    previous = _recorded_program(workspace)
    program = _record_program(workspace)
    document: dict[str, Any] = {
        "root": workspace.root,
        "created": created,
        "kept": kept,
        "program": program,
        "previous_program": previous,
    }
    return Result(
        document=document,
        human=lambda console: _human(workspace, document, console),
        ids=[str(path) for path in created],
    )


def _scaffold(workspace: Workspace) -> tuple[list[Path], list[Path]]:
    directory = workspace.project.grove_directory
    created: list[Path] = []
    kept: list[Path] = []
    if not directory.resolve().is_relative_to(workspace.root.resolve()):
        raise StorageError(f"{directory} leads out of the project; remove the link and try again")
    files.make_directory(directory)
    for path, text in (
        (workspace.project.config_file, render_default_config()),
        (directory / ".gitattributes", _ATTRIBUTES),
    ):
        if path.exists():
            kept.append(path)
        else:
            files.replace(path, text.encode(), mode=_FILE_MODE)
            created.append(path)
    for path, is_new in _scaffold_backend(workspace):
        (created if is_new else kept).append(path)
    return created, kept


def _scaffold_backend(workspace: Workspace) -> list[tuple[Path, bool]]:
    """Let the primary backend prepare its files."""
    for state in workspace.library.states:
        if not state.is_primary or state.spec.scaffold is None:
            continue
        context = BackendContext(
            root=workspace.root,
            home=workspace.paths.home,
            environment=workspace.environment,
        )
        done = workspace.plugins.call(
            state.provided,
            state.spec.scaffold,
            context,
            seconds=SCAFFOLD_SECONDS,
            default=(),
        )
        return list(done)
    return []


def _recorded_program(workspace: Workspace) -> str | None:
    try:
        content = files.read_text(workspace.paths.program_file)
    except GroveError:
        return None  # what cannot be read is no program, and is about to be replaced
    return content.strip() or None if content else None


def _record_program(workspace: Workspace) -> str | None:
    """Leave word where this program is: the client's PATH often lacks a virtual environment's."""
    beside = Path(sys.executable).with_name("grove")
    program = str(beside) if beside.exists() else shutil.which("grove")
    if program is None:
        return None
    program = os.path.abspath(program)  # noqa: PTH100 - links stay as they are
    files.make_directory(workspace.paths.home)
    files.replace(workspace.paths.program_file, os.fsencode(f"{program}\n"))
    return program


def _human(workspace: Workspace, document: dict[str, Any], console: "Console") -> None:
    for mark, key in (("created", "created"), ("kept   ", "kept")):
        for path in document[key]:
            console.print(f"{mark} {path.relative_to(workspace.root)}")
    program, previous = document["program"], document["previous_program"]
    was = f" (was {previous})" if program and previous not in (None, program) else ""
    console.print(f"hooks will run {program or previous or 'the grove that PATH holds'}{was}")
    console.print(
        "\nNext: commit .grove, and load grove's plugin into your agent; the page “Connect Claude"
        " Code” of grove's documentation (docs/how-to/connect-claude-code.md) says how."
    )
    if not workspace.library.project_backends:
        console.print(
            "No memory backend is installed: pip install grove-backend-markdown", style="yellow"
        )

"""What ``grove init`` makes in every project: ``.grove/``, and word of where the program is."""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.config.template import render_default_config
from grove_core.errors import GroveError, StorageError
from grove_core.flow.merge_driver import attributes_in_force, missing_attributes
from grove_core.memory.backends import BackendState
from grove_core.model.memory import StorageLayout
from grove_core.storage import files
from grove_core.workspace import Workspace

SCAFFOLD_SECONDS: Final = 5.0
_FILE_MODE: Final = 0o644


@frozen
class Scaffold:
    """The files of ``.grove/``."""

    created: tuple[Path, ...]
    extended: tuple[Path, ...]
    kept: tuple[Path, ...]
    attributes: str = ""


def scaffold(workspace: Workspace, *, dry_run: bool) -> Scaffold:
    """Make what is missing in the project's ``.grove`` directory."""
    directory = workspace.project.grove_directory
    if not directory.resolve().is_relative_to(workspace.root.resolve()):
        raise StorageError(f"{directory} leads out of the project; remove the link and try again")
    attributes = directory / ".gitattributes"
    known, is_there = files.read_text(attributes), os.path.lexists(attributes)
    lacking = missing_attributes(known, attributes_in_force(workspace.root))
    missing = "".join(f"{line}\n" for line in lacking)
    wanted = {workspace.project.config_file: render_default_config()}
    if missing or is_there:
        wanted[attributes] = missing
    is_new = {path: not os.path.lexists(path) for path in wanted}
    if dry_run:
        is_new |= _expected_of_backend(workspace)
    else:
        files.make_directory(directory)
        for path, text in wanted.items():
            if is_new[path]:
                files.replace(path, text.encode(), mode=_FILE_MODE)
        if missing and is_there:
            files.append_text(attributes, missing, inside=workspace.root)
        is_new |= _scaffold_backend(workspace)
    extended = (attributes,) if missing and is_there else ()
    healed = "\n" if known and not known.endswith("\n") else ""
    return Scaffold(
        created=tuple(path for path, new in is_new.items() if new),
        extended=extended,
        kept=tuple(path for path, new in is_new.items() if not new and path not in extended),
        attributes=f"{healed}{missing}" if extended else "",
    )


def _scaffold_backend(workspace: Workspace) -> dict[Path, bool]:
    """Let the primary backend prepare its files."""
    state = _state_to_scaffold(workspace)
    if state is None or state.spec.scaffold is None:
        return {}
    done = workspace.plugins.call(
        state.provided,
        state.spec.scaffold,
        workspace.backend_context,
        seconds=SCAFFOLD_SECONDS,
        default=(),
    )
    return dict(done)


def _expected_of_backend(workspace: Workspace) -> dict[Path, bool]:
    """Name the file in ``.grove`` that the backend will create for learnings."""
    state, path = _state_to_scaffold(workspace), workspace.project.learnings_file
    spread = workspace.config.storage.layout is StorageLayout.SPREAD
    if spread or state is None or path.parent.name not in state.spec.paths:
        return {}
    return {path: not os.path.lexists(path)}


def _state_to_scaffold(workspace: Workspace) -> BackendState | None:
    states = workspace.library.states
    return next((one for one in states if one.is_primary and one.spec.scaffold is not None), None)


def recorded_program(workspace: Workspace) -> str | None:
    """Read which program launchers are told to run."""
    try:
        content = files.read_text(workspace.paths.program_file)
    except GroveError:
        return None  # what cannot be read is no program, and is about to be replaced
    return content.strip() or None if content else None


def find_program() -> str | None:
    """Find the program ``grove`` of this interpreter, else the one on ``PATH``."""
    beside = Path(sys.executable).with_name("grove")
    program = str(beside) if beside.exists() else shutil.which("grove")
    return os.path.abspath(program) if program else None  # noqa: PTH100 - links stay as they are


def record_program(workspace: Workspace, program: str) -> None:
    """Leave word where the program is: the client's PATH often lacks a virtual environment's."""
    files.make_directory(workspace.paths.home)
    files.replace(workspace.paths.program_file, os.fsencode(f"{program}\n"))

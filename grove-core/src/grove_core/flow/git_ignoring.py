"""Whether git leaves out the settings that are one person's alone."""

import os
import shutil
from pathlib import Path
from typing import Final

from grove_core.errors import StorageError
from grove_core.flow.install_plan import relative_to
from grove_core.git import find_top, run_git
from grove_core.storage import files
from grove_core.workspace import Workspace

_SECONDS: Final = 2.0


def advice_to_ignore(workspace: Workspace, path: Path) -> str | None:
    """Say that a file of one person's may get into a commit."""
    top = find_top(workspace.root)
    name = relative_to(path, workspace.root)
    if top is None or _git_ignores(workspace, name) or _is_written_down(workspace.root, top, name):
        return None
    return (
        f"git does not ignore {name}, which is yours alone:"
        " add that line to .gitignore or .git/info/exclude"
    )


def _git_ignores(workspace: Workspace, name: str) -> bool:
    if shutil.which("git", path=workspace.environment.get("PATH", "")) is None:
        return False
    return bool(run_git(os.fspath(workspace.root), _SECONDS, "check-ignore", name))


def _is_written_down(root: Path, top: Path, name: str) -> bool:
    """Look for the usual lines, where git is missing or does not answer."""
    folder, _, last = name.rpartition("/")
    usual = {name, f"/{name}", f"{folder}/", f"/{folder}/", folder, f"/{folder}", last, f"/{last}"}
    for file in (root / ".gitignore", root / folder / ".gitignore", top / ".git/info/exclude"):
        try:
            text = files.read_text(file) or ""
        except StorageError:
            continue
        if not usual.isdisjoint(line.strip() for line in text.splitlines()):
            return True
    return False

"""Merging for git what memory backends keep in the project: the driver's work."""

import os
import re
from pathlib import Path
from typing import Final

from grove_core.plugins.descriptors import BackendSpec
from grove_core.plugins.facade import Provided
from grove_core.storage import files
from grove_core.workspace import Workspace

MERGE_SECONDS: Final = 60.0
# Git counts no further; beyond that, and below nothing, are failures.
_MOST_CONFLICTS: Final = 127
_LABELS: Final = ("ours", "base", "theirs")


def merge_by_backend(workspace: Workspace, base: Path, ours: Path, theirs: Path, path: str) -> bool:
    """Merge two versions of a file, as the backend does whose file it is."""
    provided = _owner(workspace, path)
    if provided is None or provided.value.merge is None:
        return False
    texts = [files.read_text(one) or "" for one in (base, ours, theirs)]
    merged: object = workspace.plugins.call(
        provided, provided.value.merge, *texts, seconds=MERGE_SECONDS, default=None
    )
    if not isinstance(merged, str):
        return False
    mode = os.stat(ours).st_mode & 0o7777  # noqa: PTH116 - a file that git has just written
    files.replace(ours, merged.encode("utf-8", "surrogateescape"), mode=mode)
    return True


def _owner(workspace: Workspace, path: str) -> Provided[BackendSpec] | None:
    """Find the backend that keeps a file, which may lie in a project below the work tree's top."""
    for provided in workspace.plugins.memory_backends():
        if any(_matches(pattern, path) for pattern in provided.value.shared):
            return provided
    return None


def _matches(pattern: str, path: str) -> bool:
    words = "[^/]*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(f"(?:.*/)?{words}", path, re.DOTALL) is not None


def merge_as_git(base: Path, ours: Path, theirs: Path) -> bool | None:
    """Merge two versions of a file as git does without a driver."""
    import subprocess

    labels = [word for label in _LABELS for word in ("-L", label)]
    words = ["git", "merge-file", *labels, "--", str(ours), str(base), str(theirs)]
    try:
        code = subprocess.run(words, check=False, stdin=subprocess.DEVNULL).returncode
    except OSError:
        return None
    return code > 0 if 0 <= code <= _MOST_CONFLICTS else None

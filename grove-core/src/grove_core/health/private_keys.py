"""Private keys in what is shared: a quick look for the header that every such key begins with."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.health.check import Check, broken, ok
from grove_core.workspace import Workspace

_HEADER_START: Final = b"-----BEGIN "
_HEADER_END: Final = b"PRIVATE KEY"


@frozen(kw_only=True)
class KeyFound:
    """The beginning of a private key.

    Attributes:
        path: The file that holds it.
        line: The line, from 1.
    """

    path: Path
    line: int


def gather_keys(workspace: Workspace) -> Sequence[KeyFound]:
    """Search the files in which learnings and refused candidates lie.

    Args:
        workspace: The project.

    Returns:
        The first key of each file that holds one.
    """
    project, paths = workspace.project, workspace.paths
    further = sorted((project.grove_directory / "learnings").glob("*.md"))
    named = (project.learnings_file, *further, project.events_file)
    return _search((*named, paths.personal_learnings, paths.personal_events))


def _search(places: Iterable[Path]) -> Sequence[KeyFound]:
    found = []
    for path in places:
        if not os.path.isfile(path):  # noqa: PTH113 - never raises
            continue
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if _HEADER_END in line.partition(_HEADER_START)[2]:
                    found.append(KeyFound(path=path, line=number))
                    break
    return found


def judge_keys(found: Sequence[KeyFound]) -> Sequence[Check]:
    """Tell whether a private key lies where everybody reads.

    Args:
        found: The keys.

    Returns:
        A check for each, or one that there is none. Other secrets are not looked for.
    """
    name = "private keys"
    mend = "Replace the key first, for it counts as known; then delete those lines"
    return [
        broken(name, f"{one.path} line {one.line} begins a private key", mend) for one in found
    ] or [ok(name, "none in learnings and logs (other secrets are not looked for yet)")]

"""Where a file that is touched stands in a project, however its path is written."""

import os
from pathlib import Path

from grove_core.git import find_repository, find_top


def spellings(root: Path, cwd: str) -> tuple[str, ...]:
    """Name a project's root as paths of its files may begin."""
    top = os.fspath(root)
    below = os.path.relpath(os.path.realpath(cwd), top) if cwd else ".."
    written = cwd.rstrip("/")
    if below != ".":
        written = written.removesuffix(f"/{below}") if written.endswith(f"/{below}") else top
    return (top,) if written in ("", top) else (top, written)


def paths_inside(root: Path, cwd: str, path: str) -> tuple[str, ...]:
    """Find a file's paths relative to a project's root."""
    written, real = os.path.normpath(path), os.path.realpath(path)
    tops = [*spellings(root, cwd), *_in_other_work_tree(root, real)]
    return tuple(
        dict.fromkeys(
            one[len(top) + 1 :]
            # The innermost first: another work tree may lie inside of the project.
            for top in sorted(tops, key=len, reverse=True)
            for one in (written, real)
            if one.startswith(f"{top}/")
        )
    )


def _in_other_work_tree(root: Path, path: str) -> tuple[str, ...]:
    """Find the project's root in the work tree that a file lies in, if it is a linked one."""
    own, other = find_top(root), find_top(Path(path).parent)
    if own is None or other is None or own == other:
        return ()
    repository = find_repository(own)
    if repository is None or repository != find_repository(other):
        return ()
    return (os.path.normpath(other / os.path.relpath(root, own)),)

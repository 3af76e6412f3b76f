"""What git knows about a work tree: few calls, each with a time limit, none changes anything."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.gitstatus import find_work_tree, read_history, read_status, run_git
from grove_core.model.value import Value

EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_FILE_START: Final = "gitdir:"
_LONGEST: Final = 4096


@frozen(kw_only=True, eq=False, repr=False)
class WorkTree(Value):
    """The state of a work tree.

    Attributes:
        head: Commit id of HEAD; empty in a repository without commits.
        branch: Name of the branch; empty when HEAD is detached.
        changed: Tracked paths that differ from HEAD, POSIX, relative to the work tree's top.
        untracked: Untracked paths that are not ignored, likewise.
    """

    head: str
    branch: str
    changed: tuple[str, ...]
    untracked: tuple[str, ...]


@frozen(kw_only=True, eq=False, repr=False)
class BranchHistory(Value):
    """What the current branch adds to the default branch.

    Attributes:
        subjects: Subjects of its commits, newest first.
        files: Paths they touched, POSIX, relative to the work tree's top.
    """

    subjects: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def find_top(start: Path) -> Path | None:
    """Find the top of the work tree that a directory lies in, without running git.

    Args:
        start: A directory.

    Returns:
        The nearest ancestor with a ``.git`` entry (a directory, or the file of a linked work tree
        or submodule), or ``None``.
    """
    top = find_work_tree(os.fspath(start))
    return None if top is None else Path(top)


def find_repository(top: Path) -> str | None:
    """Find the directory that all work trees of a repository share, without running git.

    Args:
        top: The top of one of them.

    Returns:
        The directory, links resolved, or ``None`` when there is none.
    """
    entry = top / ".git"
    if entry.is_dir():
        return os.path.realpath(entry)
    named = _line(entry)
    if not named.startswith(_FILE_START):
        return None
    directory = top / named.removeprefix(_FILE_START).strip()
    return os.path.realpath(directory / (_line(directory / "commondir") or "."))


def _line(path: Path) -> str:
    """Read the only line of one of git's small files; empty when there is none."""
    try:
        with path.open("rb") as file:
            return os.fsdecode(file.read(_LONGEST)).strip()
    except OSError:
        return ""


def read_work_tree(top: Path, seconds: float) -> WorkTree | None:
    """Ask for HEAD, branch and changed files in one call.

    Args:
        top: The work tree's top.
        seconds: Time limit.

    Returns:
        The state, or ``None`` when git is missing, fails or is late.
    """
    status = read_status(os.fspath(top), seconds)
    if status is None:
        return None
    head, branch, changed, untracked = status
    return WorkTree(head=head, branch=branch, changed=changed, untracked=untracked)


def read_branch_history(top: Path, seconds: float) -> BranchHistory:
    """Ask what the current branch adds to the default branch, in one call.

    Args:
        top: The work tree's top.
        seconds: Time limit.

    Returns:
        Subjects and files, both empty on the default branch itself or when git fails.
    """
    subjects, files = read_history(os.fspath(top), seconds)
    return BranchHistory(subjects=subjects, files=files)


def count_changed_lines(top: Path, base: str, seconds: float) -> Mapping[str, int] | None:
    """Count added plus deleted lines of each tracked file since a commit, commits included.

    Args:
        top: The work tree's top.
        base: A commit id; empty for the empty tree.
        seconds: Time limit.

    Returns:
        Lines by path, binary files left out, or ``None`` when git cannot tell.
    """
    output = run_git(
        os.fspath(top), seconds, "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty", "--end-of-options", base or EMPTY_TREE, "--",
    )  # fmt: skip
    if output is None:
        return None
    counts: dict[str, int] = {}
    for record in output.split("\0"):
        added, _, rest = record.partition("\t")
        deleted, _, path = rest.partition("\t")
        if added.isdigit() and deleted.isdigit() and path:
            counts[path] = int(added) + int(deleted)
    return counts

"""What git tells about the work at hand, for looking up what fits it: words and files.

Plain values, for the full way and for a hook's short way alike.
"""

import os

from grove_core.gitstatus import read_history, seen_from_root, without

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grove_core.gitstatus import Status

STATUS_SECONDS = 0.15
HISTORY_SECONDS = 0.1
# What branches are called whatever the work on them is about.
_EMPTY_BRANCH_WORDS = frozenset(
    {"main", "master", "trunk", "develop", "dev", "release", "hotfix"}
    | {"feature", "feat", "fix", "bug", "bugfix", "chore", "docs", "refactor", "test"}
)


def words_and_files(
    root: "str | os.PathLike[str]", top: str, status: "Status", own_paths: "Iterable[str]"
) -> "tuple[Sequence[str], tuple[str, ...]]":
    """Describe the work by its branch, its changed files and its commits.

    Args:
        root: The project's root.
        top: The top of the work tree that it lies in.
        status: What git says about the work tree.
        own_paths: Paths relative to the project where changes are not work.

    Returns:
        Words, and paths relative to the project.
    """
    _, branch, changed, untracked = status
    subjects, committed = read_history(top, HISTORY_SECONDS)
    files = seen_from_root(os.fspath(root), top, (*changed, *untracked, *committed))
    return [*_branch_words(branch), *subjects], without(own_paths, files)


def _branch_words(branch: str) -> list[str]:
    words = branch.replace("/", " ").replace("-", " ").replace("_", " ").split()
    return [word for word in words if word.lower() not in _EMPTY_BRANCH_WORDS]

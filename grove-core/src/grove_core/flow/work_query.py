"""Describing the work at hand, to find the learnings that fit it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from grove_core import git
from grove_core.model.memory import Query
from grove_core.model.ticket import Ticket
from grove_core.services.session_mode import ignored_paths

if TYPE_CHECKING:
    from grove_core.workspace import Workspace

STATUS_SECONDS: Final = 0.15
HISTORY_SECONDS: Final = 0.1
# What branches are called whatever the work on them is about.
_EMPTY_BRANCH_WORDS: Final = frozenset(
    {"main", "master", "trunk", "develop", "dev", "release", "hotfix"}
    | {"feature", "feat", "fix", "bug", "bugfix", "chore", "docs", "refactor", "test"}
)


def query_for_work(workspace: "Workspace", ticket: Ticket | None) -> Query:
    """Describe the work at hand: ticket, branch, changed files and recent commits."""
    words: list[str] = []
    files: tuple[str, ...] = ()
    top = git.find_top(workspace.root)
    if top is not None:
        tree = workspace.work_trees.get(top) or git.read_work_tree(top, STATUS_SECONDS)
        if tree is not None:
            history = git.read_branch_history(top, HISTORY_SECONDS)
            words += [*branch_words(tree.branch), *history.subjects]
            paths = (*tree.changed, *tree.untracked, *history.files)
            files = git.without(
                ignored_paths(workspace), git.seen_from_root(str(workspace.root), str(top), paths)
            )
    return Query(
        text=" ".join(words),
        ticket_id=ticket.ticket_id or "" if ticket else "",
        ticket_title=ticket.title if ticket else "",
        ticket_description=ticket.description if ticket else "",
        tags=tuple(label.lower() for label in ticket.labels) if ticket else (),
        files=files,
    )


def branch_words(branch: str) -> Sequence[str]:
    """Split a branch's name into the words that say what the work is about."""
    words = branch.replace("/", " ").replace("-", " ").replace("_", " ").split()
    return [word for word in words if word.lower() not in _EMPTY_BRANCH_WORDS]

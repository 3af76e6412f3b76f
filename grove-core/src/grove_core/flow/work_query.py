"""Describing the work at hand, to find the learnings that fit it."""

import os

from grove_core import gitinfo
from grove_core.flow.own_files import own_paths
from grove_core.model.memory import Query
from grove_core.model.ticket import Ticket
from grove_core.work_at_hand import STATUS_SECONDS, words_and_files
from grove_core.workspace import Workspace


def query_for_work(workspace: Workspace, ticket: Ticket | None) -> Query:
    """Describe the work at hand: ticket, branch, changed files, recent commits, plugins' words.

    Args:
        workspace: The project.
        ticket: The ticket in progress, if one is known.

    Returns:
        A query; empty when nothing is known.
    """
    words = sorted(workspace.plugins.query_terms(workspace.context(), ticket))
    files: tuple[str, ...] = ()
    top = gitinfo.find_top(workspace.root)
    if top is not None:
        tree = workspace.work_trees.get(top) or gitinfo.read_work_tree(top, STATUS_SECONDS)
        if tree is not None:
            status = (tree.head, tree.branch, tree.changed, tree.untracked)
            of_git, files = words_and_files(
                workspace.root, os.fspath(top), status, own_paths(workspace)
            )
            words += of_git
    return Query(
        text=" ".join(words),
        ticket_id=ticket.ticket_id or "" if ticket else "",
        ticket_title=ticket.title if ticket else "",
        ticket_description=ticket.description if ticket else "",
        tags=tuple(label.lower() for label in ticket.labels) if ticket else (),
        files=files,
    )

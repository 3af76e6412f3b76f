"""``grove reflect --brief``: what there is to reflect on."""

import os
from typing import TYPE_CHECKING, Final

from grove_core import git
from grove_core.cli.result import Result
from grove_core.git import seen_from_root, without
from grove_core.model.session import Session
from grove_core.model.ticket import Ticket
from grove_core.services.session_mode import ignored_paths
from grove_core.services.sessions import ticket_of
from grove_core.text import shorten
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

_GIT_SECONDS: Final = 2.0
_MOST_FILES: Final = 30
_MOST_DESCRIPTION: Final = 1_000


def brief(workspace: Workspace, session: Session) -> Result:
    """Collect what a reflection can draw on."""
    files, subjects = _work(workspace)
    tickets = _tickets(session)
    document = {
        "session_id": session.id,
        "gate": session.gate.status,
        "ticket_id": ticket_of(session.gate),
        "tickets": tickets,
        "files": files,
        "commits": subjects,
        "observations": session.observations,
        "injected": session.injected,
        "last_rejections": session.last_rejections,
    }

    def human(console: "Console") -> None:
        for ticket in tickets:
            console.print(f"Ticket {ticket.ticket_id or '(unknown)'} {ticket.title}")
            if ticket.description:
                console.print(shorten(ticket.description, _MOST_DESCRIPTION))
        _section(console, "Changed files", files)
        _section(console, "Commits on this branch", subjects)
        notes = [f"{one.timestamp:%H:%M} {one.note}" for one in session.observations]
        _section(console, "Subagents noted", notes)
        shown = [f"{one.learning_id} {one.summary}" for one in session.injected]
        _section(console, "Learnings you were shown (name those that helped)", shown)
        refused = [f"{one.summary}: {one.rejection.reason}" for one in session.last_rejections]
        _section(console, "Refused last time", refused)
        console.print("The input's format: grove reflect --schema")

    return Result(document=document, human=human)


def _work(workspace: Workspace) -> tuple[list[str], list[str]]:
    top = git.find_top(workspace.root)
    if top is None:
        return [], []
    tree = git.read_work_tree(top, _GIT_SECONDS)
    history = git.read_branch_history(top, _GIT_SECONDS)
    changed = (*tree.changed, *tree.untracked) if tree is not None else ()
    paths = (*changed, *history.files)
    touched = seen_from_root(os.fspath(workspace.root), os.fspath(top), paths)
    return list(without(ignored_paths(workspace), touched)), list(history.subjects)


def _tickets(session: Session) -> list[Ticket]:
    gate = session.gate
    if gate.cycle is not None and gate.cycle.tickets:
        return list(gate.cycle.tickets)
    return [gate.ticket] if gate.ticket is not None else []


def _section(console: "Console", title: str, lines: list[str]) -> None:
    if not lines:
        return
    console.print(f"{title}:")
    for line in lines[:_MOST_FILES]:
        console.print(f"  {line}")
    if len(lines) > _MOST_FILES:
        console.print(f"  and {len(lines) - _MOST_FILES} more")

"""What GitHub and GitLab have in common: trackers that belong to a git repository."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from grove_core import Detection, ProjectContext, Ticket
from grove_tickets.arguments import Arguments
from grove_tickets.places import branch_name, default_branch, find_repository
from grove_tickets.records import from_json

_USUAL_DEFAULTS: Final = frozenset({"main", "master"})
_ADDRESS: Final = r"^(?:\w+://(?:[^@/]+@)?[^/]+/|[^@/]+@[^:/]+:)"
_NO_TICKETS: Final = r"(?i)^(?:releases?|versions?|dependabot|renovate)/"
_NUMBERED: Final = (
    r"(?i)(?:^|/)(?:(?:issues?|gh|gl|fix|bug|bugfix|feat|feature|task|ticket)[-_]?)?"
    r"([1-9]\d{0,8})(?=$|[-_/](?!\d))"
)


def find_git(context: ProjectContext) -> Detection | None:
    """Find a git repository."""
    repository = find_repository(context.cwd)
    return None if repository is None else Detection(marker=str(repository.git))


def ticket_of_branch(context: ProjectContext, system: str) -> Ticket | None:
    """Return which issue the branch that is checked out names."""
    repository = find_repository(context.cwd)
    name = None if repository is None else branch_name(repository)
    found = re.search(_NUMBERED, name) if name and not re.search(_NO_TICKETS, name) else None
    return None if found is None else Ticket(ticket_id=f"#{found[1]}", source=system)


def is_default_branch(name: str | None, directory: Path) -> bool:
    """Return whether a branch is the one on which keywords in commits take effect."""
    repository = find_repository(directory)
    if repository is None:
        return False
    name = branch_name(repository) if name is None else name
    default = default_branch(repository)
    return name in _USUAL_DEFAULTS if default is None else name == default


def repository_path(typed: str) -> str:
    """Return the path of a repository from its address."""
    return re.sub(_ADDRESS, "", typed).strip("/").removesuffix(".git")


def request_fields(arguments: Arguments, stdin: str | None) -> Mapping[str, Any]:
    """Return the fields that ``gh api`` or ``glab api`` sends."""
    flags = ("-f", "--raw-field", "-F", "--field")
    pairs = (value.partition("=") for name, value in arguments.options if name in flags)
    fields: dict[str, Any] = {key: value for key, _, value in pairs}
    if arguments.value("--input") == "-":
        body = from_json(stdin)
        fields |= body if isinstance(body, dict) else {}
    return fields


def is_number(typed: str) -> bool:
    """Return whether a word is the number of an issue."""
    return typed.isascii() and typed.isdigit()

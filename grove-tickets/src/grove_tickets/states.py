"""Names of the states in which work on a ticket is over."""

from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from grove_core import ProjectContext

DONE: Final = (
    "done", "close", "closed", "close issue", "complete", "completed", "resolve", "resolved",
    "resolve issue", "fixed", "won't do", "won't fix", "canceled", "cancelled", "duplicate",
)  # fmt: skip
"""Usual names; a transition may have one of its own beside the state that it leads to."""


@frozen(kw_only=True, eq=False, repr=False)
class DoneSettings:
    """Settings of a system whose states have names of its own.

    Attributes:
        done: Names of the states in which work on a ticket is over.
    """

    done: tuple[str, ...] = DONE


@frozen(kw_only=True, eq=False, repr=False)
class CancelledSettings:
    """Settings of a system in which a ticket can be dropped without being done.

    Attributes:
        cancelled_counts: Whether dropping a ticket counts as closing it.
    """

    cancelled_counts: bool = False


def counts_cancelled(context: ProjectContext) -> bool:
    """Return whether the settings of a system let a dropped ticket count as closed."""
    settings = context.settings
    return isinstance(settings, CancelledSettings) and settings.cancelled_counts


_DROPPED: Final = str.maketrans({"'": "", "\u2019": "", "_": " ", "-": " "})


def is_done(state: str, context: ProjectContext) -> bool:
    """Return whether work is over in a state, by the settings of a system."""
    settings = context.settings
    done = settings.done if isinstance(settings, DoneSettings) else DONE
    return _plain(state) in map(_plain, done)


def state_name(issue: Mapping[str, Any]) -> str:
    """Return the name of an issue's state in an answer of an MCP server."""
    fields = issue.get("fields")
    holder = fields if isinstance(fields, dict) else issue
    state = holder.get("status", holder.get("state"))
    name = state.get("name") if isinstance(state, dict) else state
    return name if isinstance(name, str) else ""


def _plain(name: str) -> str:
    return " ".join(name.casefold().translate(_DROPPED).split())

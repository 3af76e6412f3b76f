"""The outbox: what was accepted and is not delivered yet."""

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from grove_core.health.check import Check, broken, ok, warning
from grove_core.workspace import Workspace


@frozen(kw_only=True)
class OutboxFacts:
    """What waits.

    Attributes:
        here: How many learnings of this project wait, personal ones included.
        elsewhere: How many of other projects wait.
        unreadable: Entries that cannot be read.
    """

    here: int
    elsewhere: int
    unreadable: tuple[Path, ...]


def gather_outbox(workspace: Workspace) -> OutboxFacts:
    """Look into the outbox.

    Args:
        workspace: The project.

    Returns:
        The facts.
    """
    here = len(workspace.outbox.entries(workspace.root))
    everything = len(workspace.outbox.entries())
    unreadable = tuple(workspace.outbox.unreadable())
    return OutboxFacts(here=here, elsewhere=everything - here, unreadable=unreadable)


def judge_outbox(facts: OutboxFacts) -> Sequence[Check]:
    """Tell whether everything accepted has reached its backend.

    Args:
        facts: What waits.

    Returns:
        One check for what waits, and one for each entry that cannot be read.
    """
    name = "outbox"
    mend = "Look into it and mend it by hand; it holds a learning that was accepted"
    checks = [broken(name, f"{path} cannot be read", mend) for path in facts.unreadable]
    if facts.here:
        detail = f"learnings of this project that wait for their backend: {facts.here}"
        mend = "Mend the backend named above; the next reflection here delivers them"
        return [*checks, warning(name, detail, mend)]
    elsewhere = f"; of other projects: {facts.elsewhere}" if facts.elsewhere else ""
    return checks or [ok(name, f"nothing of this project waits{elsewhere}")]

"""``grove show``."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

import rich_click as click
from attrs import frozen

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.learnings import print_line
from grove_core.cli.maintain_list import decay_document
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.cli.suggestions import learning_ids
from grove_core.clock import format_instant
from grove_core.errors import LearningNotFoundError
from grove_core.flow.decaying import judged
from grove_core.flow.event_history import find_events
from grove_core.flow.succession import find_successor
from grove_core.memory.backends import FoundLearning
from grove_core.model.events import Archived, Corrected, Rated, Referenced, Restored, StatsEvent
from grove_core.model.statistics import LearningStats
from grove_core.services.requests import learning_document
from grove_core.text import clean_line

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST: Final = 500


@frozen(kw_only=True)
class PastEvent:
    """Something that happened to a learning."""

    at: datetime
    event: str
    detail: str


@click.command("show")
@click.argument("learning_id", metavar="ID", shell_complete=learning_ids)
@grove_command
def command(invocation: Invocation, *, learning_id: str) -> Result:
    """Show one learning in full, whatever its status, and what has become of it since."""
    workspace = invocation.workspace
    found = workspace.library.get(learning_id)
    if found is None:
        raise LearningNotFoundError(
            f"no learning has the id {learning_id}; `grove list --all` names those there are"
        )
    usage = workspace.usage()
    stats = usage.get(learning_id)
    # What others have noted is theirs to put away.
    is_note = not found.hit.complete
    verdict = None if is_note else judged(workspace, [found], usage)[0].verdict
    logged = find_events(
        workspace, [Archived, Restored, Corrected, Referenced, Rated], [learning_id]
    )
    events = [one.event for one in logged if getattr(one.event, "learning_id", "") == learning_id]
    history = [_past_event(one) for one in events]
    successor = find_successor(workspace, found.hit.learning, events)
    document = {
        **learning_document(found, stats),
        "decay": decay_document(verdict) if verdict is not None else None,
        "superseded_by": successor.hit.learning.id if successor is not None else None,
        "history": [{"at": one.at, "event": one.event, "detail": one.detail} for one in history],
    }

    def human(console: "Console") -> None:
        _human(found, stats, console)
        if successor is not None:
            new = successor.hit.learning
            console.print(f"{'Superseded:':<12}by {new.id}  {new.summary}")
        if verdict is not None:
            console.print(f"{'Decay:':<12}{verdict.explanation}")
        for past in history:
            detail = f"  {past.detail}" if past.detail else ""
            console.print(f"{past.at:%Y-%m-%d}  {past.event}{detail}")

    return Result(document=document, human=human, ids=[learning_id])


def _past_event(event: StatsEvent) -> PastEvent:
    """Describe an event; a log comes with a clone, so its texts are cleaned."""
    detail: str
    match event:
        case Archived() | Restored():
            detail = event.reason
        case Corrected():
            successor = f"by {event.superseded_by}" if event.superseded_by else ""
            detail = ": ".join(part for part in (successor, event.why) if part)
        case Referenced():
            ticket = f"for ticket {event.ticket_id}" if event.ticket_id else ""
            detail = ": ".join(part for part in (ticket, event.how) if part)
        case Rated():
            detail = "useful" if event.useful else "not useful"
        case _:
            detail = ""
    return PastEvent(at=event.ts, event=event.event, detail=clean_line(detail, _LONGEST))


def _human(found: FoundLearning, stats: LearningStats | None, console: "Console") -> None:
    learning = found.hit.learning
    print_line(console, found, stats)
    console.print()
    console.print(learning.detail)
    console.print()
    criteria = ", ".join(sorted(one.value for one in learning.criteria_met))
    origin = [("ticket", learning.ticket_id), ("session", learning.session_id)]
    for name, value in (
        ("Scope", learning.scope.value),
        ("Confidence", learning.confidence.value),
        ("Criteria", criteria),
        ("Tags", ", ".join(learning.tags)),
        ("Files", ", ".join(learning.context_files)),
        ("Supersedes", ", ".join(learning.supersedes)),
        ("Origin", ", ".join(f"{name} {value}" for name, value in origin if value)),
        ("Created", format_instant(learning.timestamp)),
        ("Backend", found.backend),
    ):
        if value:
            console.print(f"{name + ':':<12}{value}")
    if stats is not None:
        console.print(
            f"{'Usage:':<12}shown in {counted(stats.surfaced, 'session')},"
            f" used in {stats.referenced}, dismissed in {stats.dismissed},"
            f" corrected {counted(stats.corrected, 'time')}"
        )

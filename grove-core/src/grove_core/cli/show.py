"""``grove show``."""

from typing import TYPE_CHECKING

import rich_click as click

from grove_core.cli.invocation import Invocation, Result, counted, grove_command
from grove_core.cli.learnings import document_of, print_line
from grove_core.cli.suggestions import learning_ids
from grove_core.clock import format_instant
from grove_core.errors import LearningNotFoundError
from grove_core.memory.backends import FoundLearning
from grove_core.model.statistics import LearningStats

if TYPE_CHECKING:
    from rich.console import Console


@click.command("show")
@click.argument("learning_id", metavar="ID", shell_complete=learning_ids)
@grove_command
def command(invocation: Invocation, *, learning_id: str) -> Result:
    """Show one learning in full, whatever its status."""
    workspace = invocation.workspace
    found = workspace.library.get(learning_id)
    if found is None:
        raise LearningNotFoundError(
            f"no learning has the id {learning_id}; `grove list --all` names those there are"
        )
    stats = workspace.usage().get(learning_id)
    return Result(
        document=document_of(found, stats),
        human=lambda console: _human(found, stats, console),
        ids=[learning_id],
    )


def _human(found: FoundLearning, stats: LearningStats | None, console: "Console") -> None:
    learning = found.hit.learning
    print_line(console, found, stats)
    console.print()
    console.print(learning.detail)
    console.print()
    criteria = ", ".join(sorted(one.value for one in learning.criteria_met))
    origin = f"ticket {learning.ticket_id}, " if learning.ticket_id else ""
    for name, value in (
        ("Scope", learning.scope.value),
        ("Confidence", learning.confidence.value),
        ("Criteria", criteria),
        ("Tags", ", ".join(learning.tags)),
        ("Files", ", ".join(learning.context_files)),
        ("Supersedes", ", ".join(learning.supersedes)),
        ("Origin", f"{origin}session {learning.session_id}"),
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

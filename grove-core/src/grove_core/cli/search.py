"""``grove search``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import rich_click as click

from grove_core.cli.invocation import Invocation, Result, grove_command
from grove_core.cli.learnings import document_of, filter_options, print_line, read_filters
from grove_core.memory.library import FoundLearning
from grove_core.model.memory import Query
from grove_core.model.statistics import AggregateStats
from grove_core.retrieval.ranking import RankedHit, rank
from grove_core.retrieval.rules import overlaps

if TYPE_CHECKING:
    from rich.console import Console

_USUAL_LIMIT = 10


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@filter_options
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@grove_command
def command(  # noqa: PLR0913 - one parameter for each option
    invocation: Invocation,
    *,
    words: tuple[str, ...],
    categories: tuple[str, ...],
    tags: tuple[str, ...],
    scopes: tuple[str, ...],
    statuses: tuple[str, ...],
    paths: tuple[str, ...],
    since: str | None,
    limit: int | None,
    explain: bool,
) -> Result:
    """Search the learnings of this project and your own, in all active backends.

    The score is relevance, times how fresh a learning is, times how often it has helped.
    """
    workspace = invocation.workspace
    filters = read_filters(
        workspace.now,
        categories=categories,
        tags=tags,
        scopes=scopes,
        statuses=statuses,
        since=since,
    )
    found = workspace.library.search(Query(text=" ".join(words), files=paths), filters)
    kept = {
        one.hit.learning.id: one
        for one in found
        if one.hit.relevance > 0
        and (not paths or any(overlaps(file, paths) for file in one.hit.learning.context_files))
    }
    numbers = workspace.statistics()
    recency_days = workspace.config.retrieval.recency_days_to_30_percent
    hits = [one.hit for one in kept.values()]
    ranked = rank(hits, numbers.learnings, workspace.now, recency_days)[: limit or _USUAL_LIMIT]
    return Result(
        document={
            "query": " ".join(words),
            "count": len(ranked),
            "results": [_document(one, kept, numbers) for one in ranked],
        },
        human=lambda console: _human(ranked, kept, numbers, console, explain=explain),
        ids=[one.hit.learning.id for one in ranked],
    )


def _document(
    one: RankedHit, found: dict[str, FoundLearning], numbers: AggregateStats
) -> dict[str, Any]:
    learning_id = one.hit.learning.id
    return {
        **document_of(found[learning_id], numbers.learnings.get(learning_id)),
        "score": one.score,
        "reasons": one.hit.reasons,
    }


def _human(
    ranked: Sequence[RankedHit],
    found: dict[str, FoundLearning],
    numbers: AggregateStats,
    console: "Console",
    *,
    explain: bool,
) -> None:
    for one in ranked:
        learning_id = one.hit.learning.id
        print_line(console, found[learning_id], numbers.learnings.get(learning_id))
        if explain:
            score = one.score
            console.print(
                f"  score {score.total:.2f} = relevance {score.relevance:.2f}"
                f" × recency {score.recency:.2f} × boost {score.boost:.2f}"
                f"  ({'; '.join(one.hit.reasons) or found[learning_id].backend})",
                style="dim",
            )
    if not ranked:
        console.print("Nothing fits.")

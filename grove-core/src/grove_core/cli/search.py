"""``grove search``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

import rich_click as click

from grove_core.cli.invocation import Invocation, Result, grove_command
from grove_core.cli.learnings import (
    Narrowing,
    document_of,
    filter_options,
    names_a_file,
    print_line,
    read_filters,
)
from grove_core.memory.backends import FoundLearning
from grove_core.model.memory import Query
from grove_core.model.statistics import LearningStats
from grove_core.retrieval.ranking import RankedHit, rank
from grove_core.text import remove_invisible

if TYPE_CHECKING:
    from rich.console import Console

_USUAL_LIMIT: Final = 10


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@filter_options
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@grove_command
def command(
    invocation: Invocation, *, words: tuple[str, ...], explain: bool, **narrowing: Unpack[Narrowing]
) -> Result:
    """Search the learnings of this project and your own, in all active backends.

    The score is relevance, times how fresh a learning is, times how often it has helped.
    """
    workspace = invocation.workspace
    filters = read_filters(workspace.now, narrowing)
    query = Query(text=remove_invisible(" ".join(words)), files=narrowing["paths"])
    kept = {
        one.hit.learning.id: one
        for one in workspace.library.search(query, filters)
        if one.hit.relevance > 0 and names_a_file(one.hit.learning, narrowing)
    }
    usage = workspace.usage()
    recency_days = workspace.config.retrieval.recency_days_to_30_percent
    hits = [one.hit for one in kept.values()]
    limit = narrowing["limit"] or _USUAL_LIMIT
    ranked = rank(hits, usage, workspace.now, recency_days)[:limit]
    return Result(
        document={
            "query": query.text,
            "count": len(ranked),
            "results": [_document(one, kept, usage) for one in ranked],
        },
        human=lambda console: _human(ranked, kept, usage, console, explain=explain),
        ids=[one.hit.learning.id for one in ranked],
    )


def _document(
    one: RankedHit, found: dict[str, FoundLearning], usage: Mapping[str, LearningStats]
) -> dict[str, Any]:
    learning_id = one.hit.learning.id
    return {
        **document_of(found[learning_id], usage.get(learning_id)),
        "score": one.score,
        "reasons": one.hit.reasons,
    }


def _human(
    ranked: Sequence[RankedHit],
    found: dict[str, FoundLearning],
    usage: Mapping[str, LearningStats],
    console: "Console",
    *,
    explain: bool,
) -> None:
    for one in ranked:
        learning_id = one.hit.learning.id
        print_line(console, found[learning_id], usage.get(learning_id))
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

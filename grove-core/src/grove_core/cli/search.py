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
from grove_core.cli.slow_backend import naming_servers
from grove_core.config.schema import DEFAULT_ENGINE
from grove_core.finder import found_learning, terms_of
from grove_core.model.memory import Query
from grove_core.model.statistics import LearningStats
from grove_core.retrieval.entries import learning_of
from grove_core.retrieval.explaining import explanation_of, lines_of
from grove_core.retrieval.matching import in_words, matches_of
from grove_core.retrieval.ranking import Ranked
from grove_core.text import remove_invisible
from grove_core.workspace import Workspace

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
    with naming_servers(workspace.library):
        ranked = workspace.finder.search(query, filters, notes=True)
    found = [
        one
        for one in ranked
        if one.score.relevance > 0 and names_a_file(learning_of(one.entry), narrowing)
    ]
    ranked = found[: narrowing["limit"] or _USUAL_LIMIT]
    usage = workspace.usage([one.entry.id for one in ranked])
    reasons = _reasons(workspace, query, ranked)
    return Result(
        document={
            "query": query.text,
            "count": len(ranked),
            "results": [_document(one, usage, reasons[one.entry.id]) for one in ranked],
        },
        human=lambda console: _human(ranked, usage, reasons if explain else None, console),
        ids=[one.entry.id for one in ranked],
    )


def _reasons(workspace: Workspace, query: Query, ranked: Sequence[Ranked]) -> dict[str, list[str]]:
    """Say what learnings and the query have in common; what a plugin has found, it says itself."""
    terms = terms_of(query)
    listed = {one.backend.name for one in workspace.library.listable()}
    # Asked after the search: where the engine is not there or has failed, the index has judged.
    by_index = workspace.finder.judged_by == DEFAULT_ENGINE
    return {
        one.entry.id: in_words(matches_of(terms, one.entry))
        if by_index and one.entry.backend in listed and not one.score.reasons
        else list(one.score.reasons)
        for one in ranked
    }


def _document(
    one: Ranked, usage: Mapping[str, LearningStats], reasons: Sequence[str]
) -> dict[str, Any]:
    return {
        **document_of(found_learning(one), usage.get(one.entry.id)),
        "score": explanation_of(one.score),
        "reasons": reasons,
    }


def _human(
    ranked: Sequence[Ranked],
    usage: Mapping[str, LearningStats],
    reasons: Mapping[str, Sequence[str]] | None,
    console: "Console",
) -> None:
    for one in ranked:
        print_line(console, found_learning(one), usage.get(one.entry.id))
        if reasons is not None:
            lines = lines_of(one.score)
            if reasons[one.entry.id] and not one.score.reasons:
                lines.append(f"in common: {'; '.join(reasons[one.entry.id])}")
            for line in lines:
                console.print(f"  {line}", style="dim")
    if not ranked:
        console.print("Nothing fits.")

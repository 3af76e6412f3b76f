"""``grove search``."""

from typing import TYPE_CHECKING, Unpack

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.learnings import (
    Narrowing,
    filter_options,
    names_a_file,
    print_line,
    read_filters,
)
from grove_core.cli.progress import naming_servers
from grove_core.cli.result import Result
from grove_core.finder import found_learning
from grove_core.model.memory import Query
from grove_core.retrieval.explaining import lines_of
from grove_core.services.requests import Found, search
from grove_core.text import remove_invisible

if TYPE_CHECKING:
    from rich.console import Console


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
        found = search(
            workspace,
            query,
            filters,
            limit=narrowing["limit"],
            wanted=lambda learning: names_a_file(learning, narrowing),
        )
    return Result(
        document=found.outcome.document,
        human=lambda console: _human(found, console, explain=explain),
        ids=found.outcome.ids,
    )


def _human(found: Found, console: "Console", *, explain: bool) -> None:
    for one in found.ranked:
        print_line(console, found_learning(one), found.usage.get(one.entry.id))
        if not explain:
            continue
        lines = lines_of(one.score)
        reasons = found.reasons[one.entry.id]
        if reasons and not one.score.reasons:
            lines.append(f"in common: {'; '.join(reasons)}")
        for line in lines:
            console.print(f"  {line}", style="dim")
    if not found.ranked:
        console.print("Nothing fits.")

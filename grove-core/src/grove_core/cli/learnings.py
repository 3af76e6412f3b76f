"""Showing learnings: what ``search``, ``list`` and ``show`` have in common."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

import rich_click as click

from grove_core.cli.render import counted
from grove_core.cli.timeparse import parse_time
from grove_core.memory.backends import FoundLearning
from grove_core.model.learning import Category, Learning, LearningStatus, Scope
from grove_core.model.memory import Filters
from grove_core.model.statistics import LearningStats
from grove_core.retrieval.rules import overlaps

if TYPE_CHECKING:
    from rich.console import Console


def filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that narrow a search."""
    options = [
        click.option(
            "--category",
            "categories",
            multiple=True,
            type=click.Choice([one.value for one in Category], case_sensitive=False),
            help="Only this kind; may be given several times.",
        ),
        click.option("--tag", "tags", multiple=True, help="Only with this tag; may be repeated."),
        click.option(
            "--scope",
            "scopes",
            multiple=True,
            type=click.Choice([one.value for one in Scope], case_sensitive=False),
            help="Only of this scope; may be given several times.",
        ),
        click.option(
            "--status",
            "statuses",
            multiple=True,
            type=click.Choice([one.value for one in LearningStatus], case_sensitive=False),
            help="Active ones by default; may be given several times.",
        ),
        click.option("--file", "paths", multiple=True, help="Only those that name this file."),
        click.option("--since", help="Only newer ones: 30d, 12h, or a date such as 2026-02-06."),
        click.option("--limit", type=click.IntRange(min=1), help="At most this many."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


class Narrowing(TypedDict):
    """The values of the options that ``filter_options`` adds."""

    categories: tuple[str, ...]
    tags: tuple[str, ...]
    scopes: tuple[str, ...]
    statuses: tuple[str, ...]
    paths: tuple[str, ...]
    since: str | None
    limit: int | None


def read_filters(now: datetime, narrowing: Narrowing, *, everything: bool = False) -> Filters:
    """Turn options into filters."""
    wanted = frozenset(LearningStatus(one) for one in narrowing["statuses"])
    if not wanted:
        wanted = frozenset(LearningStatus) if everything else Filters().statuses
    since = narrowing["since"]
    return Filters(
        statuses=wanted,
        scopes=frozenset(Scope(one) for one in narrowing["scopes"]),
        categories=frozenset(Category(one) for one in narrowing["categories"]),
        tags=frozenset(tag.lower().lstrip("#") for tag in narrowing["tags"]),
        created_after=parse_time(since, now, "--since") if since else None,
    )


def names_a_file(learning: Learning, narrowing: Narrowing) -> bool:
    """Return whether a learning passes ``--file``."""
    paths = narrowing["paths"]
    return not paths or any(overlaps(file, paths) for file in learning.context_files)


def print_line(console: "Console", found: FoundLearning, stats: LearningStats | None) -> None:
    """Print a learning in two lines."""
    from rich.text import Text

    learning = found.hit.learning
    line = Text()
    line.append(learning.id, style="bold")
    line.append(f"  {learning.category.value}", style="cyan")
    if learning.status is not LearningStatus.ACTIVE:
        line.append(f"  {learning.status.value}", style="yellow")
    if not found.hit.complete:
        line.append(f"  partial, from {found.backend}", style="yellow")
    if stats is not None and stats.surfaced:
        line.append(
            f"  shown in {counted(stats.surfaced, 'session')}, used in {stats.referenced}",
            style="dim",
        )
    console.print(line)
    console.print(Text(f"  {learning.summary}"))

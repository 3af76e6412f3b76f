"""``grove list``, ``grove show`` and ``grove search``."""

from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Any, Final, TypedDict, Unpack

import rich_click as click

from grove_core.cli.app import grove_command
from grove_core.cli.options import Decorator, choice_option, limit_option
from grove_core.cli.result import Result
from grove_core.cli.timeparse import parse_time
from grove_core.model.learning import Category, LearningStatus, Scope
from grove_core.model.memory import Filters, Query
from grove_core.project import Project
from grove_core.services.learnings import (
    ORDERS,
    Selection,
    list_learnings,
    list_rejected,
    search_learnings,
    show_learning,
)
from grove_core.text import remove_invisible


class Narrowing(TypedDict):
    """The values of the options that ``filter_options`` adds."""

    categories: tuple[str, ...]
    tags: tuple[str, ...]
    scopes: tuple[str, ...]
    statuses: tuple[str, ...]
    paths: tuple[str, ...]
    since: str | None
    limit: int | None


def filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that narrow a search."""
    for option in reversed(_FILTERS):
        function = option(function)
    return function


def _several(option: str, name: str, kind: type[Enum], line: str) -> Decorator:
    return choice_option(option, name, [one.value for one in kind], line, multiple=True)


_FILTERS: Final = (
    _several("--category", "categories", Category, "Only this kind"),
    click.option("--tag", "tags", multiple=True, help="Only with this tag; may be repeated."),
    _several("--scope", "scopes", Scope, "Only of this scope"),
    _several("--status", "statuses", LearningStatus, "Only of this status, active by default"),
    click.option("--file", "paths", multiple=True, help="Only those that name this file."),
    click.option("--since", help="Only newer ones: 30d, 12h, or a date such as 2026-02-06."),
    limit_option(),
)


def read_selection(now: datetime, narrowing: Narrowing, *, everything: bool = False) -> Selection:
    """Turn options into what is asked for."""
    wanted = frozenset(LearningStatus(one) for one in narrowing["statuses"])
    if not wanted:
        wanted = frozenset(LearningStatus) if everything else Filters().statuses
    filters = Filters(
        statuses=wanted,
        scopes=frozenset(Scope(one) for one in narrowing["scopes"]),
        categories=frozenset(Category(one) for one in narrowing["categories"]),
        tags=frozenset(tag.lower().lstrip("#") for tag in narrowing["tags"]),
        created_after=_since(now, narrowing),
    )
    return Selection(filters=filters, paths=narrowing["paths"], limit=narrowing["limit"])


def _since(now: datetime, narrowing: Narrowing) -> datetime | None:
    since = narrowing["since"]
    return parse_time(since, now, "--since") if since else None


@click.command("list")
@filter_options
@choice_option("--sort", "sort", ORDERS, "What to sort by, the highest first")
@click.option("--all", "everything", is_flag=True, help="Archived and superseded ones as well.")
@click.option("--stale", is_flag=True, help="Only what decay archives now or within seven days.")
@click.option(
    "--rejected", is_flag=True, help="Candidates that were refused; takes --since and --limit."
)
@grove_command
def list_(
    project: Project,
    *,
    sort: str | None,
    everything: bool,
    stale: bool,
    rejected: bool,
    **narrowing: Unpack[Narrowing],
) -> Result:
    """List learnings, newest first, with how they have fared.

    With `--stale` those come first that are due soonest; `grove maintain archive --stale` archives
    just these. With `--rejected` it lists what `grove reflect` refused, newest first, and why.
    """
    if rejected:
        others = [value for name, value in narrowing.items() if name not in ("since", "limit")]
        if any((sort, everything, stale, *others)):
            raise click.UsageError("--rejected takes --since and --limit, and nothing else")
        return list_rejected(project, _since(project.now, narrowing), narrowing["limit"])
    if stale and (everything or narrowing["statuses"]):
        raise click.UsageError("--stale is about active learnings: leave --all and --status out")
    selection = read_selection(project.now, narrowing, everything=everything)
    return list_learnings(project, selection, sort, stale=stale)


@click.command("show")
@click.argument("learning_id", metavar="ID")
@grove_command
def show(project: Project, *, learning_id: str) -> Result:
    """Show one learning in full, whatever its status, and what has become of it since."""
    return show_learning(project, learning_id)


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@filter_options
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@grove_command
def search(
    project: Project, *, words: tuple[str, ...], explain: bool, **narrowing: Unpack[Narrowing]
) -> Result:
    """Search the learnings of this project and your own, in all active backends.

    The score is relevance, times how fresh a learning is, times how often it has helped.
    """
    selection = read_selection(project.now, narrowing)
    query = Query(text=remove_invisible(" ".join(words)), files=narrowing["paths"])
    return search_learnings(project, query, selection, explain=explain)

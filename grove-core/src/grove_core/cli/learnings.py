"""``grove list``, ``grove show`` and ``grove search``."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.curation import decay_document
from grove_core.cli.progress import naming_servers
from grove_core.cli.result import Result
from grove_core.cli.suggestions import learning_ids
from grove_core.cli.timeparse import parse_time
from grove_core.clock import format_instant
from grove_core.errors import LearningNotFoundError
from grove_core.finder import found_learning
from grove_core.memory.backends import FoundLearning
from grove_core.model.events import Archived, Corrected, Rated, Referenced, Restored, StatsEvent
from grove_core.model.learning import Category, Learning, LearningStatus, Scope
from grove_core.model.memory import Filters, Query
from grove_core.model.usage import LearningStats
from grove_core.retrieval.explaining import lines_of
from grove_core.retrieval.rules import overlaps
from grove_core.services import requests
from grove_core.services.decay import Aging, examine
from grove_core.services.history import find_events, find_successor
from grove_core.services.requests import learning_document
from grove_core.text import clean_line, counted, remove_invisible

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST: Final = 500
_NEVER: Final = datetime.fromtimestamp(0, UTC)
_ORDERS: Final = ("created", "last-used", "hit-rate", "surfaced")


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


def _choices(
    option: str, name: str, kind: type[Enum], line: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    values = click.Choice([one.value for one in kind], case_sensitive=False)
    text = f"{line}; may be given several times."
    return click.option(option, name, multiple=True, type=values, help=text)


_FILTERS: Final = (
    _choices("--category", "categories", Category, "Only this kind"),
    click.option("--tag", "tags", multiple=True, help="Only with this tag; may be repeated."),
    _choices("--scope", "scopes", Scope, "Only of this scope"),
    _choices("--status", "statuses", LearningStatus, "Active ones by default"),
    click.option("--file", "paths", multiple=True, help="Only those that name this file."),
    click.option("--since", help="Only newer ones: 30d, 12h, or a date such as 2026-02-06."),
    click.option("--limit", type=click.IntRange(min=1), help="At most this many."),
)


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
        used = f"  shown in {counted(stats.surfaced, 'session')}, used in {stats.referenced}"
        line.append(used, style="dim")
    console.print(line)
    console.print(Text(f"  {learning.summary}"))


@click.command("list")
@filter_options
@click.option(
    "--sort",
    type=click.Choice(_ORDERS),
    help="What to sort by, the highest first; newest first by default.",
)
@click.option("--all", "everything", is_flag=True, help="Archived and superseded ones as well.")
@click.option("--stale", is_flag=True, help="Only what decay archives now or within seven days.")
@click.option(
    "--rejected", is_flag=True, help="Candidates that were refused; takes --since and --limit."
)
@grove_command
def list_(
    invocation: Invocation,
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
    project = invocation.project
    if rejected:
        others = [value for name, value in narrowing.items() if name not in ("since", "limit")]
        if any((sort, everything, stale, *others)):
            raise click.UsageError("--rejected takes --since and --limit, and nothing else")
        from grove_core.cli.rejected import rejected_result

        return rejected_result(project, narrowing["since"], narrowing["limit"])
    if stale and (everything or narrowing["statuses"]):
        raise click.UsageError("--stale is about active learnings: leave --all and --status out")
    filters = read_filters(project.now, narrowing, everything=everything)
    known = list(project.library.iterate())
    kept = [
        one
        for one in known
        if filters.admit(one.hit.learning) and names_a_file(one.hit.learning, narrowing)
    ]
    usage = {one.hit.learning.id: LearningStats(one.hit.learning.id) for one in kept}
    usage |= project.usage()
    examined = examine(project, kept, usage)
    if stale:
        examined = [one for one in examined if one.assessment.is_stale]
    default = "due" if stale else "created"
    examined.sort(key=lambda one: _sort_key(one, usage, sort or default), reverse=True)
    shown = examined[: narrowing["limit"]]

    return Result(
        document={
            "count": len(shown),
            "total": len(examined),
            "learnings": [
                {
                    **learning_document(one.found, usage[one.learning.id]),
                    "decay": decay_document(one.assessment),
                }
                for one in shown
            ],
        },
        human=lambda console: _print_list(
            console, shown, usage, len(examined), len(known), explained=stale
        ),
        ids=[one.learning.id for one in shown],
    )


def _print_list(
    console: "Console",
    shown: Sequence[Aging],
    usage: Mapping[str, LearningStats],
    fitting: int,
    known: int,
    *,
    explained: bool,
) -> None:
    for one in shown:
        print_line(console, one.found, usage[one.learning.id])
        if explained or one.assessment.hidden_since:
            console.print(f"  {one.assessment.explanation}", style="dim")
    if not known:
        console.print("No learnings yet.")
    elif not fitting:
        console.print(f"None fits; {known} in all.")
    elif fitting > len(shown):
        console.print(f"{len(shown)} of {fitting} shown.", style="dim")


def _sort_key(
    one: Aging, usage: Mapping[str, LearningStats], order: str
) -> tuple[datetime | float, datetime]:
    stats, created = usage[one.learning.id], one.learning.timestamp
    match order:
        case "due":
            return -one.assessment.days_left, created
        case "last-used":
            return stats.last_referenced or _NEVER, created
        case "hit-rate":
            return -1.0 if stats.hit_rate is None else stats.hit_rate, created
        case "surfaced":
            return float(stats.surfaced), created
    return created, created


@click.command("show")
@click.argument("learning_id", metavar="ID", shell_complete=learning_ids)
@grove_command
def show(invocation: Invocation, *, learning_id: str) -> Result:
    """Show one learning in full, whatever its status, and what has become of it since."""
    project = invocation.project
    found = project.library.get(learning_id)
    if found is None:
        raise LearningNotFoundError(
            f"no learning has the id {learning_id}; `grove list --all` names those there are"
        )
    usage = project.usage()
    # What others have noted is theirs to put away.
    aging = examine(project, [found], usage)[0] if found.hit.complete else None
    kinds = [Archived, Restored, Corrected, Referenced, Rated]
    logged = find_events(project, kinds, [learning_id])
    events = [one.event for one in logged if getattr(one.event, "learning_id", "") == learning_id]
    successor = find_successor(project, found.hit.learning, events)
    history = [{"at": one.ts, "event": one.event, "detail": _detail(one)} for one in events]
    return Result(
        document={
            **learning_document(found, usage.get(learning_id)),
            "decay": decay_document(aging.assessment) if aging is not None else None,
            "superseded_by": successor.hit.learning.id if successor is not None else None,
            "history": history,
        },
        human=lambda console: _print_all(
            console, found, usage.get(learning_id), aging, successor, events
        ),
        ids=[learning_id],
    )


def _detail(event: StatsEvent) -> str:
    """Describe an event; a log comes with a clone, so its texts are cleaned."""
    parts: Sequence[str | None] = ()
    match event:
        case Archived() | Restored():
            parts = (event.reason,)
        case Corrected():
            parts = (f"by {event.superseded_by}" if event.superseded_by else "", event.why)
        case Referenced():
            parts = (f"for ticket {event.ticket_id}" if event.ticket_id else "", event.how)
        case Rated():
            parts = ("useful" if event.useful else "not useful",)
    return clean_line(": ".join(part for part in parts if part), _LONGEST)


def _print_all(
    console: "Console",
    found: FoundLearning,
    stats: LearningStats | None,
    aging: Aging | None,
    successor: FoundLearning | None,
    events: Sequence[StatsEvent],
) -> None:
    learning = found.hit.learning
    origin = [("ticket", learning.ticket_id), ("session", learning.session_id)]
    new = successor.hit.learning if successor is not None else None
    usage = stats and (
        f"shown in {counted(stats.surfaced, 'session')}, used in {stats.referenced},"
        f" dismissed in {stats.dismissed}, corrected {counted(stats.corrected, 'time')}"
    )
    print_line(console, found, stats)
    console.print(f"\n{learning.detail}\n")
    for name, value in (
        ("Scope", learning.scope.value),
        ("Confidence", learning.confidence.value),
        ("Criteria", ", ".join(sorted(one.value for one in learning.criteria_met))),
        ("Tags", ", ".join(learning.tags)),
        ("Files", ", ".join(learning.context_files)),
        ("Supersedes", ", ".join(learning.supersedes)),
        ("Origin", ", ".join(f"{name} {value}" for name, value in origin if value)),
        ("Created", format_instant(learning.timestamp)),
        ("Backend", found.backend),
        ("Usage", usage),
        ("Superseded", new and f"by {new.id}  {new.summary}"),
        ("Decay", aging and aging.assessment.explanation),
    ):
        if value:
            console.print(f"{name + ':':<12}{value}")
    for event in events:
        console.print(f"{event.ts:%Y-%m-%d}  {event.event}  {_detail(event)}".rstrip())


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@filter_options
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@grove_command
def search(
    invocation: Invocation, *, words: tuple[str, ...], explain: bool, **narrowing: Unpack[Narrowing]
) -> Result:
    """Search the learnings of this project and your own, in all active backends.

    The score is relevance, times how fresh a learning is, times how often it has helped.
    """
    project = invocation.project
    filters = read_filters(project.now, narrowing)
    query = Query(text=remove_invisible(" ".join(words)), files=narrowing["paths"])
    with naming_servers(project.library):
        found = requests.search(
            project,
            query,
            filters,
            limit=narrowing["limit"],
            wanted=lambda learning: names_a_file(learning, narrowing),
        )

    def human(console: "Console") -> None:
        for one in found.ranked:
            print_line(console, found_learning(one), found.usage.get(one.entry.id))
            lines = lines_of(one.score) if explain else []
            reasons = found.reasons[one.entry.id]
            if explain and reasons and not one.score.reasons:
                lines.append(f"in common: {'; '.join(reasons)}")
            for line in lines:
                console.print(f"  {line}", style="dim")
        if not found.ranked:
            console.print("Nothing fits.")

    return Result(document=found.outcome.document, human=human, ids=found.outcome.ids)

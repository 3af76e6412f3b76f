"""``grove list``."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Final, Unpack

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.learnings import (
    Narrowing,
    filter_options,
    names_a_file,
    print_line,
    read_filters,
)
from grove_core.cli.maintain_list import decay_document
from grove_core.cli.result import Result
from grove_core.flow.decaying import judged
from grove_core.memory.backends import FoundLearning
from grove_core.model.statistics import LearningStats
from grove_core.services.requests import learning_document

if TYPE_CHECKING:
    from rich.console import Console

_NEVER: Final = datetime.fromtimestamp(0, UTC)


class Order(Enum):
    """What a list is sorted by, the highest first."""

    CREATED = "created"
    LAST_USED = "last-used"
    HIT_RATE = "hit-rate"
    SURFACED = "surfaced"


@click.command("list")
@filter_options
@click.option(
    "--sort",
    type=click.Choice([one.value for one in Order]),
    help="What to sort by, the highest first; newest first by default.",
)
@click.option("--all", "everything", is_flag=True, help="Archived and superseded ones as well.")
@click.option("--stale", is_flag=True, help="Only what decay archives now or within seven days.")
@click.option(
    "--rejected", is_flag=True, help="Candidates that were refused; takes --since and --limit."
)
@grove_command
def command(
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
    workspace = invocation.workspace
    if rejected:
        if sort or everything or stale or any(_other_options(narrowing)):
            raise click.UsageError("--rejected takes --since and --limit, and nothing else")
        from grove_core.cli.rejected import rejected_result

        return rejected_result(workspace, narrowing["since"], narrowing["limit"])
    if stale and (everything or narrowing["statuses"]):
        raise click.UsageError("--stale is about active learnings: leave --all and --status out")
    filters = read_filters(workspace.now, narrowing, everything=everything)
    known = list(workspace.library.iterate())
    kept = [
        one
        for one in known
        if filters.admit(one.hit.learning) and names_a_file(one.hit.learning, narrowing)
    ]
    usage = workspace.usage()
    verdicts = {one.found.hit.learning.id: one.verdict for one in judged(workspace, kept, usage)}
    if stale:
        kept = [one for one in kept if verdicts[one.hit.learning.id].is_stale]
        kept.sort(key=lambda one: verdicts[one.hit.learning.id].days_left)
    in_order = kept if stale and not sort else _sorted(kept, usage, Order(sort or Order.CREATED))
    learnings = in_order[: narrowing["limit"]]
    reasons = {name: one.explanation for name, one in verdicts.items() if stale or one.hidden_since}
    return Result(
        document={
            "count": len(learnings),
            "total": len(kept),
            "learnings": [
                {
                    **learning_document(one, usage.get(one.hit.learning.id)),
                    "decay": decay_document(verdicts[one.hit.learning.id]),
                }
                for one in learnings
            ],
        },
        human=lambda console: _human(learnings, len(kept), len(known), usage, reasons, console),
        ids=[one.hit.learning.id for one in learnings],
    )


def _other_options(narrowing: Narrowing) -> list[object]:
    return [value for name, value in narrowing.items() if name not in ("since", "limit")]


def _sorted(
    learnings: Sequence[FoundLearning], usage: Mapping[str, LearningStats], order: Order
) -> list[FoundLearning]:
    """Sort, the highest first; ties go to the newer."""

    def key(one: FoundLearning) -> tuple[datetime | float, datetime]:
        created = one.hit.learning.timestamp
        stats = usage.get(one.hit.learning.id) or LearningStats(learning_id="")
        match order:
            case Order.CREATED:
                return created, created
            case Order.LAST_USED:
                return stats.last_referenced or _NEVER, created
            case Order.HIT_RATE:
                return -1.0 if stats.hit_rate is None else stats.hit_rate, created
            case Order.SURFACED:
                return float(stats.surfaced), created

    return sorted(learnings, key=key, reverse=True)


def _human(
    learnings: Sequence[FoundLearning],
    total: int,
    known: int,
    usage: Mapping[str, LearningStats],
    reasons: Mapping[str, str],
    console: "Console",
) -> None:
    for one in learnings:
        print_line(console, one, usage.get(one.hit.learning.id))
        if one.hit.learning.id in reasons:
            console.print(f"  {reasons[one.hit.learning.id]}", style="dim")
    if not known:
        console.print("No learnings yet.")
    elif not total:
        console.print(f"None fits; {known} in all.")
    elif total > len(learnings):
        console.print(f"{len(learnings)} of {total} shown.", style="dim")

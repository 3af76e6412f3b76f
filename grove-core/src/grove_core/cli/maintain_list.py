"""``grove maintain list``."""

from collections.abc import Sequence
from math import floor
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.flow.curation_overview import CuratedLearning, Overview, overview
from grove_core.stats.decay import DecayState, DecayVerdict
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

_TITLES: Final = {
    "going_stale": "Going stale: archived soon unless shown or used",
    "archived": "Archived within 30 days",
    "superseded": "Superseded within 30 days",
    "corrected": "Said to be wrong, and nothing has taken their place",
    "never_used": "Often shown, never used",
    "never_shown": "Older than 30 days and never shown",
}
_HINTS: Final = {
    "going_stale": "grove maintain archive --stale, or grove ref ID where one helped",
    "archived": "grove maintain restore ID",
    "corrected": "grove maintain supersede ID --by ID, or grove maintain archive ID",
    "never_used": "grove maintain archive ID, or mend its tags and files",
}
_MOST_SHOWN: Final = 20
# Of the others the reason says it.
_BY_RULE: Final = (DecayState.FRESH, DecayState.DUE)


@click.command("list")
@click.option(
    "--explain", is_flag=True, help="Say of every learning how it stands to decay, and why."
)
@grove_command
def command(invocation: Invocation, *, explain: bool) -> Result:
    """Show what curation would look at: what goes stale, what went and why, what never helped."""
    return overview_result(invocation.workspace, explain=explain)


def overview_result(workspace: Workspace, *, explain: bool) -> Result:
    """Return what curation would look at."""
    found = overview(workspace)
    sections: dict[str, Sequence[CuratedLearning]] = {
        name: getattr(found, name) for name in _TITLES
    }
    document: dict[str, Any] = {"total": len(found.explained)}
    document |= {name: [_document(one) for one in ones] for name, ones in sections.items()}
    if explain:
        document["explained"] = [_explained_document(one) for one in found.explained]
    listed = found.explained if explain else [one for ones in sections.values() for one in ones]
    ids = dict.fromkeys(map(_id_of, listed))

    def human(console: "Console") -> None:
        if explain:
            _print_explained(found, console)
        else:
            _print_sections(sections, len(found.explained), console)

    return Result(document=document, human=human, ids=list(ids))


def _document(one: CuratedLearning) -> dict[str, Any]:
    learning, verdict = one.judged.found.hit.learning, one.judged.verdict
    return {
        "id": learning.id,
        "summary": learning.summary,
        "status": learning.status,
        "reason": one.reason,
        "at": one.at,
        "superseded_by": one.superseded_by,
        "days_left": _days_left(verdict),
    }


def decay_document(verdict: DecayVerdict) -> dict[str, Any]:
    """Describe for ``--json`` how a learning stands to decay."""
    rounded = {"days_since": round(verdict.days_since, 2), "days_left": _days_left(verdict)}
    if verdict.hit_rate is not None:
        rounded["hit_rate"] = round(verdict.hit_rate, 4)
    return verdict._asdict() | rounded


def _days_left(verdict: DecayVerdict) -> float | None:
    """Tell the days until it is due; ``None`` where the rule does not apply."""
    return round(verdict.days_left, 2) if verdict.state in _BY_RULE else None


def _explained_document(one: CuratedLearning) -> dict[str, Any]:
    return {**_document(one), "decay": decay_document(one.judged.verdict)}


def _print_sections(
    sections: dict[str, Sequence[CuratedLearning]], total: int, console: "Console"
) -> None:
    printed: set[str] = set()
    for name, ones in sections.items():
        if not ones:
            continue
        console.print(f"{_TITLES[name]} ({len(ones)})", style="bold")
        fresh = [one for one in ones if _id_of(one) not in printed]
        for one in fresh[:_MOST_SHOWN]:
            _print_learning(one, console)
            printed.add(_id_of(one))
        if len(fresh) > _MOST_SHOWN:
            more = len(fresh) - _MOST_SHOWN
            console.print(f"  … and {more} more (--json names all)", style="dim")
        if len(fresh) < len(ones):
            console.print(f"  … {len(ones) - len(fresh)} named above", style="dim")
        if name in _HINTS:
            console.print(f"  → {_HINTS[name]}", style="dim")
        console.print()
    if not any(sections.values()):
        console.print("Nothing needs curation.")
    rest = (
        "`grove maintain list --explain` says how each stands to decay"
        if total
        else "they come from `reflect`"
    )
    console.print(f"{counted(total, 'learning')} in all; {rest}.", style="dim")


def _id_of(one: CuratedLearning) -> str:
    return one.judged.found.hit.learning.id


def _print_learning(one: CuratedLearning, console: "Console") -> None:
    learning = one.judged.found.hit.learning
    console.print(f"  {learning.id}  {learning.summary}")
    console.print(f"    {one.reason}", style="dim")


def _print_explained(found: Overview, console: "Console") -> None:
    for one in found.explained:
        learning, verdict = one.judged.found.hit.learning, one.judged.verdict
        console.print(f"{learning.id}  {learning.summary}")
        state = f"{verdict.state.value}: " if verdict.state in _BY_RULE else ""
        console.print(f"    {state}{one.reason}")
        console.print(f"    {_numbers(verdict)}", style="dim")
    console.print(f"{counted(len(found.explained), 'learning')} in all.", style="dim")


def _numbers(verdict: DecayVerdict) -> str:
    """Write the rule's numbers in one line."""
    rate = "none" if verdict.hit_rate is None else f"{100 * verdict.hit_rate:.0f} %"
    return (
        f"last {verdict.verified_by} {verdict.last_verified:%Y-%m-%d}"
        f" · {floor(10 * verdict.days_since) / 10} of {verdict.passive_days} days"
        f" · shown {verdict.surfaced}, used {verdict.referenced}, hit rate {rate}"
        f" (immune from {100 * verdict.immunity_hit_rate:.0f} % of 3 or more)"
        f" · fast track {'yes' if verdict.fast_track else 'no'}"
    )

"""How learnings stand to curation and decay, as text and as JSON."""

from itertools import chain
from math import floor
from typing import TYPE_CHECKING, Any, Final

from grove_core.cli.result import Result
from grove_core.services.learnings import days_left, decay_document
from grove_core.stats.decay import DecayAssessment, DecayState
from grove_core.text import counted

if TYPE_CHECKING:
    from rich.console import Console

    from grove_core.services.curate import Overview, Remark

_MOST_SHOWN: Final = 20
# Of the others the reason says it.
_BY_RULE: Final = (DecayState.FRESH, DecayState.DUE)

# name of a section: its title, and what to do about it
_SECTIONS: Final = {
    "going_stale": (
        "Going stale: archived soon unless shown or used",
        "grove maintain archive --stale, or grove ref ID where one helped",
    ),
    "archived": ("Archived within 30 days", "grove maintain restore ID"),
    "superseded": ("Superseded within 30 days", ""),
    "corrected": (
        "Said to be wrong, and nothing has taken their place",
        "grove maintain supersede ID --by ID, or grove maintain archive ID",
    ),
    "never_used": (
        "Often shown, never used",
        "grove maintain archive ID, or fix its tags and files",
    ),
    "never_shown": ("Older than 30 days and never shown", ""),
}


def overview_result(found: "Overview", *, explain: bool) -> Result:
    """Return what curation would look at."""
    document: dict[str, Any] = {"total": len(found.explained)}
    for name, remarks in found.sections.items():
        document[name] = [_document(one) for one in remarks]
    if explain:
        document["explained"] = [
            {**_document(one), "decay": decay_document(one.assessment)} for one in found.explained
        ]
    listed = found.explained if explain else chain.from_iterable(found.sections.values())
    show = _print_explained if explain else _print_sections
    return Result(
        document=document,
        human=lambda console: show(found, console),
        ids=list(dict.fromkeys(one.learning.id for one in listed)),
    )


def _document(one: "Remark") -> dict[str, Any]:
    return {
        "id": one.learning.id,
        "summary": one.learning.summary,
        "status": one.learning.status,
        "reason": one.reason,
        "at": one.at,
        "superseded_by": one.superseded_by,
        "days_left": days_left(one.assessment),
    }


def _print_sections(found: "Overview", console: "Console") -> None:
    total = len(found.explained)
    for name, ones in found.sections.items():
        if ones:
            title, hint = _SECTIONS[name]
            console.print(f"{title} ({len(ones)})", style="bold")
            for one in ones[:_MOST_SHOWN]:
                console.print(f"  {one.learning.id}  {one.learning.summary}")
                console.print(f"    {one.reason}", style="dim")
            if len(ones) > _MOST_SHOWN:
                more = len(ones) - _MOST_SHOWN
                console.print(f"  … and {more} more (--json names all)", style="dim")
            console.print(f"  → {hint}\n" if hint else "", style="dim")
    if not any(found.sections.values()):
        console.print("Nothing needs curation.")
    rest = "`grove maintain list --explain` says how each stands to decay"
    rest = rest if total else "they come from `reflect`"
    console.print(f"{counted(total, 'learning')} in all; {rest}.", style="dim")


def _print_explained(found: "Overview", console: "Console") -> None:
    for one in found.explained:
        console.print(f"{one.learning.id}  {one.learning.summary}")
        state = f"{one.assessment.state.value}: " if one.assessment.state in _BY_RULE else ""
        console.print(f"    {state}{one.reason}")
        console.print(f"    {_numbers(one.assessment)}", style="dim")
    console.print(f"{counted(len(found.explained), 'learning')} in all.", style="dim")


def _numbers(assessment: DecayAssessment) -> str:
    rate = "none" if assessment.hit_rate is None else f"{100 * assessment.hit_rate:.0f} %"
    return (
        f"last {assessment.verified_by} {assessment.last_verified:%Y-%m-%d}"
        f" · {floor(10 * assessment.days_since) / 10} of {assessment.passive_days} days"
        f" · shown {assessment.surfaced}, used {assessment.referenced}, hit rate {rate}"
        f" (immune from {100 * assessment.immunity_hit_rate:.0f} % of 3 or more)"
        f" · fast track {'yes' if assessment.fast_track else 'no'}"
    )

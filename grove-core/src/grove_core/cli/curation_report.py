"""Telling what curation has done: what the commands of ``grove maintain`` have in common."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grove_core.cli.result import Result
from grove_core.flow.curation import Curated, Outcome

if TYPE_CHECKING:
    from rich.console import Console


def curation_result(
    curated: Sequence[Curated], verb: str, *, dry_run: bool, nothing: str
) -> Result:
    """Return what became of learnings."""
    changed = _of(curated, Outcome.CHANGED)
    unchanged = _of(curated, Outcome.UNCHANGED)
    refused = [one.detail for one in _of(curated, Outcome.REFUSED)]
    words = f"would be {verb}" if dry_run else verb

    def human(console: "Console") -> None:
        for one in changed:
            console.print(f"{words}  {one.learning_id}  {one.summary}\n    {one.detail}")
        for one in unchanged:
            console.print(one.detail, style="dim")
        if not curated:
            console.print(nothing)

    return Result(
        document={
            "dry_run": dry_run,
            "changed": [_document(one) for one in changed],
            "unchanged": [_document(one) for one in unchanged],
            "refused": [_document(one) for one in _of(curated, Outcome.REFUSED)],
            **({"error": "; ".join(refused)} if refused else {}),
        },
        human=human,
        ids=[one.learning_id for one in changed],
        exit_code=1 if refused else 0,
        warnings=refused,
    )


def _of(curated: Sequence[Curated], outcome: Outcome) -> list[Curated]:
    return [one for one in curated if one.outcome is outcome]


def _document(one: Curated) -> dict[str, str]:
    return {"id": one.learning_id, "summary": one.summary, "detail": one.detail}

"""``grove reflect --dry-run``: what would become of a submission."""

from typing import TYPE_CHECKING, Any

from grove_core.cli.result import Result
from grove_core.model.learning import Candidate, RejectedCandidate, Rejection, Stage
from grove_core.reflection.candidates import read_candidate
from grove_core.reflection.submission import Submission
from grove_core.services.reflect import ReflectionPreview
from grove_core.services.requests import rejected_fields

if TYPE_CHECKING:
    from rich.console import Console


def preview_result(submission: Submission, preview: ReflectionPreview) -> Result:
    """Report what would become of each candidate."""
    result = preview.result
    refused = [
        {
            **rejected_fields(one),
            "outcome": "rejected",
            "write_gate": _of_raw(submission.candidates[one.position], one),
        }
        for one in result.rejected
    ]
    accepted = [
        {
            "position": one.position,
            "summary": one.candidate.summary,
            "outcome": "accepted",
            "notes": one.notes,
            "write_gate": _components(one.candidate),
        }
        for one in result.accepted
    ]
    repeated = [
        {
            "position": one.position,
            "summary": one.candidate.summary,
            "outcome": "repeated",
            "id": one.learning_id,
            "write_gate": _components(one.candidate),
        }
        for one in result.repeated
    ]
    candidates = sorted((*refused, *accepted, *repeated), key=lambda one: one["position"])
    document: dict[str, Any] = {
        "session_id": preview.session.id,
        "gate": preview.session.gate.status,
        "dry_run": True,
        "opens": preview.opens,
        "candidates": candidates,
        "warnings": preview.warnings,
    }
    return Result(
        document=document,
        human=lambda console: _human(preview, candidates, console),
        exit_code=0 if preview.opens else 1,
        warnings=preview.warnings,
    )


def _of_raw(raw: Any, rejected: RejectedCandidate) -> dict[str, Any] | None:  # noqa: ANN401 - any JSON value
    if rejected.stage in {Stage.SCHEMA, Stage.SECRET}:
        return None
    read = read_candidate(raw)
    return None if isinstance(read, Rejection) else _components(read.candidate)


def _components(candidate: Candidate) -> dict[str, Any]:
    from grove_core.reflection.write_gate import evaluate

    assessment = evaluate(candidate)
    return {
        "score": assessment.score,
        "threshold": assessment.threshold,
        "components": assessment.components,
    }


def _human(
    preview: ReflectionPreview, candidates: list[dict[str, Any]], console: "Console"
) -> None:
    for one in candidates:
        number = one["position"] + 1
        if one["outcome"] == "accepted":
            console.print(f"{number}. would be accepted: {one['summary']}")
            for note in one["notes"]:
                console.print(f"   note: {note}")
        elif one["outcome"] == "repeated":
            console.print(f"{number}. is stored already as {one['id']}: {one['summary']}")
        else:
            console.print(f"{number}. would be refused ({one['stage'].value}): {one['summary']}")
            console.print(f"   {one['reason']}")
    if preview.nothing_learned and not preview.result.accepted and not preview.result.repeated:
        console.print("It would count as a skip.")
    console.print("Nothing was stored, logged or settled.")

"""What the JSON of several commands says of a candidate that was refused."""

from typing import Any

from grove_core.model.learning import RejectedCandidate


def rejected_fields(one: RejectedCandidate) -> dict[str, Any]:
    """Tell of a refused candidate what the documented JSON has.

    Args:
        one: The candidate.

    Returns:
        Its place, summary, stage, and the objection.
    """
    return {
        "position": one.position,
        "summary": one.summary,
        "stage": one.stage,
        "field": one.rejection.field,
        "reason": one.rejection.reason,
        "existing_id": one.rejection.existing_id,
    }

"""What the project's files ask for and the user has not agreed to."""

from collections.abc import Sequence

from grove_core.flow.trusting import Standing, TrustState
from grove_core.health.check import Check, ok, warning
from grove_core.text import clean_line

_LONGEST_NAME = 80


def judge_trust(state: TrustState) -> Sequence[Check]:
    """Return what of the project has no effect for want of trust."""
    name = "trust"
    checks = [warning(name, state.fault, "Look at it and delete it")] if state.fault else []
    for one in state.untrusted:
        subject = clean_line(one.request.subject, _LONGEST_NAME)
        source = clean_line(one.request.source, _LONGEST_NAME)
        changed = " any more: it has changed" if one.standing is Standing.CHANGED else ""
        detail = f"{source} asks for {subject}, which is not trusted{changed}"
        checks.append(warning(name, detail, "Read and agree, if you do: grove trust"))
    if checks or not state.asked:
        return checks
    return [ok(name, "you have agreed to all that the project's files ask for")]

"""The review gate: the agent is held until a reviewer has looked at its work and decided."""

from collections.abc import Sequence

from grove_core import (
    Candidate,
    CommandSpec,
    GateSpec,
    HealthCheck,
    Learning,
    PluginGate,
    ProjectContext,
    Receipt,
    ReflectionContext,
    Rejection,
    hookimpl,
)
from grove_review.settings import NAME, ReviewSettings

grove_api = 2


@hookimpl
def grove_gates() -> Sequence[GateSpec]:
    """Offer the gate."""
    return [GateSpec(name=NAME, open=_open, settings=ReviewSettings)]


def _open(context: ProjectContext) -> PluginGate | None:
    from grove_review.gate import open_gate

    return open_gate(context)


@hookimpl
def grove_commands() -> Sequence[CommandSpec]:
    """Offer ``grove reviewer``."""
    line = "Reviews of an agent's work: what to look at, the decision, how it went."
    return [CommandSpec(name="reviewer", target="grove_review.commands:command", help=line)]


@hookimpl
def grove_health_checks() -> Sequence[HealthCheck]:
    """Offer to look whether reviews can work at all."""
    from grove_review.health import check

    return [HealthCheck(name=NAME, run=check)]


@hookimpl
def grove_check_candidate(candidate: Candidate, context: ReflectionContext) -> Rejection | None:
    """Ask for the review first: lessons are taken from work that stands."""
    from grove_review.lessons import objection

    del candidate
    return objection(context)


@hookimpl
def grove_learning_written(learning: Learning, receipt: Receipt) -> None:
    """Note what was learned in a session whose review had found something."""
    from grove_review.lessons import note_learning

    del receipt
    note_learning(learning)

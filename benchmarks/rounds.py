"""Round after round: every step once, in turn with the yardstick, until the time is up."""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen
from measuring import NOTHING, Command, Cost, cost_of, median
from scenarios import Step, bare_python
from worlds import World, git_calls, run

IDLE: Final = 1.25
"""Up to here starting Python takes longer than its processor time on an idle machine, too."""

_MOST_REHEARSALS: Final = 10


@frozen(kw_only=True)
class Measured:
    """What a step has cost in each round.

    Attributes:
        step: The step.
        costs: Its costs, those of git left out.
        git: What its calls of git cost when they run by themselves.
        git_calls: How many calls of git it makes.
    """

    step: Step
    costs: Sequence[Cost]
    git: Sequence[Cost]
    git_calls: int


@frozen(kw_only=True)
class Rounds:
    """What was measured side by side.

    Attributes:
        python: What starting Python cost in each round: the median of several times.
        steps: What each step cost.
    """

    python: Sequence[Cost]
    steps: Sequence[Measured]

    @property
    def busyness(self) -> float:
        """How many times its processor time starting Python took: 1 on an idle machine."""
        unit = median(self.python)
        return unit.wall / unit.cpu

    @property
    def by_clock(self) -> bool:
        """Whether the machine was idle enough for the clock to tell what hooks cost."""
        return self.busyness <= IDLE


@frozen(kw_only=True)
class Length:
    """How long to measure.

    Attributes:
        seconds: For about this long,
        least: but this many rounds at least.
    """

    seconds: float
    least: int


@frozen(kw_only=True)
class Rehearsal:
    """What a rehearsal found out.

    Attributes:
        calls: The calls of git that each step makes.
        failed: The steps that printed something, or nothing, where the other was meant.
    """

    calls: Mapping[Step, Sequence[Command]]
    failed: Sequence[Step]


def rehearse(worlds: Mapping[str, World], steps: Sequence[Step]) -> Rehearsal:
    """Take every step before anything is measured, so that caches are warm and bytecode compiled.

    Until no hook finds out anything more for later ones: such a hook does more than usual.

    Args:
        worlds: The worlds by name.
        steps: The steps.

    Returns:
        What was found out.
    """
    printed: Mapping[Step, str] = {}
    for number in range(_MOST_REHEARSALS):
        before = _notes(worlds)
        printed = {step: run(_of(worlds, step, f"rehearsed-{number}")) for step in steps}
        if _notes(worlds) == before:
            break
    calls = {step: git_calls(worlds[step.world], _of(worlds, step, "recorded")) for step in steps}
    failed = [step for step in steps if bool(printed[step]) is not step.speaks]
    return Rehearsal(calls=calls, failed=failed)


def _notes(worlds: Mapping[str, World]) -> Mapping[Path, int]:
    """Look at what hooks have noted down for later ones, with the times."""
    notes = (path for one in worlds.values() for path in (one.home / "cache").rglob("*.json"))
    return {path: path.stat().st_mtime_ns for path in notes}


def _of(worlds: Mapping[str, World], step: Step, session_id: str) -> Command:
    return step.command(worlds[step.world], session_id)


def measure(
    worlds: Mapping[str, World],
    steps: Sequence[Step],
    calls: Mapping[Step, Sequence[Command]],
    length: Length,
) -> Rounds:
    """Measure steps side by side. Each round is one session, from its start to its end.

    Args:
        worlds: The worlds by name.
        steps: The steps, in the order of a session's life.
        calls: The calls of git that each step makes.
        length: How long to measure.

    Returns:
        The costs.
    """
    python: list[Cost] = []
    costs: dict[Step, list[Cost]] = {step: [] for step in steps}
    git: dict[Step, list[Cost]] = {step: [] for step in steps}
    ends = time.monotonic() + length.seconds
    while len(python) < length.least or time.monotonic() < ends:
        session_id = f"measured-{len(python)}"
        bare: list[Cost] = []
        for step in steps:
            world = worlds[step.world]
            bare.append(cost_of(bare_python(world)))
            whole = cost_of(step.command(world, session_id))
            of_git = _total(cost_of(call) for call in calls[step])
            costs[step].append(whole - of_git)
            git[step].append(of_git)
        python.append(median(bare))
    return Rounds(
        python=python,
        steps=[
            Measured(step=step, costs=costs[step], git=git[step], git_calls=len(calls[step]))
            for step in steps
        ],
    )


def _total(costs: Iterable[Cost]) -> Cost:
    total = NOTHING
    for cost in costs:
        total += cost
    return total

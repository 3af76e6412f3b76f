"""The same hooks in a project with a hundred times the past, as multiples of their own cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import evolve, frozen
from measuring import Ratio, compare, cpu, wall
from rounds import Length, Rounds, measure, rehearse
from scenarios import LARGE, LARGE_BUDGET, LARGE_STEPS, TICKETS
from worlds import World, make_world

_LENGTH: Final = Length(seconds=60.0, least=3)
_LARGE: Final = "large"


@frozen(kw_only=True)
class LargeRow:
    """What a hook costs with a large past.

    Attributes:
        title: The hook.
        ratio: Its cost, as a multiple of what it costs with the usual past.
        budget: The most that this may be.
        answers: Whether it gives its answer within its usual time limits.
    """

    title: str
    ratio: Ratio
    budget: float
    answers: bool

    def is_missed(self, tolerance: float) -> bool:
        """Tell whether the budget is missed.

        Args:
            tolerance: By which share it may be passed.

        Returns:
            Whether it costs more, or does not answer.
        """
        return not self.answers or self.ratio.value > self.budget * (1 + tolerance)


def measure_large(folder: Path, usual: World) -> tuple[Sequence[LargeRow], Rounds]:
    """Measure the hooks that read learnings or events, with few and with many of them.

    Args:
        folder: A folder that is not there yet, for the large project.
        usual: The project with the usual past.

    Returns:
        A row for each hook, and the rounds that they were measured in.
    """
    large = make_world(folder, LARGE, tickets=True)
    few = list(LARGE_STEPS)
    many = [evolve(step, world=_LARGE) for step in few]
    worlds = {TICKETS: usual, _LARGE: large}
    # The first time warms the caches, the second one tells whether they are any good.
    rehearse(worlds, many)
    rehearsal = rehearse(worlds, [*few, *many])
    unhurried = {name: world.without_haste() for name, world in worlds.items()}
    rounds = measure(unhurried, [*few, *many], rehearsal.calls, _LENGTH)
    costs = {measured.step: measured.costs for measured in rounds.steps}
    rows = [
        LargeRow(
            title=one.title,
            ratio=compare(costs[other], costs[one], wall if rounds.by_clock else cpu),
            budget=LARGE_BUDGET,
            answers=other not in rehearsal.failed,
        )
        for one, other in zip(few, many, strict=True)
    ]
    return rows, rounds

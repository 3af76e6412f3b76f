"""What a process costs, from its start to its end, and how two costs compare."""

import os
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

# How often the rounds are drawn anew for an interval, and which share of the draws it leaves out.
_DRAWS: Final = 1000
_LEFT_OUT: Final = 0.05
_SEED: Final = 20300102


@frozen(kw_only=True)
class Command:
    """A program as a client starts it.

    Attributes:
        words: The program's path and its arguments.
        stdin: What it reads: less than a pipe holds.
        cwd: Where it is started.
        environment: Its environment.
    """

    words: tuple[str, ...]
    stdin: bytes
    cwd: Path
    environment: Mapping[str, str]


@frozen(kw_only=True)
class Cost:
    """What a process has cost.

    Attributes:
        wall: Seconds from its start until it was reaped.
        cpu: Seconds of all processors, in its code and in the kernel for it, together with those of
            the processes that it waited for.
    """

    wall: float
    cpu: float

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(wall=self.wall + other.wall, cpu=self.cpu + other.cpu)

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(wall=self.wall - other.wall, cpu=self.cpu - other.cpu)


NOTHING: Final = Cost(wall=0.0, cpu=0.0)


class UnexpectedExitError(Exception):
    """A process did not end as it should have: what was measured is not what was meant."""


def cost_of(command: Command, expected_exit: int = 0) -> Cost:
    """Run a command once, its output thrown away.

    Args:
        command: What to run.
        expected_exit: How it must end.

    Returns:
        What it cost by the clock, and by the operating system's own account of the ended process.

    Raises:
        UnexpectedExitError: It ended otherwise.
    """
    reading, writing = os.pipe()
    os.write(writing, command.stdin)
    os.close(writing)
    # Starting a process in another directory would take a slower way of starting it.
    os.chdir(command.cwd)
    actions = [
        (os.POSIX_SPAWN_DUP2, reading, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    started = time.perf_counter()
    process = os.posix_spawn(
        command.words[0], command.words, command.environment, file_actions=actions
    )
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - started
    os.close(reading)
    exit_code = os.waitstatus_to_exitcode(status)
    if exit_code != expected_exit:
        raise UnexpectedExitError(
            f"{' '.join(command.words)} ended with {exit_code}, not {expected_exit}"
        )
    return Cost(wall=wall, cpu=usage.ru_utime + usage.ru_stime)


@frozen(kw_only=True)
class Ratio:
    """How many times as much one thing costs as another.

    Attributes:
        value: The ratio of the medians.
        low: The lower end of the interval that 95 of 100 such runs would fall into.
        high: Its upper end.
    """

    value: float
    low: float
    high: float


def compare(
    costs: Sequence[Cost], yardstick: Sequence[Cost], read: Callable[[Cost], float]
) -> Ratio:
    """Compare what was measured in the same rounds.

    Args:
        costs: What something cost in each round.
        yardstick: What the yardstick cost in each round.
        read: Which cost counts.

    Returns:
        The ratio of the medians. Its interval comes from drawing whole rounds anew, so that a
        neighbour who slowed a round down slowed down all that was measured in it.
    """
    rounds = [(read(cost), read(unit)) for cost, unit in zip(costs, yardstick, strict=True)]
    chance = random.Random(_SEED)
    drawn = sorted(_ratio(chance.choices(rounds, k=len(rounds))) for _ in range(_DRAWS))
    cut = int(_DRAWS * _LEFT_OUT / 2)
    return Ratio(value=_ratio(rounds), low=drawn[cut], high=drawn[-1 - cut])


def _ratio(rounds: Sequence[tuple[float, float]]) -> float:
    cost = statistics.median(cost for cost, _ in rounds)
    return cost / statistics.median(unit for _, unit in rounds)


def median(costs: Sequence[Cost]) -> Cost:
    """Take the median by the clock, and that of the processors' time.

    Args:
        costs: Costs of the same thing.

    Returns:
        Their medians.
    """
    return Cost(wall=statistics.median(map(wall, costs)), cpu=statistics.median(map(cpu, costs)))


def wall(cost: Cost) -> float:
    """Read the time by the clock."""
    return cost.wall


def cpu(cost: Cost) -> float:
    """Read the time of the processors."""
    return cost.cpu

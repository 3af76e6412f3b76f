"""Measuring at every size: warm, after one more learning, and when all that is derived is gone."""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from attrs import frozen
from many_calls import Call, drive
from measuring import NOTHING, Command, Cost, Ratio, compare, cost_of, cpu, median, wall
from rounds import Length, Rounds, measure, rehearse
from scale_steps import KINDS, SEARCH, SESSION_END, SESSION_START, steps_in
from scale_worlds import append_learning, finish_index, forget_sessions, take_back
from scenarios import Step, bare_python
from worlds import GROVE, World, run

_MEMORY_ROUNDS: Final = 3
_YARDSTICKS: Final = 5
_MIB: Final = 1024 * 1024
# In seconds: a hook that took longer may have let a process in the background go on.
_MAY_LEAVE_A_REST: Final = 0.5


@frozen(kw_only=True)
class Effort:
    """How much to measure.

    Attributes:
        warm: For how long with everything up to date.
        appended: How many learnings are appended, one after the other.
        cold: By the number of learnings, how often everything derived is removed.
    """

    warm: Length
    appended: int
    cold: Mapping[int, int]


@frozen(kw_only=True)
class Cell:
    """What one thing costs at one size.

    Attributes:
        title: What it is.
        learnings: The size.
        state: "warm", "appended" or "cold".
        wall: By the clock, as a multiple of starting Python.
        cpu: By the time of the processors, likewise.
        memory: Peak memory in MiB, where it was measured.
        speaks: Whether it says something if it has something to say, and nothing else.
    """

    title: str
    learnings: int
    state: str
    wall: Ratio
    cpu: Ratio
    memory: float | None = None
    speaks: bool = True


@frozen(kw_only=True)
class Rebuilt:
    """What ``grove maintain index --rebuild`` takes.

    Attributes:
        learnings: How many there are.
        seconds: By the clock.
        cpu_seconds: Of the processors.
        memory: Peak memory in MiB.
        size: Size of the index in MiB.
    """

    learnings: int
    seconds: float
    cpu_seconds: float
    memory: float
    size: float


@frozen(kw_only=True)
class Measurements:
    """Everything that was measured.

    Attributes:
        rounds: The rounds of the warm state.
        cells: What each thing costs at each size and in each state.
        rebuilt: What making the index anew takes.
    """

    rounds: Rounds
    cells: Sequence[Cell]
    rebuilt: Sequence[Rebuilt]


def measure_all(worlds: Mapping[str, World], effort: Effort) -> Measurements:
    """Measure everything.

    Args:
        worlds: The worlds; each has its number of learnings as its name.
        effort: How much to measure.

    Returns:
        What was measured.
    """
    steps = steps_in(worlds)
    rehearse(worlds, list(steps.values()))
    for world in worlds.values():
        forget_sessions(world)
    # The first time warms the caches, the second one tells whether they are any good.
    rehearsal = rehearse(worlds, list(steps.values()))
    rounds = measure(worlds, list(steps.values()), rehearsal.calls, effort.warm)
    memory = {
        name: _memory(world, [steps[name, kind.title] for kind in KINDS])
        for name, world in worlds.items()
    }
    cells = []
    for (name, title), measured in zip(steps, rounds.steps, strict=True):
        cells.append(
            Cell(
                title=title,
                learnings=int(name),
                state="warm",
                wall=compare(measured.costs, rounds.python, wall),
                cpu=compare(measured.costs, rounds.python, cpu),
                memory=memory[name][title],
                speaks=measured.step not in rehearsal.failed,
            )
        )
    rebuilt = []
    for name, world in worlds.items():
        cells += _after_appending(world, name, steps, rehearsal.calls, effort.appended)
        cells += _cold(world, name, steps, rehearsal.calls, effort.cold[int(name)])
        rebuilt.append(_rebuilt(world, int(name)))
    return Measurements(rounds=rounds, cells=cells, rebuilt=rebuilt)


def _memory(world: World, steps: Sequence[Step]) -> Mapping[str, float]:
    """Find the peak memory of each kind, in MiB."""
    commands = [
        step.command(world, f"memory-{number}")
        for number in range(_MEMORY_ROUNDS)
        for step in steps
    ]
    made = drive(world, commands, len(commands))
    return {
        kind.title: max(one.memory for one in made[place :: len(KINDS)]) / _MIB
        for place, kind in enumerate(KINDS)
    }


@frozen(kw_only=True)
class _Tries:
    """What came of trying the same several times."""

    made: Sequence[Call]
    costs: Sequence[Cost]
    python: Sequence[Cost]
    given_up: int

    def cell(self, title: str, name: str, state: str) -> Cell:
        return Cell(
            title=title,
            learnings=int(name),
            state=state,
            wall=compare(self.costs, self.python, wall),
            cpu=compare(self.costs, self.python, cpu),
            memory=max(one.memory for one in self.made) / _MIB,
            speaks=not self.given_up and not any(one.status for one in self.made),
        )


def _try(
    world: World, commands: Iterable[Command], git: Sequence[Command], before: Callable[[], None]
) -> _Tries:
    """Run commands, with something done before each, and Python started before that."""
    made: list[Call] = []
    costs: list[Cost] = []
    python: list[Cost] = []
    given_up = _deadlines_passed(world)
    for command in commands:
        python.append(median([cost_of(bare_python(world)) for _ in range(_YARDSTICKS)]))
        before()
        made += drive(world, [command], 1)
        costs.append(made[-1].cost - sum(map(cost_of, git), start=NOTHING))
        if made[-1].cost.wall > _MAY_LEAVE_A_REST:
            finish_index(world)
    return _Tries(
        made=made, costs=costs, python=python, given_up=_deadlines_passed(world) - given_up
    )


def _deadlines_passed(world: World) -> int:
    logs = world.home.glob("grove.log*")
    return sum(log.read_text(encoding="utf-8").count("passed its deadline") for log in logs)


def _after_appending(
    world: World,
    name: str,
    steps: Mapping[tuple[str, str], Step],
    calls: Mapping[Step, Sequence[Command]],
    times: int,
) -> list[Cell]:
    """Measure what reads one new learning: a start, and a search."""
    cells = []
    sessions = [f"appended-{number}" for number in range(times)]
    for kind in (SESSION_START, SEARCH):
        step = steps[name, kind.title]
        commands = [step.command(world, session) for session in sessions]
        tries = _try(world, commands, calls[step], lambda: append_learning(world))
        cells.append(tries.cell(kind.title, name, "appended"))
    _end(world, steps, name, sessions)
    take_back(world)
    return cells


def _cold(
    world: World,
    name: str,
    steps: Mapping[tuple[str, str], Step],
    calls: Mapping[Step, Sequence[Command]],
    times: int,
) -> list[Cell]:
    """Measure the first call after all that is derived is gone."""
    cells = []
    sessions = [f"cold-{number}" for number in range(times)]
    start = steps[name, SESSION_START.title]
    drive(world, [start.command(world, session) for session in sessions], times)
    for kind in KINDS:
        step = steps[name, kind.title]
        # A session is under way, but for the one that begins.
        new = [f"{session}-new" for session in sessions] if kind is SESSION_START else []
        commands = [step.command(world, session) for session in new or sessions]
        tries = _try(world, commands, calls[step], lambda: _forget(world))
        cells.append(tries.cell(kind.title, name, "cold"))
        _end(world, steps, name, new)
    return cells


def _forget(world: World) -> None:
    shutil.rmtree(world.home / "cache", ignore_errors=True)


def _end(
    world: World, steps: Mapping[tuple[str, str], Step], name: str, sessions: Iterable[str]
) -> None:
    """End sessions, for a start looks at those that go on."""
    for session in sessions:
        run(steps[name, SESSION_END.title].command(world, session))


def _rebuilt(world: World, learnings: int) -> Rebuilt:
    command = world.command(str(GROVE), "maintain", "index", "--rebuild", "-q")
    (made,) = drive(world, [command], 1)
    (index,) = world.home.glob("cache/*/cache.sqlite")
    return Rebuilt(
        learnings=learnings,
        seconds=made.cost.wall,
        cpu_seconds=made.cost.cpu,
        memory=made.memory / _MIB,
        size=index.stat().st_size / _MIB,
    )

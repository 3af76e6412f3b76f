"""What thousands of hook calls leave behind: processes, files, memory."""

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen
from measuring import Command, Cost
from scale_steps import READ, in_world
from scenarios import AFTER_TOOL, BEFORE_TOOL, PROMPT, START, STOP, TICKETS, Step
from worlds import World, run

_DRIVER: Final = Path(__file__).with_name("many_calls_driver.py")
_SESSION: Final = "many-calls"
# A turn of an agent: a prompt, some tool calls, and the stop.
_TURN: Final[Sequence[Step]] = (PROMPT, *(BEFORE_TOOL, AFTER_TOOL, READ) * 4, STOP)
_SHARE: Final = 0.1
_MICROSECONDS: Final = 1_000_000
# Kilobytes, but on a Mac bytes.
_MEMORY_UNIT: Final = 1 if sys.platform == "darwin" else 1024


@frozen(kw_only=True)
class Call:
    """What became of a call.

    Attributes:
        number: Which of the commands it was.
        status: How it ended, as ``wait`` tells it; 0 when all was well.
        memory: Its peak memory, in bytes.
        outlived: Whether a process of its group was left.
        cost: What it cost.
    """

    number: int
    status: int
    memory: int
    outlived: bool
    cost: Cost


@frozen(kw_only=True)
class Leftovers:
    """What many calls have left behind.

    Attributes:
        calls: How many there were.
        processes: Calls after which a process of theirs was still there, and processes that were
            found in the project in the end.
        failures: Calls that ended otherwise than with 0.
        files: Files that the calls after the first turn have added.
        bytes_added: By how much those calls have made all files grow.
        memory: Peak memory of the last tenth, as a multiple of that of the first: of the prompts or
            of the looks at files, whichever has grown more.
    """

    calls: int
    processes: int
    failures: int
    files: int
    bytes_added: int
    memory: float


def call_many_times(world: World, calls: int) -> Leftovers:
    """Call hooks of one session again and again.

    Args:
        world: Where to.
        calls: How often; at least one turn.

    Returns:
        What they have left behind.
    """
    turn = [in_world(step, TICKETS, world).command(world, _SESSION) for step in _TURN]
    run(START.command(world, _SESSION))
    drive(world, turn, len(turn))
    before = _sizes(world)
    made = drive(world, turn, calls)
    after = _sizes(world)
    return Leftovers(
        calls=len(made),
        processes=sum(one.outlived for one in made) + len(list(_processes_in(world))),
        failures=sum(one.status != 0 for one in made),
        files=len(after.keys() - before.keys()),
        bytes_added=sum(after.values()) - sum(before.values()),
        memory=max(_growth(made, step) for step in (PROMPT, READ)),
    )


def drive(world: World, commands: Sequence[Command], calls: int) -> list[Call]:
    """Make calls in turn from a process that takes less memory than any of them.

    Args:
        world: Where to.
        commands: What is called.
        calls: How often in all.

    Returns:
        What became of each call.
    """
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(_DRIVER), str(calls)],
        input=_plan(world, commands),
        stdout=subprocess.PIPE,
        cwd=world.project,
        env=dict(world.environment),
        text=True,
        check=True,
    )
    return [_call(line) for line in done.stdout.splitlines()]


def _growth(made: Sequence[Call], step: Step) -> float:
    memory = [one.memory for one in made if _TURN[one.number] is step]
    some = max(1, int(len(memory) * _SHARE))
    return statistics.median(memory[-some:]) / statistics.median(memory[:some])


def _plan(world: World, commands: Sequence[Command]) -> str:
    lines = []
    for number, command in enumerate(commands):
        payload = world.folder / f"payload-{number}"
        payload.write_bytes(command.stdin)
        lines.append("\t".join([str(payload), *command.words]))
    return "\n".join(lines)


def _call(line: str) -> Call:
    number, status, memory, outlived, wall, cpu = map(int, line.split())
    return Call(
        number=number,
        status=status,
        memory=memory * _MEMORY_UNIT,
        outlived=bool(outlived),
        cost=Cost(wall=wall / _MICROSECONDS, cpu=cpu / _MICROSECONDS),
    )


def _processes_in(world: World) -> Iterator[str]:
    """Find processes that work in the project, those in groups of their own as well, on Linux."""
    own = Path("/proc") / str(os.getpid())
    for place in Path("/proc").glob("[0-9]*/cwd"):
        try:
            target = place.readlink()
        except OSError:
            continue  # it has ended, or is somebody else's
        if place.parent != own and target.is_relative_to(world.folder):
            yield place.parent.name


def _sizes(world: World) -> Mapping[Path, int]:
    """Weigh every file that grove may write."""
    folders = (world.home, world.project / ".grove", world.folder / "tmp")
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path: path.stat().st_size for path in files}

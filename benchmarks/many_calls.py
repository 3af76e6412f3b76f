"""What thousands of hook calls leave behind: processes, files, memory."""

import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen
from scenarios import AFTER_TOOL, BEFORE_TOOL, PROMPT, START, STOP, Step
from worlds import World, run

_DRIVER: Final = Path(__file__).with_name("many_calls_driver.py")
_SESSION: Final = "many-calls"
# A turn of an agent: a prompt, some tool calls, and the stop.
_TURN: Final[Sequence[Step]] = (PROMPT, *(BEFORE_TOOL, AFTER_TOOL) * 4, STOP)
_SHARE: Final = 0.1


@frozen(kw_only=True)
class Leftovers:
    """What many calls have left behind.

    Attributes:
        calls: How many there were.
        processes: Calls after which a process of theirs was still there.
        failures: Calls that ended otherwise than with 0.
        files: Files that the calls after the first turn have added.
        bytes_added: By how much those calls have made all files grow.
        memory: Peak memory of the prompts in the last tenth, as a multiple of that in the first.
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
    plan = _plan(world)
    run(START.command(world, _SESSION))
    _drive(world, plan, len(_TURN))
    before = _sizes(world)
    lines = _drive(world, plan, calls)
    after = _sizes(world)
    prompts = [memory for step, _, memory, _ in lines if _TURN[step] is PROMPT]
    some = max(1, int(len(prompts) * _SHARE))
    return Leftovers(
        calls=len(lines),
        processes=sum(outlived for _, _, _, outlived in lines),
        failures=sum(status != 0 for _, status, _, _ in lines),
        files=len(after.keys() - before.keys()),
        bytes_added=sum(after.values()) - sum(before.values()),
        memory=statistics.median(prompts[-some:]) / statistics.median(prompts[:some]),
    )


def _plan(world: World) -> str:
    lines = []
    for number, step in enumerate(_TURN):
        command = step.command(world, _SESSION)
        payload = world.folder / f"payload-{number}"
        payload.write_bytes(command.stdin)
        lines.append("\t".join([str(payload), *command.words]))
    return "\n".join(lines)


def _drive(world: World, plan: str, calls: int) -> list[tuple[int, int, int, int]]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(_DRIVER), str(calls)],
        input=plan,
        stdout=subprocess.PIPE,
        cwd=world.project,
        env=dict(world.environment),
        text=True,
        check=True,
    )
    return [_line(line) for line in done.stdout.splitlines()]


def _line(text: str) -> tuple[int, int, int, int]:
    step, status, memory, outlived = map(int, text.split())
    return step, status, memory, outlived


def _sizes(world: World) -> Mapping[Path, int]:
    """Weigh every file that grove may write."""
    folders = (world.home, world.project / ".grove", world.folder / "tmp")
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path: path.stat().st_size for path in files}

"""Where the time of a hook goes: the largest parts, as multiples of starting Python.

The hook's cost is divided by measuring, in turn: starting Python, starting it and importing what
the hook imports, and the hook itself. What the imports cost is divided among packages by the
interpreter's own account (-X importtime), and the rest among modules by cProfile. Both slow down
what they look at, so only the shares are taken from them. With --write the tables of SessionStart
go into docs/dev/latency.md.
"""

import argparse
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from attrs import evolve, frozen
from measuring import compare, cpu
from report import write_between_markers
from rounds import Length, measure, rehearse
from scenarios import END, PROMPT, SESSIONS, START, STOP, TICKETS, USUAL, Step
from worlds import World, make_world, run

_RUNNER: Final = Path(__file__).with_name("profile_runner.py")
_STEPS: Final = {step.words[-1]: step for step in (START, PROMPT, STOP, END)}
_LENGTH: Final = Length(seconds=15.0, least=7)
# Every look is at another session, for most hooks do something else the second time.
_LOOKED_AT: Final = tuple(f"looked-at-{number}" for number in range(7))
_PROFILED: Final = ("first", "second")
_MOST_PARTS: Final = 10
_NAME_MODULES: Final = "import sys; print(*sys.modules)"
_UNITS: Final = "× `python -c pass`"

# cProfile: a function is a file, a line and a name.
Function = tuple[str, int, str]


@frozen(kw_only=True)
class Parts:
    """A cost and what it is made of.

    Attributes:
        cost: The whole, as a multiple of starting Python.
        shares: The shares of its parts, which add up to 1.
    """

    cost: float
    shares: Mapping[str, float]


@frozen(kw_only=True)
class Profile:
    """Where the time of a hook goes.

    Attributes:
        event: The hook.
        whole: Its cost without git, as a multiple of starting Python.
        modules: How many modules it imports besides those of Python's own start.
        imports: What importing them costs.
        work: What all the rest costs.
    """

    event: str
    whole: float
    modules: int
    imports: Parts
    work: Parts


def main() -> None:
    """Profile and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("event", nargs="?", choices=_STEPS, default="session-start")
    parser.add_argument("--session-mode", action="store_true", help="without a ticket system")
    parser.add_argument("--write", action="store_true", help="write SessionStart's tables")
    options = parser.parse_args()
    world_name = SESSIONS if options.session_mode else TICKETS
    step = evolve(_STEPS[options.event], world=world_name)
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="grove-bench-") as name:
        world = make_world(Path(name) / world_name, USUAL, tickets=not options.session_mode)
        text = tables_of(_profile(world, step))
        os.chdir(here)
    sys.stdout.write(text + "\n")
    if options.write and step.words == START.words:
        write_between_markers("start", text)


def _profile(world: World, step: Step) -> Profile:
    if step.words != START.words:
        _begin(world, step.world)
    # What is looked at takes longer, and would be ended by its watchdog.
    unhurried = world.without_haste()
    imported = _imports(unhurried, step)
    importing = Step(
        title="imports",
        world=step.world,
        words=("-c", f"import {', '.join(imported)}"),
        program=sys.executable,
    )
    worlds = {step.world: world}
    steps = _life(step, importing)
    rounds = measure(worlds, steps, rehearse(worlds, steps).calls, _LENGTH)
    costs = {measured.step: measured.costs for measured in rounds.steps}
    whole = compare(costs[step], rounds.python, cpu).value
    imports = compare(costs[importing], rounds.python, cpu).value - 1
    return Profile(
        event=step.words[-1],
        whole=whole,
        modules=len(imported),
        imports=Parts(cost=imports, shares=_shares(imported, depth=2)),
        work=Parts(cost=whole - 1 - imports, shares=_shares(_functions(unhurried, step), depth=3)),
    )


def _life(step: Step, importing: Step) -> Sequence[Step]:
    """Put a step into a session's life, for what it does depends on what was before."""
    start = evolve(START, world=step.world)
    if step.words == START.words:
        return (step, importing)
    return (start, step, importing)


def _begin(world: World, name: str) -> None:
    start = evolve(START, world=name)
    for session_id in (*_LOOKED_AT, *_PROFILED):
        run(start.command(world, session_id))


def _imports(world: World, step: Step) -> Mapping[str, float]:
    """Look at what is imported, again and again: microseconds by module, Python's own left out."""
    own = _import_times(world, ["-c", _NAME_MODULES])
    looks = [
        _import_times(world, [str(_RUNNER), step.words[-1], _payload(world, step, session_id)])
        for session_id in _LOOKED_AT
    ]
    return {
        module: statistics.median(look.get(module, 0.0) for look in looks)
        for module in looks[-1]
        if module not in own
    }


def _import_times(world: World, words: Sequence[str]) -> Mapping[str, float]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words],
        cwd=world.project,
        env=dict(world.environment),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = done.stdout.splitlines()[-1].split()
    times = {}
    for line in done.stderr.splitlines():
        own, _, rest = line.removeprefix("import time:").partition("|")
        module = rest.partition("|")[2].strip()
        # The report names modules, too, that were looked for and are not there.
        if own.strip().isdigit() and module in loaded:
            times[module] = float(own)
    return times


def _functions(world: World, step: Step) -> Mapping[str, float]:
    """Profile the hook: seconds by module, what C functions take counted with their callers."""
    payloads = [_payload(world, step, session_id) for session_id in _PROFILED]
    file = world.folder / "profile"
    subprocess.run(
        [sys.executable, str(_RUNNER), step.words[-1], *payloads, str(file)],
        cwd=world.project,
        env=dict(world.environment),
        capture_output=True,
        check=True,
    )
    # The type stubs do not know this attribute, which is documented by its use in pstats itself.
    stats = cast("Any", pstats.Stats(str(file))).stats
    times: defaultdict[str, float] = defaultdict(float)
    for function, (_, _, own, _, callers) in stats.items():
        if function[0] == "~" and callers:
            for caller, (_, _, share, _) in callers.items():
                times[_place(caller)] += share
        else:
            times[_place(function)] += own
    return times


def _place(function: Function) -> str:
    """Name the module of a function, as far as it is of interest."""
    file = function[0]
    if file.startswith(("<", "~")):
        return "Python itself"
    path = Path(file)
    for folder in sys.path:
        if folder and path.is_relative_to(folder):
            return path.relative_to(folder).with_suffix("").as_posix().replace("/", ".")
    for package in path.parents:
        if package.name == "src":
            return path.relative_to(package).with_suffix("").as_posix().replace("/", ".")
    return path.stem


def _payload(world: World, step: Step, session_id: str) -> str:
    path = world.folder / f"payload-{session_id}"
    path.write_bytes(step.command(world, session_id).stdin)
    return str(path)


def _shares(times: Mapping[str, float], depth: int) -> Mapping[str, float]:
    whole = sum(times.values())
    parts: defaultdict[str, float] = defaultdict(float)
    for module, time in times.items():
        parts[_package(module, depth)] += time / whole
    return parts


def _package(module: str, depth: int) -> str:
    """Take the modules of grove by themselves or by folder, and those of others by package."""
    words = module.split(".")
    if words[0].startswith("grove_"):
        return ".".join(words[:depth]).removesuffix(".__init__")
    return words[0]


def tables_of(profile: Profile) -> str:
    """Write a profile as tables.

    Args:
        profile: The profile.

    Returns:
        Markdown.
    """
    lines = [
        f"| `hook {profile.event}`, git not counted | {_UNITS} |",
        "|---|---|",
        "| starting Python | 1.00 |",
        f"| importing {profile.modules} modules | {profile.imports.cost:.2f} |",
        f"| the work itself | {profile.work.cost:.2f} |",
        f"| all of it | {profile.whole:.2f} |",
    ]
    return "\n".join(
        [
            *lines,
            "",
            *_table("imports of", profile.imports),
            "",
            *_table("work of", profile.work),
        ]
    )


def _table(title: str, parts: Parts) -> list[str]:
    largest = sorted(parts.shares.items(), key=lambda part: -part[1])[:_MOST_PARTS]
    rest = 1 - sum(share for _, share in largest)
    return [
        f"| {title} | {_UNITS} | share |",
        "|---|---|---|",
        *(f"| `{name}` | {parts.cost * share:.2f} | {share:.0%} |" for name, share in largest),
        f"| all others | {parts.cost * rest:.2f} | {rest:.0%} |",
    ]


if __name__ == "__main__":
    main()

"""Projects of many sizes, kept for repeated runs, in which nothing is left to be done."""

import json
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from history import History, write_history
from worlds import FITTING, GROVE, World, make_world, run

EVENTS_PER_LEARNING: Final = 10
_READY: Final = "ready.json"
# Most of what is made up is older than decay allows. It would archive a few at every start, each
# time with the file and the index changed; what is to be measured is a project that rests.
_BASE32: Final = "abcdefghijklmnopqrstuvwxyz234567"
_ENTRY: Final = """\
### [{id}] {summary}
- **Category:** pitfall
- **Scope:** project
- **Confidence:** high
- **Status:** active
- **Criteria:** behavior_changing
- **Tags:** orders, export
- **Files:** app/orders_0/export_0.py
- **Origin:** ticket app-{ticket} | session 00c0ffee00c0ffee
- **Created:** {created}

> {summary}. It was seen in run {number} with {rows} rows.

"""


def scale_world(folder: Path, learnings: int) -> World:
    """Make a project, or take one that was made before.

    Args:
        folder: Where it is, or is to be.
        learnings: How many learnings it has, all of them active.

    Returns:
        The world, with statistics and index up to date.
    """
    ready = folder / _READY
    if ready.exists():
        world = World(folder=folder, environment=json.loads(ready.read_text()))
        forget_sessions(world)
        _warm(world)
        return world
    if folder.exists():
        shutil.rmtree(folder)
    world = make_world(folder, History(learnings=0, events=0), tickets=True)
    _write(world, learnings)
    _warm(world)
    _prove(world, learnings)
    ready.write_text(json.dumps(dict(world.environment)))
    return world


def forget_sessions(world: World) -> None:
    """Let a session with the name of an earlier one be a new one.

    Args:
        world: The world.
    """
    for folder in (world.home / "sessions", *world.home.glob("cache/*/open-sessions")):
        shutil.rmtree(folder, ignore_errors=True)


def _write(world: World, learnings: int) -> None:
    if not learnings:
        return
    made_up = learnings - len(FITTING)
    events = EVENTS_PER_LEARNING * learnings
    write_history(world.project, History(learnings=made_up, events=events))
    with _learnings_file(world).open("a", encoding="utf-8") as file:
        file.writelines(_entry(number) for number in range(len(FITTING)))
    run(world.command("git", "add", ".grove"))
    identity = ("-c", "user.name=dev", "-c", "user.email=dev@example.invalid")
    run(world.command("git", *identity, "commit", "--quiet", "--message=Merge"))


def _warm(world: World) -> None:
    finish_index(world)
    run(world.command(str(GROVE), "stats", "--json"))


def _prove(world: World, learnings: int) -> None:
    """Make sure that grove reads all of it."""
    statistics = json.loads(run(world.command(str(GROVE), "stats", "--json")))
    counted, events = statistics["learnings"]["total"], statistics["log"]["events"]
    indexed = finish_index(world)
    if (counted, indexed, events) != (learnings, learnings, EVENTS_PER_LEARNING * learnings):
        sys.exit(
            f"of {learnings} learnings grove counts {counted} and indexes {indexed}, with {events}"
            " events"
        )


def finish_index(world: World) -> int:
    """Wait until the index is up to date, whoever is at it.

    Args:
        world: The world.

    Returns:
        How many learnings it holds.
    """
    while True:
        said = json.loads(run(world.command(str(GROVE), "maintain", "index", "--json")))
        if not said["elsewhere"]:
            learnings: int = said["learnings"]
            return learnings


def append_learning(world: World) -> None:
    """Let a colleague's learning come in, as git brings it: the file is written anew and replaced.

    Args:
        world: The world.
    """
    path = _learnings_file(world)
    merged = path.with_name("learnings.md.merged")
    shutil.copyfile(path, merged)
    with merged.open("a", encoding="utf-8") as file:
        # Its place in the file is a number that no other has.
        file.write(_entry(file.tell()))
    merged.replace(path)


def take_back(world: World) -> None:
    """Remove what was appended, so that the world has its size again.

    Args:
        world: The world.
    """
    run(world.command("git", "restore", str(_learnings_file(world))))
    finish_index(world)


def _learnings_file(world: World) -> Path:
    return world.project / ".grove" / "learnings.md"


def _entry(number: int) -> str:
    moment = datetime.now(UTC) - timedelta(hours=1)
    letters = "".join(_BASE32[number >> shift & 31] for shift in range(0, 30, 5))
    return _ENTRY.format(
        id=f"cl_{moment:%Y%m%d}_{letters}",
        summary=FITTING[number % len(FITTING)],
        ticket=100 + number % 4900,
        created=f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        number=number,
        rows=10_000 + number % 977,
    )

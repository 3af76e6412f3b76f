"""What ``grove stats --json`` costs: the first time, after one more event, and with nothing new.

The first time is told in seconds and in memory. The others, which people and agents wait for again
and again, are multiples of starting Python in the same environment. Writes its table into
docs/dev/statistics.md, or prints it alone with --quick.
"""

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import rmtree
from typing import Final

from attrs import frozen
from history import History
from measuring import Cost, Ratio, compare, cost_of, cpu, median, wall
from report import PAGE, write_between_markers
from rounds import IDLE
from scenarios import bare_python
from worlds import GROVE, World, make_world, run

_LEARNINGS: Final = 2_000
_EVENTS: Final = (10_000, 1_000_000)
_QUICK_EVENTS: Final = (50_000,)
_ROUNDS: Final = 25
_QUICK_ROUNDS: Final = 3
_DAYS: Final = 400
_TICKETS: Final = 5_000
_SHOWN_PER_SESSION: Final = 4
_USED: Final = 0.3
_REFLECTED: Final = 0.6
_SEED: Final = 20300102
_PAGE: Final = PAGE.with_name("statistics.md")


@frozen(kw_only=True)
class Row:
    """What was measured with one log.

    Attributes:
        events: How many events it held at first.
        megabytes: Its size, in millions of bytes.
        first: What the first question cost, when nothing was counted before.
        memory: The most memory that took at once, in millions of bytes.
        appended: What it costs after one more event, as a multiple of starting Python.
        unchanged: What it costs when nothing is new, likewise.
        by_clock: Whether the multiples are of the time by the clock, else of processors' time.
    """

    events: int
    megabytes: float
    first: Cost
    memory: float
    appended: Ratio
    unchanged: Ratio
    by_clock: bool


def main() -> int:
    """Measure and report.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="50,000 events and three rounds")
    quick: bool = parser.parse_args().quick
    rounds = _QUICK_ROUNDS if quick else _ROUNDS
    here = Path.cwd()
    rows = []
    for events in _QUICK_EVENTS if quick else _EVENTS:
        with tempfile.TemporaryDirectory(prefix="grove-bench-") as name:
            rows.append(_measure(Path(name) / "world", events, rounds))
            os.chdir(here)
    text = _table(rows, rounds)
    sys.stdout.write(f"{text}\n")
    if not quick:
        write_between_markers("statistics", text, _PAGE)
    return 0


def _measure(folder: Path, events: int, rounds: int) -> Row:
    world = make_world(folder, History(learnings=_LEARNINGS, events=0), tickets=False)
    question = world.command(str(GROVE), "stats", "--json")
    run(question)  # what is compiled or looked up once is not what this is about
    log = world.project / ".grove" / "stats.log"
    ids = re.findall(r"^### \[(\w+)\]", (log.with_name("learnings.md")).read_text(), re.MULTILINE)
    with log.open("w", encoding="utf-8") as file:
        file.writelines(_lines(ids, events))
    rmtree(world.home / "cache")
    first, memory = _first(world)
    _prove(world, events)
    python, appended, unchanged = list[Cost](), list[Cost](), list[Cost]()
    for number in range(rounds):
        python.append(cost_of(bare_python(world)))
        _append(log, ids[0], number)
        appended.append(cost_of(question))
        unchanged.append(cost_of(question))
    _prove(world, events + rounds)
    unit = median(python)
    by_clock = unit.wall <= IDLE * unit.cpu
    read = wall if by_clock else cpu
    return Row(
        events=events,
        megabytes=log.stat().st_size / 1e6,
        first=first,
        memory=memory,
        appended=compare(appended, python, read),
        unchanged=compare(unchanged, python, read),
        by_clock=by_clock,
    )


def _first(world: World) -> tuple[Cost, float]:
    """Ask once, and look at how much memory that took."""
    command = world.command(str(GROVE), "stats", "--json")
    os.chdir(command.cwd)
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    started = time.perf_counter()
    process = os.posix_spawn(
        command.words[0], command.words, command.environment, file_actions=nowhere
    )
    _, status, usage = os.wait4(process, 0)
    cost = Cost(wall=time.perf_counter() - started, cpu=usage.ru_utime + usage.ru_stime)
    if status:
        sys.exit("the first question failed")
    # Kilobytes, but on a Mac bytes.
    return cost, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def _prove(world: World, events: int) -> None:
    """Make sure that all events were counted."""
    log = json.loads(run(world.command(str(GROVE), "stats", "--json")))["log"]
    if log["events"] != events or not log["complete"] or log["faults"]:
        sys.exit(f"grove counts {log} of {events} events")


def _lines(ids: Sequence[str], most: int) -> Iterator[str]:
    """Give the events of session after session until there are enough."""
    chance = random.Random(_SEED)
    begin = datetime.now(UTC).replace(microsecond=0) - timedelta(days=_DAYS)
    written = 0
    while written < most:
        moment = begin + timedelta(days=_DAYS) * (written / most)
        session = f"{chance.getrandbits(64):016x}-{chance.getrandbits(64):016x}"
        for event in list(_session(chance, ids, session))[: most - written]:
            yield _line(moment, event)
            written += 1


def _session(
    chance: random.Random, ids: Sequence[str], session: str
) -> Iterator[dict[str, object]]:
    # Some learnings are shown far more often than others.
    shown = {ids[int(len(ids) * chance.random() ** 2)] for _ in range(_SHOWN_PER_SESSION)}
    common = {"session_id": session}
    work = {**common, "ticket_id": f"app-{chance.randrange(_TICKETS)}"}
    for one in shown:
        yield {"event": "surfaced", "learning_id": one, **common, "via": "start", "score": 0.5}
    for one in shown:
        if chance.random() < _USED:
            yield {"event": "referenced", "learning_id": one, **work, "how": "kept rows prefetched"}
        else:
            yield {"event": "dismissed", "learning_id": one, **common}
    if chance.random() < _REFLECTED:
        summary = f"The export of part {chance.randrange(1000)} retries without a limit"
        criteria = {"categories": ["pitfall"], "criteria": ["stable_fact"], "backend": "markdown"}
        yield {"event": "reflection", **work, "candidates": 3, "accepted": 2, **criteria}
        stage = chance.choice(("write_gate", "duplicate", "schema"))
        yield {
            "event": "rejected",
            **common,
            "summary": summary,
            "tags": ["export"],
            "stage": stage,
        }
        yield {"event": "gate", **work, "outcome": "reflected", "blocks": 1, "seconds": 30.5}
    else:
        yield {"event": "skip", **work, "reason": "a small change", "decider": "agent"}


def _append(log: Path, learning_id: str, number: int) -> None:
    event = {"event": "surfaced", "learning_id": learning_id, "session_id": f"one-more-{number}"}
    with log.open("a", encoding="utf-8") as file:
        file.write(_line(datetime.now(UTC), event))


def _line(moment: datetime, event: Mapping[str, object]) -> str:
    document = {"v": 1, "ts": f"{moment:%Y-%m-%dT%H:%M:%SZ}", "grove": "0.1.0", **event}
    return json.dumps(document, separators=(",", ":")) + "\n"


def _table(rows: Sequence[Row], rounds: int) -> str:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    clock = "the clock" if all(row.by_clock for row in rows) else "the processors' time"
    about = f"{_LEARNINGS:,} learnings, medians of {rounds} rounds, {today}."
    titles = ("events", "the log", "first, by the clock", "by the processors' time", "peak memory")
    multiples = ("one more event, × `python -c pass`", "nothing new")
    lines = [
        f"{about} The multiples are of {clock}.",
        "",
        f"| {' | '.join((*titles, *multiples))} |",
        "|---" * len((*titles, *multiples)) + "|",
    ]
    return "\n".join([*lines, *map(_line_of, rows)])


def _line_of(row: Row) -> str:
    cells = (
        f"{row.events:,}",
        f"{row.megabytes:.1f} MB",
        f"{row.first.wall:.1f} s",
        f"{row.first.cpu:.1f} s",
        f"{row.memory:.0f} MB",
        _ratio(row.appended),
        _ratio(row.unchanged),
    )
    return f"| {' | '.join(cells)} |"


def _ratio(ratio: Ratio) -> str:
    return f"{ratio.value:.2f} ({ratio.low:.2f}–{ratio.high:.2f})"


if __name__ == "__main__":
    raise SystemExit(main())

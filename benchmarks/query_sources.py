"""What each source of the query costs that a session starts with, in small and in large projects.

The query describes the work at hand: a search with it finds the learnings that a start shows. Each
source is asked once in a process of its own, as a hook asks it. Writes its table into the page
about retrieval, or prints it alone with --quick.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

from attrs import frozen
from history import History
from measuring import Cost, Ratio, compare, cost_of, cpu, wall
from report import PAGE, write_between_markers
from rounds import Rounds
from scenarios import bare_python
from worlds import World, make_world, run

_RUNNER: Final = Path(__file__).with_name("query_sources_runner.py")
_PAGE: Final = PAGE.with_name("retrieval.md")
_ROUNDS: Final = 25
_QUICK_ROUNDS: Final = 2
_FILES_A_FOLDER: Final = 100
_PROMPT: Final = (
    "The export of orders times out in the nightly run, see app/orders_3/export_3.py: rows of a"
    " large order are read one by one. Please make the OrderStore prefetch them."
)
_SOURCES: Final = {
    "ticket": "the ticket in progress, from its system (tissue, a file)",
    "status": "branch and changed files: `git status`",
    "history": "commits on the branch: `git log`",
    "subprocess": "running another program at all, once: Python's `subprocess`",
    "terms": "making terms of all these",
    "prompt": "making terms of a prompt",
}


@frozen(kw_only=True)
class Size:
    """How large a project is.

    Attributes:
        files: Files that git tracks.
        changed: Those that differ from the last commit.
        commits: Commits on the branch.
    """

    files: int
    changed: int
    commits: int

    def __str__(self) -> str:
        return f"{self.files:,} files, {self.changed} changed, {self.commits} commits"


@frozen(kw_only=True)
class Asked:
    """What a source has cost.

    Attributes:
        milliseconds: By the clock.
        ratio: As a multiple of starting Python, by the clock or of the processors' time.
        late: In which share of the rounds its time limit was over.
    """

    milliseconds: float
    ratio: Ratio
    late: float


_SIZES: Final = (
    Size(files=100, changed=5, commits=3),
    Size(files=20_000, changed=5, commits=3),
    Size(files=20_000, changed=300, commits=30),
)


def main() -> int:
    """Measure and report.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the smallest project, two rounds")
    quick: bool = parser.parse_args().quick
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="grove-bench-") as name:
        sizes = _SIZES[:1] if quick else _SIZES
        worlds = {size: _make(Path(name) / str(number), size) for number, size in enumerate(sizes)}
        text = _measure(worlds, _QUICK_ROUNDS if quick else _ROUNDS)
        os.chdir(here)
    sys.stdout.write(f"{text}\n")
    if not quick:
        write_between_markers("sources", text, _PAGE)
    return 0


def _make(folder: Path, size: Size) -> World:
    """Make a project of that size, with a ticket in progress and a branch for it."""
    world = make_world(folder, History(learnings=0, events=0), tickets=True)
    run(world.command("git", "switch", "--quiet", "--force", "main"))
    run(world.command("git", "branch", "--quiet", "--delete", "--force", "feature/orders-export"))
    (world.project / "notes.txt").unlink()
    (world.project / ".grove" / "config.toml").touch()
    paths = [_place(world, number) for number in range(size.files)]
    _commit_all(world, paths, "Start")
    run(world.command("git", "switch", "--quiet", "--create", "feature/orders-batches"))
    for number in range(size.commits):
        _change(paths[number])
        _commit_all(world, (), f"Prefetch the rows of batch {number}")
    for path in paths[-size.changed :]:
        _change(path)
    return world


def _place(world: World, number: int) -> Path:
    return world.project / f"parts/part_{number // _FILES_A_FOLDER}/rows_{number}.py"


def _change(path: Path) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("prefetched = True\n")


def _commit_all(world: World, new: Sequence[Path], subject: str) -> None:
    for path in new:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"name = {path.name!r}\n" * 20, encoding="utf-8")
    run(world.command("git", "add", "--all"))
    identity = ("-c", "user.name=dev", "-c", "user.email=dev@example.invalid")
    run(world.command("git", *identity, "commit", "--quiet", f"--message={subject}"))


def _measure(worlds: Mapping[Size, World], rounds: int) -> str:
    python: list[Cost] = []
    costs: dict[tuple[Size, str], list[Cost]] = {}
    late: dict[tuple[Size, str], int] = {}
    for number in range(1 + rounds):
        for size, world in worlds.items():
            unit = cost_of(bare_python(world))
            asked = json.loads(
                run(world.command(sys.executable, str(_RUNNER), _PROMPT)).splitlines()[-1]
            )
            if not number:
                continue  # the first time is for what is compiled and looked up once
            python.append(unit)
            for source, (clock, processors, answered) in asked.items():
                key = (size, source)
                costs.setdefault(key, []).append(Cost(wall=clock, cpu=processors))
                late[key] = late.get(key, 0) + (source == "status" and not answered)
    all_rounds = Rounds(python=python, steps=())
    read = wall if all_rounds.by_clock else cpu
    units = {size: python[place :: len(worlds)] for place, size in enumerate(worlds)}
    rows = {
        (size, source): Asked(
            milliseconds=1000 * median(map(wall, some)),
            ratio=compare(some, units[size], read),
            late=late[size, source] / rounds,
        )
        for (size, source), some in costs.items()
    }
    clock = "the clock" if all_rounds.by_clock else "the processors' time"
    about = f"Medians of {rounds} rounds, {datetime.now(UTC):%Y-%m-%d}."
    return f"{about} The multiples are of {clock}.\n\n{_table(rows, list(worlds))}"


def _table(rows: Mapping[tuple[Size, str], Asked], sizes: Sequence[Size]) -> str:
    lines = [
        f"| × `python -c pass` (ms by the clock) | {' | '.join(map(str, sizes))} |",
        "|---" * (len(sizes) + 1) + "|",
    ]
    for source, title in _SOURCES.items():
        cells = [_cell(rows[size, source]) for size in sizes]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(asked: Asked) -> str:
    late = f", given up in {asked.late:.0%}" if asked.late else ""
    return f"{asked.ratio.value:.2f} ({asked.milliseconds:.1f} ms{late})"


if __name__ == "__main__":
    raise SystemExit(main())

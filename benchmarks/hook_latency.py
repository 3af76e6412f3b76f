"""What grove costs, as multiples of starting Python in the same environment.

Absolute times say more about the machine than about grove. So each round measures starting
Python, every hook and every command in turn, and what counts is the ratio of their medians. Writes
the table into docs/dev/latency.md, or prints it alone with --quick or --json.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import asdict, frozen
from large import LargeRow, measure_large
from many_calls import Leftovers, call_many_times
from report import (
    TOLERANCE,
    Row,
    facts,
    row_of,
    sentence_about,
    table_of,
    table_of_large,
    write_between_markers,
)
from rounds import Length, measure, rehearse
from scenarios import SESSIONS, STEPS, TICKETS, USUAL
from worlds import World, make_world, prove

_FULL: Final = Length(seconds=60.0, least=7)
_QUICK: Final = Length(seconds=0.0, least=3)
_CALLS: Final = 500
_QUICK_CALLS: Final = 20


@frozen(kw_only=True)
class Results:
    """Everything that was measured.

    Attributes:
        about: What it was measured with.
        rows: The lines of the table.
        leftovers: What many calls have left behind.
        large: The lines of the large project's table, if it was asked for.
        about_large: What these were measured with.
    """

    about: str
    rows: Sequence[Row]
    leftovers: Leftovers
    large: Sequence[LargeRow]
    about_large: str

    def missed(self) -> list[str]:
        """Name what was missed."""
        left = self.leftovers
        missed = [row.title for row in self.rows if row.is_missed]
        missed += [f"{row.title}, large" for row in self.large if row.is_missed(TOLERANCE)]
        if left.processes or left.files or left.failures or left.memory > 1 + TOLERANCE:
            missed.append(sentence_about(left))
        return missed


def main() -> int:
    """Measure and report.

    Returns:
        The exit code.
    """
    options = _parser().parse_args()
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="grove-bench-") as name:
        results = _measure_all(Path(name), options)
        os.chdir(here)
    if options.json:
        sys.stdout.write(json.dumps(asdict(results), indent=2) + "\n")
    else:
        _report(results, write=not options.quick)
    missed = results.missed()
    if options.check and missed:
        sys.stderr.write("missed:\n" + "".join(f"- {one}\n" for one in missed))
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three rounds, to see that it runs")
    parser.add_argument("--large", action="store_true", help="100,000 learnings as well")
    parser.add_argument("--calls", type=int, default=None, help=f"hook calls (usual: {_CALLS})")
    parser.add_argument("--json", action="store_true", help="print JSON and write nothing")
    parser.add_argument(
        "--check",
        action="store_true",
        help=f"exit with 1 when a budget is missed by more than {TOLERANCE:.0%}",
    )
    return parser


def _measure_all(folder: Path, options: argparse.Namespace) -> Results:
    worlds = {
        TICKETS: make_world(folder / TICKETS, USUAL, tickets=True),
        SESSIONS: make_world(folder / SESSIONS, USUAL, tickets=False),
    }
    for world in worlds.values():
        prove(world, USUAL)
    rehearsal = rehearse(worlds, STEPS)
    if rehearsal.failed:
        sys.exit(f"not as it should be: {', '.join(step.title for step in rehearsal.failed)}")
    rounds = measure(worlds, STEPS, rehearsal.calls, _QUICK if options.quick else _FULL)
    usual: World = worlds[TICKETS]
    calls = options.calls or (_QUICK_CALLS if options.quick else _CALLS)
    leftovers = call_many_times(usual, calls)
    large, rounds_of_large = measure_large(folder / "large", usual) if options.large else ((), None)
    return Results(
        about=facts(rounds),
        rows=[row_of(measured, rounds) for measured in rounds.steps],
        leftovers=leftovers,
        large=large,
        about_large=facts(rounds_of_large) if rounds_of_large else "",
    )


def _report(results: Results, *, write: bool) -> None:
    parts = {"hooks": table_of(results.rows, results.leftovers, results.about)}
    if results.large:
        parts["large"] = table_of_large(results.large, results.about_large)
    for name, text in parts.items():
        sys.stdout.write(f"{text}\n\n")
        if write:
            write_between_markers(name, text)


if __name__ == "__main__":
    raise SystemExit(main())

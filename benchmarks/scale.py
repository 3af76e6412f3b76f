"""What hooks and commands cost with 0 to 100,000 learnings, warm and cold, and their memory.

Everything is told as multiples of starting Python in the same run. Writes tables into docs/dev/, or
prints them alone with --quick or --json.
"""

import argparse
import json
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from attrs import asdict
from report import PAGE, facts, write_between_markers
from rounds import Length
from scale_measuring import Effort, Measurements, measure_all
from scale_report import missed, parts_of
from scale_worlds import scale_world

_SIZES: Final = (0, 100, 1_000, 10_000, 100_000)
_QUICK_SIZES: Final = (0, 100, 1_000)
_FULL: Final = Effort(
    warm=Length(seconds=150.0, least=7),
    appended=7,
    cold={0: 5, 100: 5, 1_000: 5, 10_000: 3, 100_000: 1},
)
_QUICK: Final = Effort(
    warm=Length(seconds=0.0, least=2), appended=2, cold=dict.fromkeys(_QUICK_SIZES, 1)
)
_PAGE: Final = PAGE.with_name("scale.md")


def main() -> int:
    """Measure and report.

    Returns:
        The exit code.
    """
    options = _parser().parse_args()
    quick: bool = options.quick
    sizes = [size for size in (_QUICK_SIZES if quick else _SIZES) if size <= options.most]
    here = Path.cwd()
    with ExitStack() as stack:
        folder: Path = options.worlds or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="grove-bench-"))
        )
        worlds = {str(size): scale_world(folder.resolve() / str(size), size) for size in sizes}
        measurements = measure_all(worlds, _QUICK if quick else _FULL)
        os.chdir(here)
    if options.json:
        sys.stdout.write(json.dumps(_document(measurements), indent=2) + "\n")
    else:
        _report(measurements, write=not quick)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 1,000, to see that it runs")
    parser.add_argument("--most", type=int, default=_SIZES[-1], help="the largest size")
    parser.add_argument("--worlds", type=Path, help="where projects are kept for the next run")
    parser.add_argument("--json", action="store_true", help="print JSON and write nothing")
    return parser


def _document(measurements: Measurements) -> dict[str, object]:
    return {
        "about": facts(measurements.rounds),
        "missed": missed(measurements),
        "cells": [asdict(cell) for cell in measurements.cells],
        "rebuilt": [asdict(one) for one in measurements.rebuilt],
    }


def _report(measurements: Measurements, *, write: bool) -> None:
    for name, text in parts_of(measurements).items():
        sys.stdout.write(f"{name}:\n\n{text}\n\n")
        if write:
            write_between_markers(name, text, _PAGE)


if __name__ == "__main__":
    raise SystemExit(main())

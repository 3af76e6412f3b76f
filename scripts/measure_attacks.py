"""Attack grove, print what became of it, and write the table into the page about security."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/explanation/security.md"
_MOST_COMMANDS = 10


def main() -> int:
    """Run the attacks; exit code 1 when one got through."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=1, help="how many times as much")
    parser.add_argument("--write", action="store_true", help="write the table into the page")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests/harness"))
    from attacks import attack  # type: ignore[import-not-found]  # beside the tests

    rows, costs, failed = [], [], 0
    for one in attack(arguments.scale):
        rows.append(f"| {one.name} | {one.tried:,} | {one.said} | {one.failed} |")
        print(rows[-1], flush=True)
        costs += cost_rows(one.costs)
        failed += one.failed
    print("\n".join(costs))
    if arguments.write:
        tried = "| what was tried | how often | what became of it | failures |\n|---|---|---|---|"
        write("figures", [tried, *rows])
        write("costs", ["| command | MiB | seconds |\n|---|---|---|", *costs])
    return 1 if failed else 0


def cost_rows(costs: Sequence[tuple[str, int, float]]) -> list[str]:
    """Name the commands that took most, and the rest in one row."""
    ordered = sorted(costs, key=lambda one: -one[1])
    named, rest = ordered[:_MOST_COMMANDS], ordered[_MOST_COMMANDS:]
    rows = [f"| `grove {words}` | {memory} | {seconds:.0f} |" for words, memory, seconds in named]
    if rest:
        memory, seconds = max(one[1] for one in rest), max(one[2] for one in rest)
        rows.append(f"| {len(rest)} others, hooks among them | at most {memory} | {seconds:.0f} |")
    return rows


def write(name: str, rows: Sequence[str]) -> None:
    """Put a table between its marks in the page."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    table = "\n".join([start, "", *rows, "", end])
    text = PAGE.read_text(encoding="utf-8")
    changed = re.sub(f"{start}.*{end}", lambda _: table, text, flags=re.DOTALL)
    PAGE.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

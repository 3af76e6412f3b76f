"""Attack grove, print what became of it, and write the table into the page about security."""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/explanation/security.md"
START, END = "<!-- figures -->", "<!-- /figures -->"


def main() -> int:
    """Run the attacks; exit code 1 when one got through."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=1, help="how many times as much")
    parser.add_argument("--write", action="store_true", help="write the table into the page")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests/harness"))
    from attacks import attack  # type: ignore[import-not-found]  # beside the tests

    rows, failed = [], 0
    for one in attack(arguments.scale):
        rows.append(f"| {one.name} | {one.tried:,} | {one.said} | {one.failed} |")
        print(rows[-1], flush=True)
        failed += one.failed
    if arguments.write:
        head = [
            "| what was tried | how often | what became of it | failures |",
            "|---|---|---|---|",
        ]
        table = "\n".join([START, "", *head, *rows, "", END])
        text = PAGE.read_text(encoding="utf-8")
        changed = re.sub(f"{START}.*{END}", lambda _: table, text, flags=re.DOTALL)
        PAGE.write_text(changed, encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

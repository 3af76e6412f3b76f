"""Write into the README what `make demo` prints, of the steps that a newcomer should see first.

What differs from run to run (ids, times, the scratch folder) is no reason to write. ``--check``
writes nothing and fails when the page shows something else than the demo prints.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
DEMO: Final = ROOT / "scripts" / "demo.py"
SHOWN: Final = frozenset({3, 4, 5, 6, 8})
"""The numbers of the demo's steps that the README shows."""

LEFT_OUT: Final = "…"
_BLOCK: Final = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
_STEP: Final = re.compile(r"^(?=\d+\. )", re.MULTILINE)
_END: Final = "\nThe scratch repository is left"
_VARYING: Final = (
    (re.compile(r"cl_\d{8}_[a-z0-9]{6}"), "cl_ID"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIME"),
)


def main() -> int:
    """Write the transcript, or compare it.

    Returns:
        The exit code: 0 when the page is as it should be.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("page", nargs="?", type=Path, default=ROOT / "README.md")
    arguments = parser.parse_args()
    page: Path = arguments.page
    text = page.read_text(encoding="utf-8")
    blocks = _BLOCK.findall(text)
    if len(blocks) != 1:
        sys.exit(f"{page} has {len(blocks)} blocks of ```console; the transcript needs just one")
    recorded = transcript(demo_output())
    shown, printed = (_lasting(one).splitlines() for one in (blocks[0], recorded))
    if shown == printed:
        return 0
    if arguments.check:
        print("\n".join(unified_diff(shown, printed, page.name, "make demo", lineterm="")))
        print("stale: run .venv/bin/python scripts/readme_transcript.py", file=sys.stderr)
        return 1
    page.write_text(_BLOCK.sub(lambda _: recorded, text), encoding="utf-8")
    print(f"wrote {page}")
    return 0


def demo_output() -> str:
    """Run the demo in a scratch folder, which the output names as a user's would be."""
    with tempfile.TemporaryDirectory() as made:
        folder = str(Path(made).resolve())
        done = subprocess.run(
            [sys.executable, str(DEMO)],
            env={**os.environ, "TMPDIR": folder},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{DEMO.name} ended with exit code {done.returncode}:\n{done.stdout}")
        return re.sub(rf"{re.escape(folder)}/grove-demo-\w+", "/tmp/grove-demo", done.stdout)


def transcript(output: str) -> str:
    """Take the steps to show out of what the demo prints; a line of … stands for others."""
    return "\n\n".join([*_pieces(output.partition(_END)[0]), LEFT_OUT]) + "\n"


def _pieces(output: str) -> Iterator[str]:
    left_out = False
    for step in _STEP.split(output.lstrip("\n"))[1:]:
        if int(step.partition(".")[0]) in SHOWN:
            yield step.rstrip("\n")
            left_out = False
        elif not left_out:
            yield LEFT_OUT
            left_out = True


def _lasting(text: str) -> str:
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return text


if __name__ == "__main__":
    sys.exit(main())

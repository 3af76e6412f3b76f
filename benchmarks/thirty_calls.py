"""What hooks cost in the real client: thirty tool calls, without hooks and on both transports.

The three are run in turn, so that a busy machine is busy for all of them. Prints the table of
`docs/dev/latency.md`; needs the client (`make real-tools`).
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grove_hosts.claude_code.hooks import hook_groups

CHECKOUT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT / "tests" / "real" / "client" / "harness"))
from run import find_claude, play  # type: ignore[import-not-found] # noqa: E402

_CALLS: Final = 30
_WAYS: Final = ("no hooks", "server", "commands")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    if find_claude() is None:
        print("no Claude Code client: run make real-tools", file=sys.stderr)
        return 1
    seconds: dict[str, list[float]] = {way: [] for way in _WAYS}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for way in _WAYS:
                place = Path(folder, f"{number}-{way}")
                seconds[way].append(_measure(place, way))
                shutil.rmtree(place)
    _print(seconds)
    return 0


def _measure(place: Path, way: str) -> float:
    """Run the client once in a new project with beads; the seconds between its turns."""
    (place / "shop" / ".beads").mkdir(parents=True)
    (place / "shop" / ".beads" / "metadata.json").write_text('{"backend": "dolt"}')
    (place / "shop" / ".grove").mkdir()
    calls = [
        {"tool": "Bash", "input": {"command": f"echo {number}", "description": "Say it"}}
        for number in range(_CALLS)
    ]
    program = Path(sys.executable).with_name("grove")
    transcript: dict[str, Any] = play(
        [*calls, {"text": "Finished."}],
        place / "shop",
        plugin_dir=[CHECKOUT / "plugin"] if way == "server" else [],
        settings={"hooks": hook_groups(str(program), ())} if way == "commands" else {},
        path=os.pathsep.join([str(program.parent), os.environ["PATH"]]),
        out=place / "out",
        timeout=120,
    )
    if transcript["final_text"] != "Finished.":
        raise SystemExit(f"{way}: {json.dumps(transcript['results'])} {transcript['stderr']}")
    return float(transcript["seconds"])


def _print(seconds: Mapping[str, Sequence[float]]) -> None:
    without = statistics.median(seconds["no hooks"])
    print(f"| {_CALLS} tool calls | seconds, median (least to most) | × no hooks |\n|---|---|---|")
    for way, found in seconds.items():
        median = statistics.median(found)
        spread = f"{median:.1f} ({min(found):.1f} to {max(found):.1f})"
        print(f"| {way} | {spread} | {median / without:.2f} |")


if __name__ == "__main__":
    sys.exit(main())

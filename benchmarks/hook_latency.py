"""What a hook costs, as a multiple of starting Python in the same environment.

Absolute times say more about the machine than about grove, so every figure is the median of a
hook's runs over the median of `python -c pass`, taken in turn in one run. Prints a markdown table.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PAYLOADS = CHECKOUT / "tests" / "data" / "hook-payloads"
GROVE = Path(sys.executable).with_name("grove")
UNRELATED = {"tool_input": {"command": "ls -la"}}

# What is measured: the event, the recorded payload, changes to it, and the budget.
CASES: Sequence[tuple[str, str, str, Mapping[str, object], float]] = (
    ("pre-tool-use, nothing to do", "pre-tool-use", "PreToolUse-Bash", UNRELATED, 1.3),
    ("post-tool-use, no open intent", "post-tool-use", "PostToolUse-Bash", UNRELATED, 1.3),
    ("stop that approves", "stop", "Stop-first", {}, 3.0),
    ("session-start", "session-start", "SessionStart-startup", {}, 8.0),
    ("user-prompt-submit", "user-prompt-submit", "UserPromptSubmit", {}, 8.0),
    ("session-end", "session-end", "SessionEnd-other", {}, 4.0),
)


def scratch_project(folder: Path) -> dict[str, str]:
    """Make a project with a ticket system, and the environment of its hooks."""
    (folder / "project" / ".beads").mkdir(parents=True)
    (folder / "project" / ".beads" / "metadata.json").write_text("{}")
    (folder / "home").mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "GROVE_PLUGINS"}
    # Without bytecode everything looks twice as slow as it is for people.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    home = folder / "home"
    return {**environment, "HOME": str(home), "GROVE_HOME": str(home / ".grove")}


def payload(name: str, project: Path, changes: Mapping[str, object]) -> bytes:
    """Take a recorded payload into the scratch project."""
    recorded = json.loads((PAYLOADS / f"{name}.json").read_text())["stdin"]
    recorded.update(changes, session_id="benchmark", cwd=str(project))
    return json.dumps(recorded, separators=(",", ":")).encode() + b"\n"


def seconds(
    command: Sequence[str], data: bytes, cwd: Path, environment: Mapping[str, str]
) -> float:
    """Run a command once and tell how long it took."""
    started = time.perf_counter()
    subprocess.run(command, input=data, cwd=cwd, env=environment, capture_output=True, check=True)
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="runs of each hook (default: 15)")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="grove-bench-") as name:
        project = Path(name) / "project"
        environment = scratch_project(Path(name))
        start = payload("SessionStart-startup", project, {})
        seconds([str(GROVE), "hook", "session-start"], start, project, environment)
        print("| hook | × `python -c pass` | budget |\n|---|---|---|")
        for title, event, recorded, changes, budget in CASES:
            data = payload(recorded, project, changes)
            bare: list[float] = []
            hook: list[float] = []
            for _ in range(runs):
                bare.append(seconds([sys.executable, "-c", "pass"], b"", project, environment))
                command = [str(GROVE), "hook", event]
                hook.append(seconds(command, data, project, environment))
            ratio = statistics.median(hook) / statistics.median(bare)
            print(f"| {title} | {ratio:.2f} | {budget} |")


if __name__ == "__main__":
    main()

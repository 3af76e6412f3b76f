"""What hooks cost inside the session's server, in milliseconds of its processor time.

Starts `grove serve`, speaks as the client does, and reads the clock of the server's processor time
around each call. Prints the table of `docs/dev/latency.md`, and writes it with --write.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from history import History
from report import write_between_markers
from scenarios import LARGE, USUAL
from worlds import GROVE, World, make_world, run

CHECKOUT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT / "tests" / "harness"))
from session_server import arguments  # type: ignore[import-not-found] # noqa: E402

_PROMPTS: Final = (
    "The export of orders times out in the nightly run; please prefetch the rows of OrderStore",
    "The retry of the worker gives up too early when the queue is slow, look at the backoff",
    "Why does the cache of prices forget entries after a deployment of the billing service?",
    "Write a migration for the invoices table, and a test of the schema with old rows",
)
_BUDGETS: Final = {"prompt with a search": (8.0, 25.0)}
_BUDGET: Final = 3.0
_SETTLED_SECONDS: Final = 0.5


class Server:
    """A session's server and the client's end of it."""

    def __init__(self, world: World, session_id: str) -> None:
        """Start it, and wait until everything is loaded."""
        self._world, self._session_id = world, session_id
        self._process = subprocess.Popen(
            [GROVE, "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=world.project,
            env={**world.environment, "CLAUDE_CODE_SESSION_ID": session_id},
        )
        # The clock of another process's processor time, as the kernel numbers them.
        self._clock = (~self._process.pid << 3) | 2
        self._number = 0
        self._ask("initialize", {"protocolVersion": "2025-11-25"})
        before = -1.0
        while self.worked - before > 0.001:  # noqa: PLR2004 - a millisecond
            before = self.worked
            time.sleep(_SETTLED_SECONDS)
        self.loading = self.worked

    @property
    def worked(self) -> float:
        """Its processor time so far, in seconds."""
        return time.clock_gettime(self._clock)

    @property
    def megabytes(self) -> float:
        """Its memory at rest."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def hook(self, event: str, **payload: object) -> tuple[float, str]:
        """Have a hook answered: milliseconds of its processor time, and the answer."""
        place = {"session_id": self._session_id, "cwd": str(self._world.project)}
        given = arguments(event, {**place, "hook_event_name": event, **payload})
        before = self.worked
        result = self._ask("tools/call", {"name": "hook", "arguments": given})
        # What follows the answer belongs to it.
        time.sleep(0.01)
        return (self.worked - before) * 1000, result["content"][0]["text"]

    def end(self) -> None:
        """End its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def _ask(self, method: str, parameters: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())["result"]


def measure(folder: Path, history: History, rounds: int) -> tuple[Server, dict[str, list[float]]]:
    """Play a session's turns in a project with such a past."""
    world = make_world(folder, history, tickets=True)
    start = {"source": "startup"}
    run(world.command(str(GROVE), "hook", "session-start",
                      stdin=world.payload("SessionStart-startup", "served", start)))  # fmt: skip
    server = Server(world, "served")
    found: dict[str, list[float]] = {}

    def call(title: str, event: str, **payload: object) -> str:
        milliseconds, answer = server.hook(event, **payload)
        found.setdefault(title, []).append(milliseconds)
        return answer

    for number in range(rounds):
        tool = {"tool_name": "Bash", "tool_use_id": f"toolu_{number}"}
        unrelated = {**tool, "tool_input": {"command": f"echo {number}"}}
        prompt = {"prompt": f"{_PROMPTS[number % 4]} ({number})", "prompt_id": f"p{number}"}
        call("prompt with a search", "UserPromptSubmit", **prompt)
        call("tool call, before", "PreToolUse", **unrelated)
        call("tool call, after", "PostToolUse", **unrelated, tool_response={"stdout": "1"})
        call("stop after a prompt", "Stop", stop_hook_active=False, background_tasks=[])
        call("stop again", "Stop", stop_hook_active=False, background_tasks=[])
    return server, found


def main() -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="a few rounds, to see that it runs")
    parser.add_argument("--large", action="store_true", help="100,000 learnings as well")
    parser.add_argument("--write", action="store_true", help="write the table into the page")
    options = parser.parse_args()
    rounds = 8 if options.quick else options.rounds
    lines = ["| hook, with learnings | median | 9 of 10 within | budget |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory(prefix="grove-bench-") as folder:
        for place, history in enumerate([USUAL, LARGE] if options.large else [USUAL]):
            server, found = measure(Path(folder, str(place)), history, rounds)
            for title, costs in found.items():
                budget = _BUDGETS.get(title, (_BUDGET, _BUDGET))[place]
                median, most = statistics.median(costs), statistics.quantiles(costs, n=10)[-1]
                missed = " **missed**" if median > budget else ""
                lines.append(
                    f"| {title}, {history.learnings:,} | {median:.1f} ms | {most:.1f} ms"
                    f" | {budget:g} ms{missed} |"
                )
            rest = f"{server.loading * 1000:.0f} ms, {server.megabytes:.0f} MB"
            lines.append(
                f"| loaded and at rest, {history.learnings:,} | {rest} | | 400 ms, 60 MB |"
            )
            server.end()
    table = "\n".join(lines)
    print(table)
    if options.write:
        write_between_markers("server", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())

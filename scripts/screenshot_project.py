"""The scratch project that the documentation's pictures are taken in, and what is done there."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from textwrap import wrap
from typing import Final

Run = Callable[[Sequence[str], Path, dict[str, str], str], str]

PROMPT: Final = "\x1b[1;32m$\x1b[0m "
TICKETS: Final = {
    "shop-1": "Orders report takes 40 seconds",
    "shop-2": "Export of orders is slow",
}
CANDIDATE: Final = {
    "category": "pitfall",
    "summary": "OrderReport.rows() runs one query per order unless items are prefetched",
    "detail": "OrderReport.rows() reads order.items in a loop; with 2,000 orders the page took "
    "40 s. Call prefetch_related('items') in reports/orders.py before rows().",
    "criteria_met": ["behavior_changing"],
    "tags": ["orders", "n-plus-one"],
    "context_files": ["reports/orders.py"],
}
PAST: Final = (
    # Category, summary, how many sessions were shown it, how many used it.
    ("pitfall", "OrderReport.rows() runs one query per order unless items are prefetched", 26, 19),
    (
        "convention",
        "Prices are kept in cents; Money.format() is the only place that divides",
        22,
        14,
    ),
    ("debugging", "A hanging import is the lock of import_queue: look at pg_locks first", 12, 7),
    (
        "dependency",
        "The payment client retries three times itself: never wrap it in @retry",
        17,
        12,
    ),
    ("process", "Migrations of the ledger run by night; deploy them the day before", 9, 2),
)
WEEKS_AGO: Final = (11, 10, 9, 7, 6, 5, 3, 2, 1, 0)
"""When something was shown: not in weeks that may lie in either of two windows of 30 days."""


class ScratchProject:
    """A project with tissue, and a person's home beside it.

    Args:
        folder: An empty folder.
        run: Runs words in a folder with an environment and an input; gives what is shown.
    """

    def __init__(self, folder: Path, run: Run) -> None:
        self.home = folder / "home" / "you"
        self.root = self.home / "shop"
        self._run = run
        programs = self.home / ".local" / "bin"
        programs.mkdir(parents=True)
        (programs / "grove").symlink_to(Path(sys.executable).with_name("grove"))
        git = Path(shutil.which("git") or "git").parent
        self.environment = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join(map(str, (programs, git, "/usr/bin", "/bin"))),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GROVE_HOOKS_DEADLINE_MS": "30000",
        }
        (self.root / ".tissue").mkdir(parents=True)
        self._silently("git", "init", "--quiet")
        self._silently("grove", "init")

    def demo(self) -> str:
        """A ticket is closed, the stop is held, a learning is stored, the next session gets it."""
        self._work("monday", "shop-1")
        stopped = self._hook("stop", "monday")
        stored = self._silently(
            *("grove", "reflect", "--session-id", "monday"),
            stdin=json.dumps({"candidates": [CANDIDATE]}),
        )
        self._ticket("shop-2", "in_progress")
        answer = json.loads(self._hook("session-start", "tuesday", source="startup"))
        told = answer["hookSpecificOutput"]["additionalContext"]
        scratch = str(self.home.parents[1])
        steps = (
            (
                "The agent closes a ticket.",
                "tissue status shop-1 closed",
                "shop-1\n",
            ),
            ("It wants to stop. grove stops it, once.", "grove hook stop", stopped),
            ("It writes down what it learned.", "grove reflect < learning.json", stored),
            ("The next session works on orders, too.", "grove hook session-start", told),
        )
        return "\n".join(
            f"\x1b[1m# {title}\x1b[0m\n{self._typed(line)}{_folded(text.replace(scratch, ''))}"
            for title, line, text in steps
        )

    def stats(self) -> str:
        """A project with a past of twelve weeks."""
        self._have_a_past()
        return self._shown("grove stats")

    # --- what is done -------------------------------------------------------------------------

    def _work(self, session: str, ticket: str) -> None:
        self._ticket(ticket, "in_progress")
        self._hook("session-start", session, source="startup")
        call = {"command": f"tissue status {ticket} closed"}
        about = {"tool_name": "Bash", "tool_use_id": "call-1", "tool_input": call}
        self._hook("pre-tool-use", session, **about)
        self._ticket(ticket, "closed")
        self._hook("post-tool-use", session, **about, tool_response={"stdout": ticket})

    def _ticket(self, ticket: str, status: str) -> None:
        line = {"type": "issue", "id": ticket, "title": TICKETS[ticket], "status": status}
        with (self.root / ".tissue" / "issues.jsonl").open("a") as file:
            file.write(json.dumps({**line, "tags": ["orders"]}) + "\n")

    def _hook(self, event: str, session: str, **payload: object) -> str:
        sent = {"session_id": session, "cwd": str(self.root), **payload}
        return self._silently("grove", "hook", event, stdin=json.dumps(sent))

    def _have_a_past(self) -> None:
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0)
        monday = midnight - timedelta(days=midnight.weekday())
        entries: list[str] = []
        events: list[Mapping[str, object]] = []
        for number, (category, summary, shown, used) in enumerate(PAST):
            learning = f"cl_20260206_shop{number:02}"
            entries.append(_entry(learning, category, summary, monday - timedelta(weeks=12)))
            events += _events(learning, monday, shown, used)
        lines = [
            json.dumps(event) + "\n" for event in sorted(events, key=lambda one: str(one["ts"]))
        ]
        with (self.root / ".grove" / "learnings.md").open("a") as file:
            file.write("".join(entries))
        with (self.root / ".grove" / "stats.log").open("a") as file:
            file.write("".join(lines))

    # --- what is shown ------------------------------------------------------------------------

    def _shown(self, line: str) -> str:
        return self._typed(line) + self._silently(*shlex.split(line))

    def _typed(self, line: str) -> str:
        return f"{PROMPT}{line}\n"

    def _silently(self, *words: str, stdin: str = "") -> str:
        return self._run(words, self.root, self.environment, stdin).replace("\r\n", "\n")


def _entry(learning: str, category: str, summary: str, created: datetime) -> str:
    fields = {
        "Category": category,
        "Status": "active",
        "Tags": "orders",
        "Origin": "ticket shop-1 | session earlier",
        "Created": f"{created:%Y-%m-%dT%H:%M:%SZ}",
    }
    lines = "\n".join(f"- **{name}:** {value}" for name, value in fields.items())
    return f"\n### [{learning}] {summary}\n{lines}\n\n> {summary}. This is how it was found out.\n"


def _events(
    learning: str, monday: datetime, shown: int, used: int
) -> Iterator[Mapping[str, object]]:
    for number in range(shown):
        at = monday - timedelta(weeks=WEEKS_AGO[number * len(WEEKS_AGO) // shown])
        head = {"v": 1, "ts": f"{at:%Y-%m-%dT%H:%M:%SZ}", "grove": "0.1.0"}
        about = {"learning_id": learning, "session_id": f"{learning}-{number}"}
        yield {**head, "event": "surfaced", **about}
        if number * used // shown != (number - 1) * used // shown:
            yield {**head, "event": "referenced", **about, "ticket_id": f"shop-{number % 7}"}


def _folded(text: str) -> str:
    return "\n".join(
        piece
        for line in text.split("\n")
        for piece in wrap(line, 94, drop_whitespace=False, replace_whitespace=False) or [""]
    )

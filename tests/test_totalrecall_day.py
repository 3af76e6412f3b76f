"""Total Recall's hooks, its user and grove write to the same day's log, in turns."""

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from attrs import define, field
from core_worlds import run_program

HOOKS = Path(__file__).parent / "totalrecall_hooks"
TEMPLATE = (
    "# {day}\n\n## Decisions\n\n## Corrections\n\n## Commitments\n\n## Open Loops\n\n## Notes\n"
)


def west_of_noon():
    """Hours behind UTC at which it is about noon."""
    return (datetime.now(UTC).hour - 12) % 24 or 1


@define
class Day:
    """A project at noon, whose log only grows."""

    world: object
    west: int = field(factory=west_of_noon)
    known: str = ""
    tickets: int = 0

    def __attrs_post_init__(self):
        self.world.environment["TZ"] = f"DAY{self.west}"

    @property
    def now(self):
        return datetime.now(timezone(-timedelta(hours=self.west)))

    @property
    def log(self):
        return self.world.project / "memory" / "daily" / f"{self.now:%Y-%m-%d}.md"

    def has_grown(self):
        """Gives what is new in the log since the last time."""
        before, self.known = self.known, self.log.read_bytes().decode()
        assert self.known.startswith(before)
        return self.known.removeprefix(before)

    def hook(self, name):
        """Runs one of Total Recall's hooks; gives what it prints."""
        done = run_program(
            ["/bin/sh", HOOKS / f"{name}.sh"],
            cwd=self.world.project,
            env={**self.world.environment, "CLAUDE_PROJECT_DIR": str(self.world.project)},
            check=True,
        )
        assert done.stderr == ""
        return done.stdout

    def write(self, line):
        """What /recall-log and /recall-forget have the model append."""
        with self.log.open("a") as file:
            file.write(f"[{self.now:%H:%M}] {line}\n")
        self.has_grown()

    def learns(self, candidate):
        """`grove reflect` with one candidate; gives its id."""
        self.tickets += 1
        agent = self.world.agent()
        agent.closes(f"bd-{self.tickets}")
        agent.is_blocked()
        submission = json.dumps({"candidates": [candidate]})
        words = ("reflect", "--json", "--session-id", "session-1")
        done = self.world.grove(*words, stdin=submission)
        assert (done.code, done.stderr) == (0, "")
        (one,) = done.json["accepted"]
        assert one["backend"] == "total-recall"
        path, _, line = one["location"].rpartition(":")
        assert path == str(self.log)
        assert f"(grove:{one['id']}):" in self.log.read_text().split("\n")[int(line) - 1]
        return one["id"]

    def searches(self, *words):
        """What `grove search` finds: whether it is complete, by id."""
        results = self.world.grove("search", "--json", *words).json["results"]
        return {one["id"]: one["complete"] for one in results}

    def statuses(self):
        listed = self.world.grove("list", "--all", "--json").json["learnings"]
        return {one["id"]: one["status"] for one in listed}


@pytest.fixture
def day(total_recall):
    """A project with an empty memory, in which an agent works."""
    total_recall.agent().starts()
    return Day(total_recall)


def heads(text):
    return re.findall(r"^\[\d\d:\d\d\] \*\*\w+\*\* \(grove:(\w+)\): .", text, re.MULTILINE)


def test_a_day(day, candidate):
    # There is nothing yet, and Total Recall says nothing.
    assert day.hook("session-start") == ""
    assert not day.log.exists()

    # grove writes first: the log is as Total Recall's own tools make it, and goes on.
    first = day.learns(candidate(1))
    template = TEMPLATE.format(day=day.log.stem)
    assert day.has_grown().startswith(f"{template}\n## Learnings\n\n[")
    assert heads(day.hook("session-start")) == [first]
    day.write("the staging database is called harbour-2")
    assert day.hook("pre-compact") == ""
    assert "Compaction occurred at" in day.has_grown()

    # grove begins a section of its own below the hook's, and uses it again.
    second = day.learns(candidate(2))
    assert day.has_grown().startswith("## Learnings\n\n[")
    third = day.learns({**candidate(3), "supersedes": [second]})
    new = day.has_grown()
    assert "## Learnings" not in new
    assert f"> [supersedes grove:{second}]" in new
    assert f'] [superseded] "{candidate(2)["summary"]}" (grove:{second})' in new
    assert heads(day.hook("session-start")) == [second, third]

    # The user forgets the first. Neither that note nor the hook's marks are findings.
    summary = candidate(1)["summary"]
    day.write(f'[superseded] "{summary}" - marked as no longer current via /recall-forget')
    assert day.statuses() == {first: "superseded", second: "superseded", third: "active"}
    assert day.searches("orders", "prefetched", "query") == {third: True}
    assert [*day.searches("staging", "database", "harbour-2").values()] == [False]
    assert day.searches("Compaction", "occurred") == day.searches("forget", "recall") == {}
    assert day.has_grown() == ""

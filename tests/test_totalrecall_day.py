"""A day on which Total Recall's hooks, its user and grove write to the same memory, in turns."""

import json
import re
import subprocess
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from attrs import define, field

HOOKS = Path(__file__).parent / "totalrecall_hooks"
TEMPLATE = (
    "# {day}\n\n## Decisions\n\n## Corrections\n\n## Commitments\n\n## Open Loops\n\n## Notes\n"
)
PROMOTED = "tr0123456789"


def west_of_noon():
    """Hours behind UTC at which it is about noon; the next day has begun 24 hours further east."""
    return (datetime.now(UTC).hour - 12) % 24 or 1


@define
class Day:
    """A project and its local clock; nobody's bytes in the logs change, except that logs grow."""

    world: object
    west: int = field(factory=west_of_noon)
    logs: dict = field(factory=dict)

    def __attrs_post_init__(self):
        self.tell_time()

    def tell_time(self):
        self.world.environment["TZ"] = f"DAY{self.west}"

    def midnight(self):
        """The same time of the next day."""
        self.west -= 24
        self.tell_time()

    @property
    def now(self):
        return datetime.now(timezone(-timedelta(hours=self.west)))

    @property
    def date(self):
        return f"{self.now:%Y-%m-%d}"

    @property
    def log(self):
        return self.world.project / "memory" / "daily" / f"{self.date}.md"

    @property
    def text(self):
        return self.log.read_bytes().decode()

    def has_grown(self):
        """Asserts that logs have only grown since the last time; gives what is new in today's."""
        contents = {path: path.read_bytes() for path in self.log.parent.iterdir()}
        before, self.logs = self.logs, contents
        for path, content in before.items():
            assert contents[path].startswith(content)
            if path != self.log:
                assert contents[path] == content
        return contents[self.log][len(before.get(self.log, b"")) :].decode()

    # --- Total Recall and its user --------------------------------------------------------------

    def hook(self, name):
        """Runs one of Total Recall's hooks; gives what it prints."""
        done = subprocess.run(
            ["/bin/sh", HOOKS / f"{name}.sh"],
            cwd=self.world.project,
            env={**self.world.environment, "CLAUDE_PROJECT_DIR": str(self.world.project)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout

    def write(self, line):
        """What /recall-log and /recall-forget have the model append."""
        with self.log.open("a") as file:
            file.write(f"[{self.now:%H:%M}] {line}\n")
        assert self.has_grown().endswith(f"] {line}\n")

    def promote(self, learning_id, summary):
        """What /recall-promote does with a learning: the daily log keeps it."""
        memory = self.world.project / "memory"
        with (memory / "registers" / "decisions.md").open("a") as file:
            file.write(f"\n- **Pitfall** (grove:{learning_id}): {summary} ^{PROMOTED}\n")
        entry = {"created_at": "2030-01-02T10:00:00Z", "pinned": False, "status": "active"}
        entry |= {"last_reviewed_at": None, "snoozed_until": None, "tier": "register"}
        (memory / ".recall" / "metadata.json").write_text(json.dumps({PROMOTED: entry}, indent=2))

    # --- grove ----------------------------------------------------------------------------------

    def learns(self, candidate):
        """`grove reflect` with one candidate; gives its id."""
        done = self.world.grove(
            "reflect", "--json", "--session-id", "session-1",
            stdin=json.dumps({"candidates": [candidate]}),
        )  # fmt: skip
        assert (done.code, done.stderr) == (0, "")
        (one,) = done.json["accepted"]
        assert one["backend"] == "total-recall"
        path, _, line = one["location"].rpartition(":")
        assert path == str(self.log)
        assert f"(grove:{one['id']}):" in self.text.split("\n")[int(line) - 1]
        return one["id"]

    def searches(self, *words):
        """What `grove search` finds, by id."""
        results = self.world.grove("search", "--json", *words).json["results"]
        return {one["id"]: one for one in results}

    def statuses(self):
        listed = self.world.grove("list", "--all", "--json").json["learnings"]
        return {one["id"]: one["status"] for one in listed}


@pytest.fixture
def day(total_recall):
    """A project with an empty memory, whose agent has closed a ticket and owes a reflection."""
    day = Day(total_recall)
    agent = total_recall.agent()
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    return day


def heads(text):
    return re.findall(r"^\[\d\d:\d\d\] \*\*\w+\*\* \(grove:(\w+)\): .", text, re.MULTILINE)


def test_a_day(day, candidate):
    world = day.world
    one, two, three, four = (candidate(number) for number in range(1, 5))

    # Morning: there is nothing yet, and Total Recall says nothing.
    assert day.hook("session-start") == ""
    assert not day.log.exists()

    # grove writes first: the log is as Total Recall's own tools make it, and goes on.
    first = day.learns(one)
    made = day.has_grown()
    template = TEMPLATE.format(day=day.date)
    assert made.startswith(f"{template}\n## Learnings\n\n[")
    seen = day.hook("session-start")
    assert heads(seen) == [first]

    # The user notes something, and the context is compacted, twice.
    day.write("the staging database is called harbour-2")
    assert day.hook("pre-compact") == ""
    assert re.fullmatch(
        r"\n## \[pre-compact \d\d:\d\d\]\n\n- Compaction occurred at .*\n\n", day.has_grown()
    )

    # grove begins a section of its own below the hook's, and uses it again.
    second = day.learns(two)
    assert day.has_grown().startswith("## Learnings\n\n[")
    third = day.learns(three)
    assert "## Learnings" not in day.has_grown()
    seen = day.hook("session-start")
    assert heads(seen) == [second, third]
    assert "Compaction occurred" in seen
    assert seen.endswith(day.text[-200:])

    # A learning turns out wrong, another one lasts.
    day.write(f'[superseded] "{one["summary"]}" - marked as no longer current via /recall-forget')
    day.promote(second, two["summary"])

    evening(day, candidate, first, second, third)
    assert day.has_grown() == ""

    # The next day: yesterday's learnings are not Total Recall's to show, but grove's.
    yesterday = day.log
    day.midnight()
    assert not day.log.exists()
    seen = day.hook("session-start")
    assert "Yesterday:\n## Decisions\n" in seen
    assert heads(seen) == []
    shown = world.agent("session-2").starts()
    assert one["summary"] not in shown
    evening(day, candidate, first, second, third)
    fourth = day.learns(four)
    assert day.has_grown().startswith(TEMPLATE.format(day=day.date))
    assert yesterday != day.log
    assert heads(day.hook("session-start")) == [fourth]
    assert day.statuses() == {
        first: "superseded",
        second: "active",
        third: "active",
        fourth: "active",
    }


def evening(day, candidate, first, second, third):
    """What there is to find, the same today and tomorrow."""
    found = day.searches("orders", "prefetched", "query")
    assert set(found) == {second, third}
    assert all(each["complete"] for each in found.values())
    assert found[second]["tags"] == candidate(2)["tags"]
    assert day.statuses() == {first: "superseded", second: "active", third: "active"}
    (note,) = day.searches("staging", "database", "harbour-2").values()
    assert (note["backend"], note["complete"]) == ("total-recall", False)
    assert "harbour-2" in note["summary"]
    # Neither the template, nor the hook's marks, nor the note of what is forgotten are findings.
    assert day.searches("Compaction", "occurred") == {}
    assert day.searches("forget", "recall") == {}


def test_grove_and_total_recall_agree_on_what_is_superseded(day, candidate):
    first = day.learns(candidate(1))
    second = day.learns({**candidate(2), "supersedes": [first]})
    new = day.has_grown()
    assert f"> [supersedes grove:{first}]" in new
    assert f'] [superseded] "{candidate(1)["summary"]}" (grove:{first})' in new
    assert day.statuses() == {first: "superseded", second: "active"}

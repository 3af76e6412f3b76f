"""What `grove stats` sees in a real log, and what plugins see beside it."""

import itertools
import json
from datetime import UTC, datetime, timedelta

import pytest

NOW = datetime.now(UTC).replace(microsecond=0)
NUMBERS = itertools.count()

PLUGIN = """
from grove_core import Insight, Statistics, hookimpl

@hookimpl
def grove_insights(statistics):
    {body}
"""
SEEN = (
    "return [Insight(kind='acme_seen', message=f'{statistics.learnings} learnings.',"
    " suggestion='Look: `grove list`.', evidence={'many': statistics.learnings}, priority=1)]"
)


def instant(days):
    return (NOW - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


class History:
    """A project's log and learnings, written as grove writes them."""

    def __init__(self, world):
        self.world = world
        self.lines = []

    def event(self, name, days, **fields):
        ts = instant(days + next(NUMBERS) / 86_400)  # no two lines are the same
        document = {"v": 1, "ts": ts, "event": name, "grove": "0.1.0", **fields}
        self.lines.append(json.dumps(document))

    def learning(self, name, category, shown=0, used=0, days=1.0, age=100.0, **fields):
        learning_id = self.world.learning(
            f"cl_{name}",
            f"OrderStore.{name}() runs one query per order unless prefetched",
            category=category,
            created=instant(age),
            **fields,
        )
        for number in range(shown):
            session = f"{name}-{number}"
            about = {"learning_id": learning_id, "session_id": session}
            self.event("surfaced", days, **about)
            if number < used:
                self.event("referenced", days, **about)
        return learning_id

    def insights(self):
        with (self.world.project / ".grove" / "stats.log").open("a") as file:
            file.write("".join(f"{line}\n" for line in self.lines))
        self.lines = []
        done = self.world.grove("stats", "--json")
        assert (done.code, done.stderr) == (0, "")
        return {one["kind"]: one for one in done.json["insights"]}


@pytest.fixture
def history(beads):
    return History(beads)


def test_a_project_without_a_history_shows_no_insight(history):
    assert history.insights() == {}


def test_every_insight_shows_in_a_real_history(history):
    for number in range(12):
        history.learning(f"pitfall{number}", "pitfall", shown=2, used=0)
    history.learning("noise", "process", shown=20, used=1)
    history.learning("best", "domain", shown=9, used=9, days=70)
    history.learning("old", "dependency", age=85)
    history.learning("shared", "debugging")
    for number in range(3):
        fields = {"learning_id": "cl_shared", "session_id": f"other-{number}"}
        history.event("referenced", 3, ticket_id=f"bd-{20 + number}", **fields)
    skip = {"reason": "no time for it", "decider": "agent"}
    history.event("skip", 9, session_id="s", ticket_id="bd-99", **skip)
    done = {"candidates": 12, "accepted": 2, "backend": "markdown"}
    history.event("reflection", 8, session_id="s", ticket_id="bd-99", **done)
    for number in range(10):
        fields = {"summary": f"Something {number}", "stage": "write_gate", "reason": "vague"}
        history.event("rejected", 8, session_id="s", **fields)
        outcome = "reflected" if number < 2 else "skipped"
        history.event("gate", 8, session_id=f"g-{number}", outcome=outcome, blocks=1)
    history.learning("long", "convention", detail="\n".join(["A long line of text." * 40] * 700))
    seen = history.insights()
    assert set(seen) == {
        "rubber_stamping",
        "decay_warning",
        "low_gate_precision",
        "low_hit_category",
        "over_surfaced",
        "skip_miss",
        "stale_top_learning",
        "write_gate_too_strict",
        "cross_pollination",
        "high_value_rare",
        "large_learnings_file",
    }
    assert seen["stale_top_learning"]["subject"] == "cl_best"
    assert seen["over_surfaced"]["evidence"]["shown"] == 20
    assert seen["skip_miss"]["evidence"]["examples"] == ["bd-99"]
    assert seen["low_gate_precision"]["evidence"]["rate"] == 0.2
    shown = history.world.grove("stats").stdout
    for one in seen.values():
        assert one["suggestion"].split("`")[1].split()[1] in shown


def test_a_gate_that_lets_everything_pass(history):
    for number in range(6):
        history.learning(f"pitfall{number}", "pitfall", shown=4, used=0)
    done = {"candidates": 12, "accepted": 12, "backend": "markdown"}
    history.event("reflection", 8, session_id="s", **done)
    assert "write_gate_too_loose" in history.insights()


# Plugins.


@pytest.mark.parametrize("group", ["grove.plugins", "grove.tickets", "grove.backends"])
def test_what_a_plugin_sees_is_shown_with_the_rest(history, group):
    history.learning("noise", "process", shown=20, used=1)
    assert set(history.insights()) == {"low_hit_category", "over_surfaced"}
    # Twice, so that what is remembered of the first is put to the test.
    history.insights()
    history.world.install_plugin("acme", PLUGIN.format(body=SEEN), group=group)
    for _ in range(2):
        seen = history.insights()
        assert list(seen) == ["acme_seen", "low_hit_category", "over_surfaced"]
        assert seen["acme_seen"]["evidence"] == {"many": 1}
    assert "Look: `grove list`." in history.world.grove("stats").stdout
    quiet = history.world.grove("stats", "--json", GROVE_PLUGINS="markdown")
    assert "acme_seen" not in {one["kind"] for one in quiet.json["insights"]}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise LookupError('no luck')", "LookupError: no luck"),
        ("return 'much'", "returned str instead of a list of Insight"),
        ("import time; time.sleep(20)", "took longer than 0.5 seconds"),
    ],
)
def test_a_plugin_that_fails_is_named_and_the_numbers_stay(history, body, words):
    history.learning("noise", "process", shown=20, used=1)
    history.insights()
    history.world.install_plugin("acme", PLUGIN.format(body=body))
    done = history.world.grove("stats", "--json")
    assert done.code == 0
    assert {one["kind"] for one in done.json["insights"]} == {"low_hit_category", "over_surfaced"}
    assert f"acme 1.0 (grove.plugins:acme): grove_insights: {words}" in done.stderr


def test_groves_own_part_stands_among_the_plugins(world):
    own = world.grove("plugins", "--json").json["own"]
    assert (own["name"], own["state"], own["hooks"]) == (
        "grove-core",
        "active",
        ["grove_insights", "grove_retrieval_engines"],
    )
    assert "grove.core" in world.grove("plugins").stdout

"""Worlds of their own for commands and hooks, and candidates that pass every check."""

import pytest
from world import World


@pytest.fixture
def world(tmp_path):
    """A home and a project that grove has never seen."""
    return World(tmp_path.resolve())


@pytest.fixture
def total_recall(beads):
    """A beads project that keeps its memory in Total Recall: only daily logs are grove's to grow."""
    memory = beads.project / "memory"
    for folder in ("daily", "registers", "archive/daily", ".recall"):
        (memory / folder).mkdir(parents=True)
    for path, text in {
        "memory/SCHEMA.md": "# Memory\n\nKept by Total Recall.\n",
        "memory/.recall/metadata.json": "{}\n",
        "memory/registers/_index.md": "# Registers\n",
        "memory/registers/decisions.md": "# Decisions\n",
        "memory/registers/open-loops.md": "# Open loops\n\n## Active\n\n## Recently Closed\n",
        "CLAUDE.local.md": "# Working memory\n\n## Active Context\n\nThe shop.\n",
    }.items():
        (beads.project / path).write_text(text)
    beads.lent.append(memory / "daily")
    return beads


@pytest.fixture
def beads(world):
    """The same with a beads project that uses grove."""
    world.initialise()
    world.use_beads()
    return world


@pytest.fixture
def agent(beads):
    """A session of the client that has not begun."""
    return beads.agent()


@pytest.fixture
def blocked(agent):
    """One that was stopped once for its reflection."""
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    return agent


@pytest.fixture
def candidate():
    """Makes a candidate that passes every check."""

    def make(number=1, **fields):
        subjects = ["report", "export", "import", "backup", "search", "ledger", "parser", "router"]
        subject = subjects[number % len(subjects)]
        return {
            "category": "pitfall",
            "summary": f"OrderStore.{subject}_{number}() runs one query per order unless prefetched",
            "detail": (
                f"OrderStore.{subject}_{number}() in shop/{subject}.py reads order.items in a loop;"
                f" with {number},000 orders it took {40 + number} s. Call prefetch_items() first."
            ),
            "tags": [subject, "orders", "n-plus-one"],
            "criteria_met": ["behavior_changing"],
            "scope": "project",
            "confidence": "high",
            "context_files": [f"shop/{subject}.py"],
            **fields,
        }

    return make

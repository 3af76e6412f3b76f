"""A plugin by somebody else: the one of the documentation, as a wheel beside ours, found and used."""

import json
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "grove-backend-jsonfile"
FIRST = 'backends.primary = "jsonfile"\n'


def code_lines(path):
    return [line for line in path.read_text().splitlines() if line.strip()]


@pytest.fixture
def project(project_of, crowd):
    """A project that has the file by which the example detects itself."""
    project = project_of(crowd)
    (project.root / "learnings.json").write_text("{}\n")
    return project


# --- size ---------------------------------------------------------------------------------------


def test_a_minimal_backend_plugin_is_small():
    """Twelve lines of Python besides the backend class, and eight of TOML."""
    assert len(code_lines(EXAMPLE / "grove_backend_jsonfile" / "__init__.py")) <= 12
    assert len(code_lines(EXAMPLE / "pyproject.toml")) <= 8


def test_the_example_uses_public_names_only():
    for path in EXAMPLE.rglob("*.py"):
        assert "grove_core." not in path.read_text(), path


# --- used ---------------------------------------------------------------------------------------


def stored(project):
    return json.loads((project.root / "learnings.json").read_text())


def test_learnings_go_in_and_come_back(project, candidate):
    project.configure(FIRST)
    project.ticket("shop-1", "Orders report takes 40 seconds", "in_progress")
    assert project.hook("session-start", source="startup").context == ""
    project.close("shop-1", "Orders report takes 40 seconds")
    assert project.hook("stop").code == 2

    answer = project.reflect(candidate)
    assert answer.code == 0, answer
    ((learning_id, learning),) = stored(project).items()
    assert learning["summary"] == candidate["summary"]
    assert learning["ticket_id"] == "shop-1"
    assert not (project.root / ".grove" / "learnings").exists()
    assert (project.root / "learnings.log").read_text() == f"{learning_id}\n"
    assert project.hook("stop").code == 0
    assert project.hook("session-end", reason="other").code == 0

    found = project.grove("search", "--quiet", "prefetched orders")
    assert found.stdout == f"{learning_id}\n"
    shown = project.grove("show", learning_id)
    assert candidate["detail"] in " ".join(shown.stdout.split())

    project.ticket("shop-2", "Orders export is slow, too", "in_progress", number=2)
    context = project.hook("session-start", "tuesday", source="startup").context
    assert learning_id in context
    assert candidate["summary"] in context

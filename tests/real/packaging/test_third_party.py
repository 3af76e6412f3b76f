"""A plugin by somebody else: the one of the documentation, as a wheel beside ours, found and used."""

import json
import os
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "grove-backend-jsonfile"
FIRST = 'backends.primary = "jsonfile"\n'


def code_lines(path):
    return [line for line in path.read_text().splitlines() if line.strip()]


def entries(done):
    assert done.code == 0, done.stderr
    return {(entry["group"], entry["name"]): entry for entry in done.json["plugins"]}


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


# --- found --------------------------------------------------------------------------------------


def settle(environment, seconds):
    """Makes an environment look as if nothing had been installed since then."""
    os.utime(environment.site_packages, (seconds, seconds))


def test_an_installation_is_seen_at_once_and_so_is_a_removal(
    tmp_path, new_environment, project_of, wheel, example_wheel
):
    environment = new_environment(tmp_path / "environment", wheel("grove-core"))
    project = project_of(environment)
    settle(environment, 1_000_000_000)
    project.grove_home.mkdir()  # looking makes none, and keeps what it finds only there
    assert entries(project.grove("plugins", "--json")) == {}
    (cache,) = (project.grove_home / "cache").glob("plugins-*.json")
    assert json.loads(cache.read_text())["found"] == []

    environment.install(example_wheel)
    (key,) = entries(project.grove("plugins", "--json"))
    assert key == ("grove.backends", "jsonfile")
    settle(environment, 1_000_000_001)
    (key,) = entries(project.grove("plugins", "--json"))
    assert key == ("grove.backends", "jsonfile")

    environment.uninstall("grove-backend-jsonfile")
    assert entries(project.grove("plugins", "--json")) == {}


# --- ordered ------------------------------------------------------------------------------------


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

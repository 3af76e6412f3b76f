"""Core knows plugins by what they offer: a suggestion comes from its extras, a default from config."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "grove-core" / "src" / "grove_core"
PROJECTS = [tomllib.loads(path.read_text())["project"] for path in ROOT.glob("*/pyproject.toml")]
NAMES = sorted(
    {
        name
        for project in PROJECTS
        if project["name"] != "grove-core" and "entry-points" in project
        for name in (project["name"], project["name"].replace("-", "_"))
    }
)


def _without_hook(line):
    """A hook that plugins implement may be called like a package."""
    for spelled in (" grove_hosts(", ".grove_hosts(", '"grove_hosts"', "``grove_hosts``"):
        line = line.replace(spelled, "")
    return line


@pytest.mark.parametrize("name", NAMES)
def test_core_names_no_plugin(name):
    sources = [path for path in CORE.rglob("*.py") if path.name != "schema.py"]
    assert len(sources) > 100
    # What a plugin of somebody else's is called may begin with the name of one of ours.
    found = [
        f"{path.relative_to(CORE)}: {line.strip()}"
        for path in sources
        for line in path.read_text().splitlines()
        if name in _without_hook(line.replace(f"{name}-", "").replace(f"{name}_", ""))
    ]
    assert found == []

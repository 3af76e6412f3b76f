"""One repository, one version."""

import json
import re
import tomllib
from pathlib import Path

import pytest

import grove_core

ROOT = Path(__file__).parents[1]
VERSION = grove_core.__version__
PROJECTS = sorted(ROOT.glob("grove-*/pyproject.toml"))


def project(path):
    return tomllib.loads(path.read_text())["project"]


@pytest.mark.parametrize(
    "path", [ROOT / "pyproject.toml", *PROJECTS], ids=lambda path: path.parent.name
)
def test_every_project_file_has_the_version(path):
    assert project(path)["version"] == VERSION


def test_the_plugin_of_the_client_has_the_version():
    manifest = ROOT / "plugin" / ".claude-plugin" / "plugin.json"
    assert json.loads(manifest.read_text())["version"] == VERSION


def test_extras_of_core_pin_the_version():
    extras = project(ROOT / "grove-core" / "pyproject.toml")["optional-dependencies"]
    del extras["testing"]  # which comes from elsewhere
    packages = {path.parent.name for path in PROJECTS} - {"grove-core"}
    pinned = {f"{name}=={VERSION}" for name in packages}
    assert set(extras.pop("all")) == pinned - {f"grove-eval=={VERSION}"}
    assert sorted(each for extra in extras.values() for each in extra) == sorted(pinned)


@pytest.mark.parametrize(
    "path",
    [path for path in PROJECTS if path.parent.name != "grove-core"],
    ids=lambda path: path.parent.name,
)
def test_extensions_ask_for_a_core_of_their_minor_version(path):
    major, minor = (int(number) for number in VERSION.split(".")[:2])
    wanted = f"grove-core>={major}.{minor},<{major}.{minor + 1}"
    if path.parent.name == "grove-eval":
        wanted = f"grove-core=={VERSION}"  # it measures private modules
    assert wanted in project(path)["dependencies"]


def test_the_workspace_names_every_package():
    text = tomllib.loads((ROOT / "pyproject.toml").read_text())
    names = sorted(path.parent.name for path in PROJECTS)
    assert sorted(text["tool"]["uv"]["workspace"]["members"]) == names
    assert sorted(text["project"]["dependencies"]) == names
    layers = text["tool"]["importlinter"]["root_packages"]
    assert sorted(layers) == [name.replace("-", "_") for name in names]


def test_the_changelog_begins_with_this_version_or_what_is_to_come():
    changelog = (ROOT / "CHANGELOG.md").read_text()
    first = re.search(r"^## \[?([^]\s]+)", changelog, re.MULTILINE)
    assert first is not None
    assert first.group(1) in (VERSION, "Unreleased")

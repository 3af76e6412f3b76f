"""What grove tells to install, as processes in environments of different installers."""

import json
import shlex
from pathlib import Path

import pytest

import grove_core

PATTERN = '[[ticketing.patterns]]\nname = "acme"\ncommand = "acme close {id}"\n'
RECEIPT = """
[tool]
requirements = [{ name = "grove-core", extras = ["mcp"] }, { name = "grove-beech" }]

[tool.options]
find-links = ["file:///my%20wheels"]
"""
# The grove that is tested here is run from its source.
CORE = shlex.quote(f"{Path(grove_core.__file__).parents[2]}[mcp]")
BY_UV = f"uv tool install --find-links file:///my%20wheels --editable {CORE} --with grove-beech"
PIPX = {"main_package": {"pip_args": ["--find-links", "/my wheels"]}}
BY_PIPX = f"pipx inject --pip-args {shlex.quote(shlex.join(PIPX['main_package']['pip_args']))}"
ENVIRONMENTS = {
    "pip": ("none", "", "pip install"),
    "uv": ("uv-receipt.toml", RECEIPT, BY_UV),
    "pipx": ("pipx_metadata.json", json.dumps(PIPX), f"{BY_PIPX} grove-core"),
}
HIDES_ALL_OTHER_PLUGINS = """
import importlib.metadata, sys
sys.prefix = {place!r}
found = importlib.metadata.Distribution.discover
def without_ours(**options):
    return (one for one in found(**options) if not one.name.startswith(("grove-t", "grove-b")))
importlib.metadata.Distribution.discover = without_ours
"""


@pytest.fixture(params=ENVIRONMENTS)
def beginning(request, world):
    """How the line begins that adds a package to an environment without any plugin."""
    name, text, beginning = ENVIRONMENTS[request.param]
    place = world.others / "größere environment"
    site = world.others / "site"
    site.mkdir(parents=True)
    place.mkdir()
    (place / name).write_text(text)
    (site / "sitecustomize.py").write_text(HIDES_ALL_OTHER_PLUGINS.format(place=str(place)))
    world.environment["PYTHONPATH"] = str(site)
    return beginning


def added(beginning, distribution):
    return f"{beginning}{' --with' if 'uv' in beginning else ''} {distribution}"


def test_status_names_the_line_that_works_here(world, beginning):
    world.initialise()
    done = world.grove("status")
    assert f"none installed ({added(beginning, 'grove-backend-markdown')})" in done.stdout
    assert f"none installed ({added(beginning, 'grove-tickets')})" in done.stdout


def test_doctor_says_what_tickets_do_not_of_patterns_that_nothing_reads(world, beginning):
    world.initialise(PATTERN)
    assert "grove doctor says how to have one" in world.grove("tickets").stdout
    checks = json.loads(world.grove("doctor", "--json").stdout)["checks"]
    (told,) = [one for one in checks if one["name"] == "ticket patterns"]
    assert told["mend"] == added(beginning, "grove-tickets")


def test_a_plugin_that_does_not_load_is_removed_in_the_way_of_the_installer(world, beginning):
    world.initialise()
    site = world.others / "site"
    world.install_plugin("beech", "raise RuntimeError('no luck')\n")
    metadata = site / "beech-1.0.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("beech", "grove-core-beech"))
    checks = json.loads(world.grove("doctor", "--json").stdout)["checks"]
    (told,) = [one for one in checks if one["name"] == "plugin beech"]
    assert "no luck" in told["detail"]
    ways = {
        "pip": "pip install --upgrade grove-core-beech; or remove it: pip uninstall grove-core-beech",
        "pipx": "pipx upgrade --include-injected grove-core",
        "uv": f"uv tool upgrade grove-core; or remove it: {BY_UV}",
    }
    assert told["mend"] == f"Upgrade it: {ways[beginning.split()[0]]}"

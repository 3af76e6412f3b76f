"""`grove --help` names the commands of plugins, and loads no plugin where none offers any."""

import os

import pytest

OFFER = """
from grove_core import CommandSpec, hookimpl



@hookimpl
def grove_commands():
    return [CommandSpec(name="weather", target="none:command", help="Tell the weather.")]
"""
NO_OFFER = """
from grove_core import hookimpl

@hookimpl
def grove_query_terms(project, ticket):
    return []
"""


@pytest.fixture
def known(world):
    """A home that knows already that no plugin offers a command."""
    world.grove_home.mkdir()
    assert world.grove("--help").code == 0
    (kept,) = world.grove_home.glob("cache/commands-*.json")
    return kept


def test_help_loads_no_plugin_where_none_offers_a_command(known, world):
    before = known.stat().st_mtime_ns
    helped = world.grove("--help")
    assert helped.code == 0
    assert "Show the memory backends" in helped.stdout
    assert known.stat().st_mtime_ns == before


def test_a_command_of_a_plugin_that_is_installed_later_is_seen_at_once(known, world):
    world.install_plugin("weather", OFFER)
    assert "Tell the weather." in world.grove("--help").stdout
    assert "Tell the weather." not in world.grove("--no-plugins", "--help").stdout


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"format": 1, "environment": [], "offered": false}']
)
def test_a_damaged_file_hides_no_command(known, world, damage):
    world.install_plugin("weather", OFFER)
    known.write_text(damage)
    assert "Tell the weather." in world.grove("--help").stdout


def test_what_a_broken_plugin_offers_is_not_known(world):
    world.grove_home.mkdir()
    world.install_plugin("broken", "raise RuntimeError('no')")
    assert world.grove("--help").code == 0
    assert list(world.grove_home.glob("cache/commands-*.json")) == []


def test_help_makes_no_home(world):
    assert world.grove("--help").code == 0
    assert not world.grove_home.exists()


def test_a_command_that_a_plugin_gains_without_an_installation_is_found_by_its_name(world):
    """Plugins are developed in place: their sources change, and what is installed does not."""
    world.grove_home.mkdir()
    world.install_plugin("weather", NO_OFFER)
    for file in world.others.rglob("*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    os.utime(world.others / "site", (1_000_000_000, 1_000_000_000))
    assert "weather" not in world.grove("--help").stdout
    assert len(list(world.grove_home.glob("cache/commands-*.json"))) == 1
    (world.others / "site" / "weather.py").write_text(OFFER)
    os.utime(world.others / "site", (1_000_000_000, 1_000_000_000))
    assert "cannot be loaded" in world.grove("weather").stderr

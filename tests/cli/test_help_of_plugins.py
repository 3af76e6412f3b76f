"""`grove --help` names the commands of plugins, and loads no plugin where none offers any."""

import pytest

OFFER = """
from grove_core import CommandSpec, hookimpl



@hookimpl
def grove_commands():
    return [CommandSpec(name="weather", target="none:command", help="Tell the weather.")]
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

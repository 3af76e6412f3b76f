"""`grove plugins check`, and how help knows the commands of plugins."""

import shutil
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

BROKEN = """
import grove_core as grove

grove_api = 2

@grove.hookimpl
def grove_memory_backends():
    here = grove.Detection(marker="here")
    return [grove.BackendSpec(name="raising", detect=lambda _: here, open=lambda _: 1 / 0)]
"""


def check(world, *words, **variables):
    done = world.grove("plugins", "check", *words, **variables)
    assert list((world.folder / "tmp").iterdir()) == []
    return done


def test_one_good_plugin_and_a_broken_one(world):
    """The user's own settings of pytest count nothing."""
    world.install_plugin("acme", BROKEN, group="grove.backends")
    written = EXAMPLES / "grove-tickets-acme" / "src" / "grove_tickets_acme"
    shutil.copytree(written, world.others / "site" / "grove_tickets_acme")
    with (world.others / "site/acme-1.0.dist-info/entry_points.txt").open("a") as file:
        file.write("[grove.tickets]\nacme = grove_tickets_acme\n")
    (world.project / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    done = check(world, "acme", "--json", PYTEST_ADDOPTS="-k nothing")
    assert done.code == 1
    assert done.json == {
        "distribution": "acme",
        "version": "1.0",
        "ok": False,
        "plugins": ["grove.tickets:acme", "grove.backends:acme"],
    }
    assert "division by zero" in done.stderr  # what pytest reports
    assert "TestPluginContract of" not in done.stderr
    assert "TestTicketContract of acme" not in done.stderr.partition("short test summary")[0]


def test_what_cannot_be_checked_is_said_with_what_can(world):
    done = check(world, "nothing")
    assert (done.code, done.stdout) == (1, "")
    assert "no plugin nothing is installed beside this grove" in done.stderr
    assert "grove-tickets" in done.stderr


OFFER = """
from grove_core import CommandSpec, hookimpl

@hookimpl
def grove_commands():
    return [CommandSpec(name="weather", target="none:command", help="Tell the weather.")]
"""


def test_help_knows_at_once_what_a_new_plugin_offers(world):
    assert "Show the memory backends" in world.grove("--help").stdout
    assert not world.grove_home.exists()
    world.install_plugin("weather", OFFER)
    assert "Tell the weather." in world.grove("--help").stdout
    assert "Tell the weather." not in world.grove("--no-plugins", "--help").stdout

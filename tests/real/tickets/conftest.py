"""Projects that use the real ticket tools, wherever `make ticket-tools` could get them."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "harness"))
from processes import end_left_over
from shop import Shop, watching
from systems import SYSTEMS

# A change of lines must not hold a session here: only closes count.
CONFIG = '[gate]\nsession = "never"\n'


def pytest_generate_tests(metafunc):
    own = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "system" in metafunc.fixturenames and "system" not in own:
        metafunc.parametrize("system", SYSTEMS, ids=lambda one: one.label.replace(" ", "-"))


@pytest.fixture(scope="session")
def stock(tmp_path_factory):
    """Projects with their tickets, each made once; a test works on a copy."""
    made = {}

    def get(system, make_world):
        if system.label not in made:
            shop = Shop(make_world(tmp_path_factory.mktemp("stock")))
            try:
                system.provide(shop)
                (shop.project / "orders.py").write_text("class OrderReport:\n    pass\n")
                shop.says("git init -q --template= && git add -A && git commit -q -m Start")
                ids = system.set_up(shop)
                # In the agent's own shell, since a tool may have installed hooks of git.
                shop.says("git add -A && git commit -q --allow-empty -m Tickets")
            finally:
                shop.close()
                left = end_left_over(shop.world.home)
            assert left == []
            made[system.label] = shop.world.folder, ids
        return made[system.label]

    return get


@pytest.fixture
def world(world, system):
    """The same, but a tool that grove asks may keep house in its own database."""
    return watching(type(world), system.databases)(world.folder)


@pytest.fixture
def shop(system, stock, world):
    """The project of one system, initialised for grove; nothing may be left running in the end."""
    folder, ids = stock(system, type(world))
    for name in ("home", "project"):
        shutil.copytree(folder / name, world.folder / name, symlinks=True, dirs_exist_ok=True)
    shop = Shop(world)
    system.provide(shop)
    override = f"[ticketing.overrides]\n{system.name} = true\n" if system.enabled else ""
    world.initialise(CONFIG + override)
    shop.ids = ids
    yield shop
    shop.close()
    assert end_left_over(world.home) == []


@pytest.fixture
def worker(shop):
    """An agent at work in the project."""
    return shop.worker()

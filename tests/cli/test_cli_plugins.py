"""`grove plugins new` and `grove plugins check`, and how help knows the commands of plugins."""

import ast
import re
import shutil
import tomllib

import pytest

from grove_core import __version__

KINDS = {"backend": "grove-backend-", "ticket": "grove-tickets-"}


@pytest.fixture
def desk(world):
    """A folder that tests may write to, with a blank and letters beyond ASCII in its name."""
    folder = world.others / "größere desk"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def new(world, desk):
    def new(*words, **variables):
        return world.grove("plugins", "new", *words, cwd=desk, **variables)

    return new


def files_in(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


@pytest.mark.parametrize("kind", KINDS)
def test_a_project_is_written_and_what_to_do_next_is_said(new, desk, kind):
    done = new(kind, "acme-notes")
    assert (done.code, done.stderr) == (0, "")
    distribution = f"{KINDS[kind]}acme-notes"
    module = distribution.replace("-", "_")
    written = files_in(desk / distribution)
    main = "backend.py" if kind == "backend" else "tracker.py"
    assert set(written) == {
        ".github/workflows/ci.yml",
        ".gitignore",
        "README.md",
        "pyproject.toml",
        f"src/{module}/__init__.py",
        f"src/{module}/{main}",
        f"src/{module}/py.typed",
        "tests/test_contract.py",
    }
    lines = done.stdout.splitlines()
    assert [line.removeprefix("wrote ") for line in lines if line.startswith("wrote ")] == sorted(
        f"{distribution}/{name}" for name in written
    )
    assert f"  grove plugins check {distribution}" in lines
    for name, text in written.items():
        assert "%{" not in text, name
        assert "MODULE" not in text, name
        if name.endswith(".py"):
            ast.parse(text)
            assert not re.search(r"(from|import) grove_core\.(?!testing import)", text), name
    project = tomllib.loads(written["pyproject.toml"])["project"]
    group = {"backend": "grove.backends", "ticket": "grove.tickets"}[kind]
    assert (project["name"], project["entry-points"]) == (
        distribution,
        {group: {"acme-notes": module}},
    )
    major, minor, _ = __version__.split(".")
    assert f"grove-core>={major}.{minor},<{major}.{int(minor) + 1}" in project["dependencies"]


def test_names_that_do_not_do_or_are_taken_are_refused(world, new, desk):
    world.install_plugin("grove-backend-shelf", "grove_api = 2\n")
    for kind, name, said in (
        ("backend", "", "does not do as a name"),
        ("backend", "Acme", "does not do as a name"),
        ("backend", "../acme", "does not do as a name"),
        ("backend", "acmé", "does not do as a name"),
        ("backend", "a" * 31, "does not do as a name"),
        ("backend", "markdown", "a backend called markdown is installed"),
        ("ticket", "beads", "a ticket called beads is installed"),
        ("backend", "grove-backend-acme", "such as acme:"),
        ("backend", "primary", "a word of grove's own configuration"),
        ("backend", "shelf", "there is a package grove-backend-shelf already"),
    ):
        done = new(kind, "--", name)
        assert (done.code, done.stdout, said in done.stderr) == (1, "", True), name
    assert list(desk.iterdir()) == []
    assert new("engine", "acme").code == 2


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


def test_one_good_plugin_and_a_broken_one(world, new, desk):
    """The good one was just written; the user's own settings of pytest count nothing."""
    world.install_plugin("acme", BROKEN, group="grove.backends")
    assert new("ticket", "acme").code == 0
    written = desk / "grove-tickets-acme" / "src" / "grove_tickets_acme"
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

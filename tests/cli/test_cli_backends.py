"""`grove backends` as a group: what backends could use, and the commands that they offer."""

import pytest

PLUGIN = """
from attrs import frozen
from grove_core import BackendSpec, CommandSpec, Detection, Discovered, hookimpl

@frozen
class Settings:
    colour: str = "red"

STORES = [
    Discovered(name="cellar", source=".acme.json", usable=True, used=True, why="is named here"),
    Discovered(name="attic", source="~/.acme.json", usable=False, used=False, why="not trusted"),
]

def command(name, attribute=None, module="acme_commands"):
    target = f"{module}:{attribute or name}"
    return CommandSpec(name=name, target=target, help=f"Do {name}.")

COMMANDS = (
    command("where"),
    command("fails"),
    command("lost"),
    command("gone", module="acme_gone"),
    command("other", "NUMBER"),
)

def discover(context):
    return STORES

@hookimpl
def grove_memory_backends():
    return [
        BackendSpec(
            name="acme",
            detect=lambda context: None,
            open=lambda context: None,
            settings=Settings,
            discover=discover,
            commands=COMMANDS,
        )
    ]
"""


COMMANDS = """
import json
import rich_click as click
from grove_core import BackendContext, BackendError

NUMBER = 7

@click.command()
@click.option("--note", default="", shell_complete=lambda ctx, param, start: [
    ctx.find_object(BackendContext).settings.colour
])
def where(note):
    context = click.get_current_context().find_object(BackendContext)
    click.echo(json.dumps({
        "root": str(context.root),
        "home": str(context.home),
        "area": context.area.value,
        "colour": context.settings.colour,
        "in_hook": context.in_hook,
        "path": context.environment["HOME"],
        "note": note,
    }))

@click.command()
@click.option("--json", "as_json", is_flag=True)
def fails(as_json):
    raise BackendError("the cellar is under water; pump it out")

@click.command()
def lost():
    open("no/such/cellar")
"""


@pytest.fixture
def acme(world):
    """A person who has a backend by somebody else installed."""
    world.install_plugin("acme", PLUGIN, "grove.backends")
    (world.others / "site" / "acme_commands.py").write_text(COMMANDS)
    return world


def change(world, old, new):
    """Another edition of the plugin."""
    path = world.others / "site" / "acme.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def rows(world, *words, **variables):
    done = world.grove("backends", "discover", "--json", *words, **variables)
    assert done.code == 0, done.stderr
    return [row for row in done.json["discovered"] if row["backend"] in {"acme", "markdown"}]


def test_the_stores_of_a_backend_that_has_a_choice(acme):
    assert rows(acme) == [
        {
            "backend": "acme",
            "name": "cellar",
            "source": ".acme.json",
            "usable": True,
            "used": True,
            "why": "is named here",
        },
        {
            "backend": "acme",
            "name": "attic",
            "source": "~/.acme.json",
            "usable": False,
            "used": False,
            "why": "not trusted",
        },
    ]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("return 3", "returned int instead of a list of Discovered"),
        ("raise RuntimeError('mice')", "mice"),
        (
            "return [Discovered(name='a', source='', usable=1, used=False, why='')]",
            "TypeError: Discovered.usable is not True or False",
        ),
    ],
)
def test_a_backend_that_cannot_list_its_stores_hides_no_others(acme, answer, words):
    change(acme, "return STORES", answer)
    done = acme.grove("backends", "discover", "--json")
    assert done.code == 0
    assert "grove: plugin acme 1.0 (grove.backends:acme)" in done.stderr
    assert "discover of acme" in done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert rows(acme) == []


def test_nothing_is_imported_until_it_is_called(acme):
    (acme.others / "site" / "acme_commands.py").write_text("raise RuntimeError('imported')")
    for words in (["--help"], ["acme", "--help"], ["discover"], []):
        done = acme.grove("backends", *words)
        assert (done.code, done.stderr) == (0, "")
    assert "imported" in acme.grove("backends", "acme", "where").stderr


@pytest.mark.parametrize("elsewhere", [[], ["-C", "."]], ids=["inside", "named"])
def test_a_command_is_told_where_to_work(acme, elsewhere):
    (acme.grove_home).mkdir()
    (acme.grove_home / "config.toml").write_text('[backends.acme]\ncolour = "blue"\n')
    words = [str(acme.project) if word == "." else word for word in elsewhere]
    cwd = acme.home if words else None
    for place in ([*words, "backends"], ["backends", *words]):
        done = acme.grove(*place, "acme", "where", "--note", "dry", cwd=cwd)
        assert done.code == 0, done.stderr
        assert done.json == {
            "root": str(acme.project),
            "home": str(acme.grove_home),
            "area": "project",
            "colour": "blue",
            "in_hook": False,
            "path": str(acme.home),
            "note": "dry",
        }


def test_what_a_command_cannot_do_ends_as_grove_s_own(acme):
    done = acme.grove("backends", "acme", "fails")
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr == "grove: the cellar is under water; pump it out\n"
    done = acme.grove("backends", "acme", "fails", "--json")
    assert (done.code, done.json) == (1, {"error": "the cellar is under water; pump it out"})
    done = acme.grove("backends", "acme", "lost")
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr.startswith("grove: ")
    assert "no/such/cellar" in done.stderr


UNREADABLE = """
import grove_core as grove

class Backend:
    name = "acme"
    capabilities = frozenset({grove.Capability.ITERATE, grove.Capability.GET})

    def __init__(self, context):
        pass

    def iterate(self):
        ANSWER

    def get(self, learning_id):
        print("let me see")
        raise ValueError("a torn disk")

    def search(self, query, filters):
        return []

    def write(self, learning):
        raise grove.BackendError("read only")

    def ping(self):
        return grove.Health(ok=True, detail="")

@grove.hookimpl
def grove_memory_backends():
    detect = lambda context: grove.Detection(marker="acme")
    return [grove.BackendSpec(name="acme", detect=detect, open=Backend)]
"""


@pytest.mark.parametrize(
    "iterate", ['return [{"id": "cl_x"}]', 'return "junk"', "return None", "raise ValueError(3)"]
)
def test_what_cannot_be_read_is_no_empty_store(world, iterate):
    world.initialise()
    world.install_plugin("acme", UNREADABLE.replace("ANSWER", iterate), "grove.backends")
    world.learning("cl_20300102_aaaaaa", "Stream reports, since lists do not fit")
    for words in (["list"], ["search", "reports"], ["maintain", "list"], ["stats"]):
        done = world.grove(*words, "--json")
        assert done.code == 1
        assert "what acme holds could not be read" in done.json["error"]
        assert "grove: plugin acme 1.0 (grove.backends:acme)" in done.stderr
    assert [one["id"] for one in world.grove("list", "--json").json["learnings"]]
    done = world.grove("export")
    assert (done.code, done.stdout) == (1, "")
    done = world.grove("show", "cl_20300102_bbbbbb", "--json")
    assert "what acme holds could not be read" in done.json["warnings"][0]
    world.hook("SessionStart", {"session_id": "s0", "source": "startup"})
    assert world.grove("ref", "cl_20300102_aaaaaa", "--session-id", "s0").code == 0
    start = world.hook("SessionStart", {"session_id": "s1", "source": "startup"})
    assert start.code == 0

"""`grove backends` as a group: what backends could use, and the commands that they offer."""

import json

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


# --- discover -----------------------------------------------------------------------------------


def rows(world, *words, **variables):
    done = world.grove("backends", "discover", "--json", *words, **variables)
    assert done.code == 0, done.stderr
    return [row for row in done.json["discovered"] if row["backend"] in {"acme", "markdown"}]


def test_the_stores_of_all_backends_in_their_order(acme):
    assert rows(acme) == [
        {
            "backend": "markdown",
            "name": "markdown",
            "source": ".grove/learnings.md",
            "usable": True,
            "used": True,
            "why": "the first learning creates it",
        },
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


def test_for_people_and_for_scripts(acme):
    lines = acme.grove("backends", "discover").stdout.splitlines()
    place = lines.index("acme           cellar               used     [.acme.json]")
    assert lines[place + 1].strip() == "is named here"
    assert lines[place + 2].split()[:3] == ["acme", "attic", "-"]
    assert acme.grove("backends", "discover", "-q").stdout == "markdown\ncellar\n"


def test_nothing_found_is_said(acme):
    change(acme, "return STORES", "return []")
    assert [row["backend"] for row in rows(acme)] == ["markdown"]
    assert "acme           nothing found\n" in acme.grove("backends", "discover").stdout


def test_a_backend_that_is_switched_off_says_by_what(acme):
    acme.initialise("[backends.overrides]\nacme = false\n")
    (row,) = [row for row in rows(acme) if row["backend"] == "acme"]
    assert (row["name"], row["usable"], row["used"]) == ("acme", False, False)
    assert "blocked by backends.overrides.acme" in row["why"]


def test_what_cannot_be_seen_in_a_name_is_written_as_its_code(acme):
    change(acme, 'name="cellar"', r'name="cel\x1b[2Jlar\nnext"')
    done = acme.grove("backends", "discover")
    assert "\x1b" not in done.stdout
    assert r"cel\x1b[2Jlar\nnext" in done.stdout
    assert acme.grove("backends", "discover", "-q").stdout.splitlines()[1] == r"cel\x1b[2Jlar\nnext"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("return 3", "returned int instead of a list of Discovered"),
        ("return ['cellar']", "returned str instead of Discovered"),
        ("return iter(STORES)", "instead of a list of Discovered"),
        ("raise RuntimeError('mice')", "mice"),
        (
            "return [Discovered(name='a', source='', usable=1, used=False, why='')]",
            "a Discovered whose usable is not True or False",
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
    other, failed = rows(acme)
    assert other["usable"]
    assert (failed["name"], failed["usable"], failed["used"]) == ("acme", False, False)
    assert "has failed to list them" in failed["why"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("discover=discover", "discover=STORES", "discover is not a function or None"),
        ("commands=COMMANDS", "commands=['where']", "commands is not a tuple of CommandSpec"),
        ("commands=COMMANDS", "commands=('where',)", "commands is not a tuple of CommandSpec"),
    ],
)
def test_a_specification_that_is_none_is_refused_with_words(acme, old, new, words):
    change(acme, old, new)
    done = acme.grove("backends", "--json")
    assert f"returned a BackendSpec whose {words}" in done.stderr
    assert "acme" not in [one["name"] for one in done.json["backends"]]


# --- the group ----------------------------------------------------------------------------------


def test_alone_it_shows_the_backends(acme):
    done = acme.grove("backends", "--json")
    assert done.code == 0
    assert [one["name"] for one in done.json["backends"] if one["primary"]] == ["markdown"]
    assert acme.grove("backends", "-q").stdout == "markdown\n"


def test_help_names_what_there_is(acme):
    listed = acme.grove("backends", "--help").stdout
    assert "discover" in listed
    assert "Commands of the backend acme: where, fails" in listed
    own = acme.grove("backends", "acme", "--help").stdout
    assert "Do where." in own
    assert "Do gone." in own
    assert "--note" in acme.grove("backends", "acme", "where", "--help").stdout


def test_help_without_plugins_names_none(acme):
    listed = acme.grove("--no-plugins", "backends", "--help").stdout
    assert "discover" in listed
    assert "acme" not in listed
    assert acme.grove("--no-plugins", "backends", "acme", "where").code == 2


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


# --- what can go wrong --------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("name", "words"),
    [("gone", "acme_gone"), ("other", "acme_commands:NUMBER is no click command")],
)
def test_a_command_that_cannot_be_loaded_names_its_plugin(acme, name, words):
    done = acme.grove("backends", "acme", name)
    assert (done.code, done.stdout) == (1, "")
    assert f"grove: {name} of acme 1.0 (grove.backends:acme) cannot be loaded: " in done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_unknown_words_are_usage_errors(acme):
    assert "No such command 'cellar'" in acme.grove("backends", "cellar").stderr
    assert "No such command 'wher'" in acme.grove("backends", "acme", "wher").stderr
    done = acme.grove("backends", "markdown", "where")
    assert done.code == 2
    assert "The backend markdown has no commands." in done.stderr


def test_an_unknown_backend_may_be_one_whose_plugin_is_broken(acme):
    (acme.others / "site" / "acme.py").write_text("raise RuntimeError('broken on purpose')")
    done = acme.grove("backends", "acme", "where")
    assert done.code == 2
    assert "grove: plugin acme 1.0 (grove.backends:acme)" in done.stderr
    assert "broken on purpose" in done.stderr


def test_a_command_of_the_same_name_as_one_of_grove_s_own_is_not_reached(acme):
    change(acme, 'name="acme"', 'name="discover"')
    assert "discovered" in acme.grove("backends", "discover", "--json").json
    assert "Commands of the backend discover" not in acme.grove("backends", "--help").stdout


def test_a_command_of_a_plugin_besides_backends_ends_likewise(world):
    source = PLUGIN.partition("STORES =")[0] + (
        "@hookimpl\ndef grove_commands():\n"
        "    return [CommandSpec(name='flood', target='acme_commands:fails', help='Flood.')]\n"
    )
    world.install_plugin("acme", source)
    (world.others / "site" / "acme_commands.py").write_text(COMMANDS)
    done = world.grove("flood", "--json")
    assert (done.code, json.loads(done.stdout)) == (
        1,
        {"error": "the cellar is under water; pump it out"},
    )
    assert done.stderr == "grove: the cellar is under water; pump it out\n"


# --- completion ---------------------------------------------------------------------------------


def offered(world, *words):
    """What the shell's script is told for the last word, without the kinds."""
    line = " ".join(["grove", *words])
    done = world.grove(_GROVE_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=len(words))
    assert (done.code, done.stderr) == (0, "")
    return [each.partition(",")[2] for each in done.stdout.splitlines() if each]


def test_completion(acme):
    assert offered(acme, "backends", "a") == ["acme"]
    assert offered(acme, "backends", "d") == ["discover"]
    assert offered(acme, "backends", "acme", "w") == ["where"]
    assert offered(acme, "backends", "acme", "where", "--n") == ["--note"]
    assert offered(acme, "backends", "acme", "where", "--note", "r") == ["red"]


def test_completion_is_silent_where_a_command_cannot_be_loaded(acme):
    assert offered(acme, "backends", "acme", "gone", "x") == []
    (acme.others / "site" / "acme.py").write_text("raise RuntimeError('no')")
    assert offered(acme, "backends", "acm") == []

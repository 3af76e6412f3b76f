"""The mistakes that people are most likely to make, each planted in a project that works.

Doctor must name the thing, the place and the mend; what the mend says is done to the letter, and
doctor is content again. They are in the order of how often they are to be expected:

 1. `grove init` was run, the hooks were not registered: nothing ever happens.
 2. The environment that grove was installed in is gone or has moved, and its hooks with it.
 3. Hooks of the plugin and of the settings: everything happens twice.
 4. A key of the configuration is misspelt, or its value is of another type.
 5. A backend is chosen that is not installed here.
 6. `.grove` is ignored by git, mostly by a pattern for all that begins with a dot.
 7. A colleague's clone has no merge driver, as nobody has run `grove init` in it.
 8. Another grove is found first on PATH: another environment's, or another program of that name.
 9. Learnings hold what a merge has left.
10. The client runs no hooks at all: it is told so, or its settings are broken JSON.

And three that are rarer and worse: GROVE_HOME is of no use, a secret lies in learnings, the clock
was wrong. That core is installed alone is tried where packages are installed
(tests/packaging/test_installing.py).
"""

import json
import os
import shlex
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[2] / "plugin"
PROGRAM = Path(sys.executable).with_name("grove")
LEARNING = "cl_20300102_aaaaaa"
OTHER = "cl_20300102_bbbbbb"


@pytest.fixture
def healthy(world):
    """A project in which everything is as it should be, and a session has run."""
    world.environment["PATH"] = f"{PROGRAM.parent}{os.pathsep}{world.environment['PATH']}"
    world.use_beads()
    world.make_git()
    does(world, "grove init --hooks")
    world.learning(LEARNING, "OrderReport.rows() runs one query per order")
    agent = world.agent()
    agent.starts()
    agent.ends()
    assert not_ok(world) == []
    return world


def does(world, line):
    """Does what a mend says, which may change settings of the client's."""
    words = shlex.split(line)
    assert words[0] == "grove"
    process = world.start(*words[1:])
    out, err = process.communicate(b"", timeout=60)
    assert process.returncode == 0, (out, err)


def not_ok(world):
    checks = world.grove("doctor", "--json").json["checks"]
    return [check for check in checks if check["status"] != "ok"]


def finds(world, name, *words):
    """Asserts that doctor tells of one thing only, in these words; gives the mend."""
    found = not_ok(world)
    assert {one["name"] for one in found} == {name}
    (check,) = found
    for word in words:
        assert str(word) in check["detail"], check
    return check["mend"]


def settings_of(world, name="settings.local.json"):
    return world.project / ".claude" / name


def edit(path, change):
    settings = json.loads(path.read_text())
    change(settings)
    path.write_text(json.dumps(settings))


def test_the_hooks_were_never_registered(healthy):
    does(healthy, "grove init --uninstall")
    does(healthy, "grove init")
    for path in (healthy.grove_home / "sessions").iterdir():
        path.unlink()
    found = {one["name"]: one for one in not_ok(healthy)}
    assert set(found) == {"hooks registered", "hooks running"}
    assert found["hooks registered"]["status"] == "broken"
    mend = found["hooks registered"]["mend"]
    assert mend.startswith("grove init --hooks ")
    does(healthy, "grove init --hooks")
    assert "Start a session" in finds(healthy, "hooks running", "no hook has run in this project")
    healthy.agent("tuesday").starts()
    assert not_ok(healthy) == []


def test_the_environment_that_hooks_were_installed_in_is_gone(healthy):
    gone = healthy.others / "old-venv" / "bin" / "grove"
    path = settings_of(healthy)
    path.write_text(path.read_text().replace(str(PROGRAM), str(gone)))
    mend = finds(healthy, "registered program", gone, "does not exist", path)
    assert mend == f"grove init --hooks writes {path} anew"
    does(healthy, "grove init --hooks")
    assert not_ok(healthy) == []


def test_the_plugin_and_the_settings_register_hooks(healthy):
    place = healthy.home / ".claude" / "plugins"
    place.mkdir(parents=True)
    shutil.copytree(PLUGIN, place / "grove")
    installed = {"plugins": {"grove@us": [{"scope": "user", "installPath": f"{place}/grove"}]}}
    (place / "installed_plugins.json").write_text(json.dumps({"version": 2, **installed}))
    enabled = {"enabledPlugins": {"grove@us": True}}
    (healthy.home / ".claude" / "settings.json").write_text(json.dumps(enabled))
    mend = finds(healthy, "registered twice", settings_of(healthy), place / "grove")
    assert f"grove init --uninstall takes grove's hooks out of {settings_of(healthy)}" in mend
    does(healthy, "grove init --uninstall")
    does(healthy, "grove init")
    assert not_ok(healthy) == []


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[retrieval]\nmax_injectd = 3\n", "retrieval.max_injectd"),
        ('[gate]\nsession = "often"\n', "gate.session"),
        ('[circuit_breaker]\nmax_blocks = "three"\n', "circuit_breaker.max_blocks"),
    ],
    ids=["misspelt", "another value", "another type"],
)
def test_a_key_is_wrong(healthy, text, key):
    path = healthy.project / ".grove" / "config.toml"
    before = path.read_text()
    path.write_text(text)
    mend = finds(healthy, "configuration", key, path)
    assert "Correct or delete it" in mend
    assert str(path) in mend
    path.write_text(before)
    assert not_ok(healthy) == []


def test_a_backend_is_chosen_that_is_not_installed(healthy):
    path = healthy.project / ".grove" / "config.toml"
    before = path.read_text()
    path.write_text('backends.primary = "markdwon"\n')
    mend = finds(healthy, "configuration", "backends.primary", path, "did you mean markdown?")
    assert mend == "Correct or delete it, or make available what it names"
    path.write_text('backends.primary = "markdown"\n')
    assert not_ok(healthy) == []
    path.write_text(before)
    assert not_ok(healthy) == []


def test_git_ignores_what_begins_with_a_dot(healthy):
    path = healthy.project / ".gitignore"
    path.write_text(".*\n!.gitignore\n")
    mend = finds(healthy, "git", ".grove/learnings.md", ".grove/stats.log")
    assert "take .grove out of .gitignore" in mend
    assert "git check-ignore -v" in mend
    assert ".gitignore:1:.*" in healthy.git("check-ignore", "-v", ".grove/learnings.md")
    path.write_text(".*\n!.gitignore\n!.grove\n!.gitattributes\n")
    assert not_ok(healthy) == []


def test_a_clone_has_no_merge_driver(healthy):
    healthy.git("config", "--remove-section", "merge.grove")
    assert finds(healthy, "merge driver", "not registered in this clone") == "grove init"
    does(healthy, "grove init")
    assert not_ok(healthy) == []


@pytest.mark.parametrize(
    "text",
    ["#!/bin/sh\necho another program\n", "#!/bin/sh\n# grove_core of another environment\n"],
    ids=["another program", "another environment"],
)
def test_another_grove_is_first_on_path(healthy, text):
    other = healthy.others / "bin" / "grove"
    other.parent.mkdir(parents=True)
    other.write_text(text)
    other.chmod(0o755)
    before = healthy.environment["PATH"]
    healthy.environment["PATH"] = f"{other.parent}{os.pathsep}{before}"
    mend = finds(healthy, "program of agents", other, "PATH")
    assert mend == f"Put {PROGRAM.parent} on PATH, before others"
    healthy.environment["PATH"] = f"{PROGRAM.parent}{os.pathsep}{healthy.environment['PATH']}"
    assert not_ok(healthy) == []


def test_a_merge_has_left_its_markers_in_learnings(healthy):
    """Two branches have each added one, in a clone without the merge driver."""
    path = healthy.learnings_file
    ours = path.read_text()
    theirs = ours.replace(LEARNING, OTHER).replace("one query per order", "a second query")
    path.write_text(f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> side\n")
    found = not_ok(healthy)
    assert found
    assert all("grove maintain repair" in one["mend"] for one in found), found
    assert any(str(path) in one["detail"] and "conflict" in one["detail"] for one in found)
    does(healthy, "grove maintain repair")
    assert not_ok(healthy) == []
    assert sorted(healthy.learning_ids()) == [LEARNING, OTHER]


def test_all_hooks_of_the_client_are_switched_off(healthy):
    path = settings_of(healthy)
    edit(path, lambda settings: settings.update(disableAllHooks=True))
    mend = finds(healthy, "client's settings", path, "disableAllHooks", "no hook at all")
    assert mend == f"Take disableAllHooks out of {path}"
    edit(path, lambda settings: settings.pop("disableAllHooks"))
    assert not_ok(healthy) == []


def test_a_comma_is_missing_in_settings_of_the_client(healthy):
    path = settings_of(healthy, "settings.json")
    path.write_text('{\n  "model": "opus"\n  "env": {}\n}\n')
    mend = finds(healthy, "client's settings", path, "line 3")
    assert mend == f"Mend {path}"
    path.write_text('{\n  "model": "opus",\n  "env": {}\n}\n')
    assert not_ok(healthy) == []


def test_groves_own_directory_is_of_no_use(healthy):
    """A file is in the way; what may not be written cannot be told apart by whoever is root."""
    path = healthy.grove_home / "outbox"
    shutil.rmtree(path, ignore_errors=True)
    path.write_text("")
    found = {one["name"]: one for one in not_ok(healthy)}
    assert str(path) in found["grove's own directory"]["detail"]
    assert "or set GROVE_HOME to a directory" in found["grove's own directory"]["mend"]
    path.unlink()
    assert not_ok(healthy) == []


def test_a_token_was_written_into_learnings_by_hand(healthy):
    token = f"ghp_{'k3J9xQ2mB7vN4cR8tZ5w' * 2}"[:40]
    before = healthy.learnings_file.read_text()
    healthy.learnings_file.write_text(before.replace("that is all", f"log in with {token}, all"))
    mend = finds(healthy, "secrets", f"{healthy.learnings_file}:", "GitHub token")
    assert token not in mend
    assert "Replace the secret where it is used" in mend
    healthy.learnings_file.write_text(before)
    assert not_ok(healthy) == []


def test_the_clock_was_wrong_for_a_while(healthy):
    path = healthy.grove_home / "sessions"
    later = (datetime.now(UTC) + timedelta(days=2)).timestamp()
    os.utime(path, (later, later))
    mend = finds(healthy, "clock", path)
    assert "Set the clock" in mend
    os.utime(path)
    assert not_ok(healthy) == []

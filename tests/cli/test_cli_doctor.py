"""`grove doctor`: a project where all is well, one planted mistake for each check, and their fixes."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from core_worlds import write_file, write_program
from world import signatures

PROGRAM = Path(sys.executable).with_name("grove")
LEARNING = "cl_20300102_aaaaaa"
OTHER = "cl_20300102_bbbbbb"
TOKEN = "ghp_" + "1234567890abcdefghijABCDEFGHIJ123456"


@pytest.fixture(scope="module")
def made():
    """The project that the others are copies of, once there is one."""
    return []


@pytest.fixture
def healthy(world, made, tmp_path_factory):
    """A project in which everything is as it should be, and a session has run."""
    if not made:
        made.append(type(world)(tmp_path_factory.mktemp("healthy").resolve()))
        make_healthy(made[0])
    (original,) = made
    shutil.copytree(original.folder, world.folder, symlinks=True, dirs_exist_ok=True)
    for path in (state_of(world), settings_of(world)):
        path.write_text(path.read_text().replace(str(original.folder), str(world.folder)))
    world.environment["PATH"] = original.environment["PATH"]
    world.lent.append(settings_of(world).parent)
    return world


def make_healthy(world):
    world.environment["PATH"] = f"{PROGRAM.parent}{os.pathsep}{world.environment['PATH']}"
    world.lent.append(world.project / ".claude")
    world.use_beads()
    world.make_git()
    assert world.grove("init", "--hooks").code == 0
    world.learning(LEARNING, "OrderReport.rows() runs one query per order")
    agent = world.agent()
    agent.starts()
    agent.ends()


def settings_of(world):
    return world.project / ".claude" / "settings.local.json"


def state_of(world):
    return world.grove_home / "sessions" / "session-1.json"


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def script(world, text):
    """A program outside of what grove may write to."""
    return write_program(world.others / "programs" / "grove", text)


def record(world, program):
    (world.grove_home / "program").write_text(f"{program}\n")


def examine(world):
    """What doctor finds besides what is well; it changes nothing and keeps to its form."""
    # Python itself leaves bytecode beside a plugin.
    own = {str(one) for one in (world.others, world.grove_home / "cache")}
    before = signatures(world.folder, apart_from=own)
    done = world.grove("doctor", "--json")
    assert signatures(world.folder, apart_from=own) == before
    assert done.stderr == ""
    checks = done.json["checks"]
    assert set(done.json) == {"ok", "checks"}
    for check in checks:
        assert set(check) == {"name", "status", "detail", "fix"}
        assert check["detail"]
        assert bool(check["fix"]) is (check["status"] != "ok"), check
        assert not {"\n", "\x1b"} & {*check["detail"], *check["fix"]}
    broken = any(check["status"] == "broken" for check in checks)
    assert (done.json["ok"], done.code) == (not broken, int(broken))
    return checks


def not_ok(world):
    return [check for check in examine(world) if check["status"] != "ok"]


def test_a_healthy_project_has_nothing_to_fix(healthy):
    checks = examine(healthy)
    assert [check for check in checks if check["status"] != "ok"] == []
    assert {check["name"] for check in checks} == {
        "installation", "program of hooks", "program of agents", "memory backends",
        "ticket systems", "clients", "client", "hooks registered", "registered program", "tools of ticket systems",
        "hooks running", "session state", "pending reflections",
        "grove's own directory", "project",
        "git", "primary backend", "personal backend", "event log",
        "total recall", "review",
        "secrets", "outbox", "configuration", "crashes", "errors",
    }  # fmt: skip
    done = healthy.grove("doctor")
    assert done == type(done)(0, f"All is well: {len(checks)} checks.\n", "")
    assert healthy.grove("doctor", "-q") == type(done)(0, "", "")
    lines = healthy.grove("doctor", "-v").stdout.splitlines()
    assert [line[:8] for line in lines[:-2]] == ["ok      "] * len(checks)


def test_a_machine_that_grove_has_never_seen_stays_as_it_is(world):
    assert {check["name"]: check["status"] for check in not_ok(world)} == {
        "program of hooks": "warning",
        "program of agents": "warning",
        "hooks registered": "warning",
        "hooks running": "warning",
        "project": "warning",
    }
    assert not world.grove_home.exists()
    assert list(world.project.iterdir()) == []


def at_home(name, text):
    """What writes a file of grove's own directory."""
    return lambda world: write_file(world.grove_home / name, text)


def in_project(name, text):
    return lambda world: write_file(world.project / name, text)


def in_settings(old, new):
    """What replaces text in the client's settings."""
    return lambda world: write_file(
        settings_of(world), settings_of(world).read_text().replace(old, new)
    )


def owe_a_reflection(world):
    agent = world.agent("sunday")
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    agent.ends()


def lead_out_of_the_project(world):
    outside = world.others / "grove"
    outside.parent.mkdir(exist_ok=True)
    (world.project / ".grove").rename(outside)
    (world.project / ".grove").symlink_to(outside)


def block_the_learnings(world):
    world.learnings_file.unlink()
    world.learnings_file.mkdir()


def damage_the_own_learnings(world):
    world.learning(OTHER, "I prefer short names", personal=True)
    with (world.grove_home / "personal-learnings.md").open("a") as file:
        file.write("<<<<<<< HEAD\n")


def break_a_plugin_in_a_hook(world):
    world.install_plugin("acme", 'raise RuntimeError("no luck")\n', group="grove.tickets")
    world.agent("monday").starts()


def record_another_installation(world):
    record(world, script(world, "# grove_core\n"))


def put_another_first_on_path(world):
    program = script(world, "echo hello")
    world.environment["PATH"] = f"{program.parent}{os.pathsep}{world.environment['PATH']}"


def move_the_registered_program(world):
    in_settings(str(PROGRAM), str(world.others / "old-venv" / "bin" / "grove"))(world)


def install_the_plugin_as_well(world):
    place = world.home / ".claude" / "plugins"
    place.mkdir(parents=True)
    shutil.copytree(Path(__file__).parents[2] / "plugin", place / "grove")
    installed = {"plugins": {"grove@us": [{"scope": "user", "installPath": f"{place}/grove"}]}}
    write_file(place / "installed_plugins.json", json.dumps({"version": 2, **installed}))
    enabled = {"enabledPlugins": {"grove@us": True}}
    write_file(world.home / ".claude" / "settings.json", json.dumps(enabled))


# A check, what it finds, a word of it and one of the fix, and what makes it so.
MISTAKES = {
    "program of hooks": ("is another installation", "init", record_another_installation),
    "program of agents": ("/programs/grove", "on PATH, before", put_another_first_on_path),
    "plugin acme": ("acme 1.0", "upgrade", lambda world: world.install_plugin("acme", "1 / 0")),
    "memory backends": (
        "blocked: GROVE_PLUGINS does not name it",
        "Change what blocks it",
        lambda world: world.environment.update(GROVE_PLUGINS=""),
    ),
    "hooks registered": (
        "last ran at",
        "grove init --hooks",
        in_project(".claude/settings.local.json", "{}"),
    ),
    "tools of ticket systems": ("mcp__* (beads", "init --hooks", in_settings("|mcp__.*", "")),
    "conditions of hooks": ("Bash(*tissue*)", "init", in_settings("Bash(*bd*)", "Bash(*tissue*)")),
    "registered program": ("does not exist", "grove init --hooks", move_the_registered_program),
    "registered twice": ("/plugins/grove", "init --uninstall takes", install_the_plugin_as_well),
    "hooks running": (
        "no hook has run in this project",
        "Start a session",
        lambda world: state_of(world).unlink(),
    ),
    "configuration": (
        "retrieval.max_injectd",
        "Correct or delete it",
        in_project(".grove/config.toml", "[retrieval]\nmax_injectd = 3\n"),
    ),
    "client's settings": (
        "no hook at all",
        "Take disableAllHooks out of",
        lambda world: edit(settings_of(world), lambda one: one.update(disableAllHooks=True)),
    ),
    "git": (
        "git ignores .grove/",
        "add the line !.grove/**",
        in_project(".gitignore", ".*\n!.git*\n"),
    ),
    "pending reflections": ("bd-1", "grove reflect --session-id sunday", owe_a_reflection),
    "session state": ("tuesday", "grove clean --orphans", at_home("sessions/tuesday.json", "{")),
    "grove's own directory": ("outbox", "or set GROVE_HOME to a directory", at_home("outbox", "")),
    "project": ("leads out of the project", "/others/grove", lead_out_of_the_project),
    "primary backend": ("learnings.md", "outbox", block_the_learnings),
    "outbox": ("cl_20300101_aaaaaa.json", "", at_home("outbox/cl_20300101_aaaaaa.json", "{torn")),
    "event log": (
        ":1, 2, 3: lines that are no event: 3",
        "a conflict marker",
        in_project(".grove/stats.log", "<<<<<<<\n=======\n>>>>>>>\n"),
    ),
    "secrets": ("GitHub token", "secrets.allow", in_project(".grove/learnings.md", TOKEN)),
    "personal backend": ("line", "by hand", damage_the_own_learnings),
    "errors": ("no luck", "grove.log", break_a_plugin_in_a_hook),
}


# Those that would hide others.
ALONE = (
    "plugin acme",
    "registered program",
    "registered twice",
    "hooks running",
    "program of hooks",
    "memory backends",
    "hooks registered",
    "conditions of hooks",
    "client's settings",
    "grove's own directory",
    "project",
    "primary backend",
)


@pytest.mark.parametrize("names", [sorted(MISTAKES.keys() - ALONE), *([name] for name in ALONE)])
def test_mistakes_are_named_with_their_fixes(healthy, names):
    for name in names:
        MISTAKES[name][-1](healthy)
    found = not_ok(healthy)
    for name in names:
        detail, fix, _ = MISTAKES[name]
        texts = [f"{one['detail']} {one['fix']}" for one in found if one["name"] == name]
        (text, *_) = texts or [f"nothing of {name}"]
        assert detail in text, name
        assert fix in text, name
        assert TOKEN not in text
        assert "pip install" not in text or "plugin" in name


def test_an_event_log_that_cannot_be_read_is_broken(healthy):
    healthy.event_log.unlink(missing_ok=True)
    healthy.event_log.mkdir(parents=True)
    done = healthy.grove("doctor")
    assert done.code == 1
    assert f"broken  event log: cannot read {healthy.event_log}" in done.stdout


def test_a_registered_program_is_never_run(healthy):
    """A project's settings are a stranger's text."""
    trap = script(healthy, f"# grove_core\ntouch {healthy.others}/sprung\n")
    settings = settings_of(healthy)
    settings.write_text(settings.read_text().replace(str(PROGRAM), str(trap)))
    (check,) = not_ok(healthy)
    assert (check["name"], check["status"]) == ("registered program", "warning")
    assert f"{trap}" in check["detail"]
    assert not (healthy.others / "sprung").exists()

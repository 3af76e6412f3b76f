"""`grove config`: what is in force, where it comes from, and what is wrong."""

import json
import tomllib

import pytest

from grove_core.config import config_keys

SETTINGS_PLUGIN = """
import attrs
import grove_core as grove

@attrs.frozen(kw_only=True)
class Settings:
    where: str = "here"
    retries: int = 3
    mode: str = attrs.field(default="fast", validator=attrs.validators.in_(["fast", "safe"]))

@grove.hookimpl
def grove_memory_backends():
    detect = lambda context: None
    open_ = lambda context: None
    return [grove.BackendSpec(name="shelf", detect=detect, open=open_, settings=Settings)]
"""


@pytest.fixture
def layered(world):
    """Each layer sets something."""
    world.initialise('[gate]\nsession = "never"\n[circuit_breaker]\nmax_blocks = 3\n')
    world.grove_home.mkdir()
    (world.grove_home / "config.toml").write_text(
        "[circuit_breaker]\nmax_blocks = 5\ncooldown_seconds = 60\n[retrieval]\nmax_per_file_session = 5\n"
        "[ticketing.overrides]\ntasks = true\n"
    )
    del world.environment["GROVE_HOOKS_DEADLINE_MS"]
    world.environment["GROVE_RETRIEVAL_MAX_CHARS"] = "3000"
    return world


def project_config(world):
    return world.project / ".grove" / "config.toml"


def user_config(world):
    return world.grove_home / "config.toml"


def settings(world, *words):
    done = world.grove("config", *words, "--json")
    assert done.code == 0, done.stderr
    return {one["key"]: one for one in done.json["settings"]}


# --- show ---------------------------------------------------------------------------------------


def test_every_key_with_value_and_origin(layered):
    found = settings(layered, "show")
    backends = tuple(f"backends.{name}." for name in ("total-recall", "mcp", "postgres"))
    of_plugins = ("ticketing.overrides.", "tickets.", *backends)
    names = {key for key in found if not key.startswith(of_plugins)}
    assert names | {"ticketing.overrides"} == set(config_keys())
    expected = {
        "gate.session": ("never", "initialized", "project", project_config(layered), None),
        "circuit_breaker.max_blocks": (3, 3, "project", project_config(layered), None),
        "circuit_breaker.cooldown_seconds": (60, 300, "user", user_config(layered), None),
        "ticketing.overrides.tasks": (True, None, "user", user_config(layered), None),
        "retrieval.max_per_file_session": (5, 5, "user", user_config(layered), None),
        "retrieval.max_chars": (3000, 4000, "environment", None, "GROVE_RETRIEVAL_MAX_CHARS"),
        "backends.primary": (None, None, "default", None, None),
        "retrieval.on_prompt": (True, True, "default", None, None),
    }
    for key, (value, default, source, file, variable) in expected.items():
        one = found[key]
        assert (one["value"], one["default"]) == (value, default)
        place = str(file) if file else None
        assert one["origin"] == {"source": source, "file": place, "variable": variable}
        assert one["changed"] is (source != "default")
        assert one["help"]
    assert settings(layered) == found
    changed = settings(layered, "show", "--changed")
    assert set(changed) == {key for key, one in found.items() if one["changed"]}
    assert len(changed) == 6


def test_people_see_what_is_set_where(layered):
    lines = layered.grove("config").stdout.splitlines()
    assert len(lines) == len(settings(layered))
    marked = {line.split()[1]: line for line in lines if line.startswith("* ")}
    assert set(marked) == set(settings(layered, "show", "--changed"))
    assert marked["gate.session"].endswith(f' = "never"  (project file {project_config(layered)})')
    assert "(environment variable GROVE_RETRIEVAL_MAX_CHARS)" in marked["retrieval.max_chars"]
    assert f"(user file {user_config(layered)})" in marked["ticketing.overrides.tasks"]
    (line,) = [line for line in lines if " backends.primary " in line]
    assert line.endswith(' = ""  (default)')
    (line,) = [line for line in lines if " retrieval.on_file " in line]
    assert line.endswith(" = true  (default)")
    (line,) = [line for line in lines if " retrieval.max_per_file_session " in line]
    assert line.endswith(f"  (user file {user_config(layered)})")
    shown = [line.removeprefix("* ").strip().rpartition("  (")[0] for line in lines]
    assert tomllib.loads("\n".join(shown))["circuit_breaker"]["max_blocks"] == 3
    quiet = layered.grove("config", "show", "--changed", "-q").stdout.split()
    assert quiet == list(marked)


def test_nothing_is_set(world):
    del world.environment["GROVE_HOOKS_DEADLINE_MS"]
    assert "every key has its default" in world.grove("config", "show", "--changed").stdout
    assert not world.grove_home.joinpath("config.toml").exists()
    assert list(world.project.iterdir()) == []


def test_mistakes_are_named_and_the_next_layer_holds(layered):
    project_config(layered).write_text("[circuit_breaker]\nmax_blocks = 99\n")
    done = layered.grove("config", "get", "circuit_breaker.max_blocks")
    assert done.stdout == "5\n"
    assert f"grove: {project_config(layered)}: circuit_breaker.max_blocks must be" in done.stderr


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (
            "postgresql://me:s3c%40ret@db.example.org/team",
            "postgresql://me:***@db.example.org/team",
        ),
        ("postgresql:///team?user=me&password=s3cret", "postgresql:///team?user=me&password=***"),
        ("host=db password='s3 cret\\'' user=me", "host=db password=*** user=me"),
        ("postgresql://me@db.example.org:5432/team", "postgresql://me@db.example.org:5432/team"),
    ],
)
def test_passwords_in_addresses_are_not_shown_beside_everything_else(layered, address, shown):
    layered.environment["GROVE_BACKENDS_POSTGRES_URL"] = address
    assert settings(layered, "show")["backends.postgres.url"]["value"] == shown
    assert "s3" not in layered.grove("config", "show", "--changed").stdout.replace(shown, "")
    assert layered.grove("config", "get", "backends.postgres.url").stdout == f"{address}\n"


# --- get ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("gate.session", "never"),
        ("circuit_breaker.max_blocks", "3"),
        ("retrieval.on_prompt", "true"),
        ("decay.immunity_hit_rate", "0.8"),
        ("backends.primary", ""),
        ("backends.discovery", '["config", "total-recall", "mcp", "markdown"]'),
        ("backends.overrides", "{}"),
        ("ticketing.overrides.tasks", "true"),
    ],
)
def test_get_prints_the_value_alone(layered, key, text):
    done = layered.grove("config", "get", key)
    assert (done.code, done.stdout, done.stderr) == (0, f"{text}\n", "")


def test_get_in_json(layered):
    found = layered.grove("config", "get", "gate.session", "--json").json
    assert found == settings(layered)["gate.session"]


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("gate.sesion", "did you mean gate.session"),
        ("max_block", "did you mean circuit_breaker.max_blocks?"),
        ("gate", "is a section; name one of its keys: gate.session, "),
        ("gate.auto_skip", "gate.auto_skip.enabled"),
        ("ticketing.overrides", "ticketing.overrides.tasks"),
        ("zeppelin", "`grove config` lists them"),
        ("\x1b[31m", "there is no key \\x1b[31m"),
    ],
)
def test_an_unknown_key_names_the_nearest(layered, key, hint):
    done = layered.grove("config", "get", key, "--json")
    assert done.code == 1
    assert set(done.json) == {"error"}
    assert hint in done.json["error"]
    assert done.stderr == f"grove: {done.json['error']}\n"


# --- path ---------------------------------------------------------------------------------------


def test_path_names_both_files(layered):
    found = layered.grove("config", "path", "--json").json["files"]
    assert found == [
        {"source": "project", "path": str(project_config(layered)), "exists": True, "used": True},
        {"source": "user", "path": str(user_config(layered)), "exists": True, "used": True},
    ]
    user_config(layered).unlink()
    human = layered.grove("config", "path").stdout.splitlines()
    assert human == [
        f"project  {project_config(layered)}",
        f"user     {user_config(layered)}  does not exist",
    ]
    assert layered.grove("config", "path", "-q").stdout == f"{project_config(layered)}\n"


def test_the_home_directory_is_no_project(world):
    (world.home / ".grove").mkdir()
    (world.home / ".grove" / "config.toml").write_text("")
    done = world.grove("config", "path", cwd=world.home, GROVE_HOME=world.home / ".grove")
    first, second = done.stdout.splitlines()
    assert first.endswith("is not used: the project has no .grove of its own")
    assert second == f"user     {world.home}/.grove/config.toml"


# --- validate -----------------------------------------------------------------------------------


def test_valid(layered):
    user = user_config(layered)
    user.write_text(user.read_text().replace("max_per_file_session = 5\n", ""))
    done = layered.grove("config", "validate")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout == f"0 mistakes ({project_config(layered)}, {user_config(layered)}).\n"
    found = layered.grove("config", "validate", "--json").json
    assert found == {"valid": True, "problems": [], "warnings": []}


def test_every_mistake_with_its_place(layered):
    layered.install_plugin("shelf", SETTINGS_PLUGIN, group="grove.backends")
    project_config(layered).write_text(
        '[gate]\nsession = "maybe"\n[gat]\nx = 1\n[backends.shelf]\nretries = "many"\nwher = "x"\n'
        "[backends.markdown]\nx = 1\n[tickets.nosuch]\ny = 2026-02-06\n"
    )
    user_config(layered).write_text('[backends]\nprimary = "absent"\n[backends.shelf]\nmode = 1\n')
    layered.environment["GROVE_CIRCUIT_BREAKER_MAX_BLOCKS"] = "none"
    done = layered.grove("config", "validate", "--json")
    assert done.code == 1
    project, user = str(project_config(layered)), str(user_config(layered))
    places = {
        one["key"]: one["origin"]["file"] or one["origin"]["variable"]
        for one in done.json["problems"]
    }
    assert places == {
        "circuit_breaker.max_blocks": "GROVE_CIRCUIT_BREAKER_MAX_BLOCKS",
        "gate.session": project,
        "gat": project,
        "backends.shelf.retries": project,
        "backends.shelf.wher": project,
        "backends.shelf.mode": user,
        "backends.markdown.x": project,
    }
    for problem in done.json["problems"]:
        assert problem["message"]
    warned = "\n".join(done.json["warnings"])
    assert f"{user}: backends.primary names absent, which is not installed" in warned
    assert f"{project}: [tickets.nosuch] has no effect: no plugin nosuch is installed" in warned
    human = layered.grove("config", "validate")
    assert human.code == 1
    assert f"{project}: backends.shelf.retries must be a whole number" in human.stdout
    assert f"7 mistakes ({project}, {user})." in human.stdout
    for warning in done.json["warnings"]:
        assert f"grove: {warning}\n" in human.stderr
    assert sorted(layered.grove("config", "validate", "-q").stdout.split()) == sorted(places)


def warned_of(world):
    """What `validate` warns of, where there is no mistake."""
    done = world.grove("config", "validate", "--json")
    assert done.code == 0
    assert done.json["valid"] is True
    return done.json["warnings"]


def test_every_setting_has_an_effect(layered):
    layered.environment["GROVE_RETRIEVAL_ON_FILE"] = "true"
    assert warned_of(layered) == []


PROBE_PLUGIN = """
import grove_core as grove

@grove.hookimpl
def grove_ticket_probes():
    return [grove.TicketProbe(name="desk", detect=lambda context: None)]
"""


@pytest.mark.parametrize(
    ("section", "name", "words"),
    [
        ("backends", "markdwn", "no memory backend that is installed; did you mean markdown?"),
        ("ticketing", "bugzilla", "no ticket system that is installed (backlog, "),
        ("ticketing", "markdown", "no ticket system that is installed"),
    ],
)
def test_overrides_that_name_nothing_are_named(layered, section, name, words):
    project_config(layered).write_text(f"[{section}.overrides]\n{name} = false\n")
    (warning,) = warned_of(layered)
    assert warning.startswith(
        f"{project_config(layered)}: {section}.overrides.{name} names {words}"
    )


@pytest.mark.parametrize("command", [("config", "validate"), ("doctor",)])
def test_an_engine_that_nobody_offers_is_named(layered, command):
    project_config(layered).write_text('[retrieval]\nengine = "rulez"\n')
    told = (
        f"{project_config(layered)}: retrieval.engine is 'rulez', and no plugin offers such an"
        " engine; there are default, rules, and default judges in its place"
    )
    assert told in json.dumps(layered.grove(*command, "--json").json, ensure_ascii=False)


@pytest.mark.parametrize("engine", ["default", "rules"])
def test_an_engine_that_is_there(layered, engine):
    project_config(layered).write_text(f'[retrieval]\nengine = "{engine}"\n')
    assert warned_of(layered) == []


def test_overrides_that_name_something(layered):
    layered.install_plugin("counter", PROBE_PLUGIN)
    text = "[ticketing.overrides]\ndesk = false\nbeads = false\n[backends.overrides]\nmcp = false\n"
    project_config(layered).write_text(text)
    assert warned_of(layered) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[gate]\n[gate]\n", "[gate] stands there twice (at line 2, "),
        ("[gate.auto_skip]\nx = 1\n[gate.auto_skip]\n", "[gate.auto_skip] stands there twice"),
        ('[gate]\n["a b"]\n["a b"]\n', "[a b] stands there twice"),
        ("a = {}\n[a.b]\n", "[a.b]"),
        ("[[a]]\n[a]\n", "(at line 2, "),
    ],
)
def test_mistakes_of_toml_are_in_words(layered, text, words):
    project_config(layered).write_text(text)
    (problem,) = layered.grove("config", "validate", "--json").json["problems"]
    assert words in problem["message"]
    assert "'" not in problem["message"]


def test_a_file_that_is_no_toml(layered):
    project_config(layered).write_text("[gate\n")
    done = layered.grove("config", "validate", "--json")
    assert done.code == 1
    (problem,) = done.json["problems"]
    assert problem["key"] is None
    assert problem["origin"]["file"] == str(project_config(layered))
    assert "TOML" in problem["message"]


# --- plugins' own keys --------------------------------------------------------------------------


def test_keys_of_plugins(layered):
    layered.install_plugin("shelf", SETTINGS_PLUGIN, group="grove.backends")
    with project_config(layered).open("a") as file:
        file.write('[backends.shelf]\nwhere = "there"\nretries = "many"\n')
    found = {key: one for key, one in settings(layered).items() if "shelf" in key}
    values = {key: (one["value"], one["default"]) for key, one in found.items()}
    assert values == {
        "backends.shelf.where": ("there", "here"),
        "backends.shelf.retries": (3, 3),
        "backends.shelf.mode": ("fast", "fast"),
    }
    assert found["backends.shelf.where"]["origin"]["source"] == "project"
    assert layered.grove("config", "get", "backends.shelf.where").stdout == "there\n"
    without = layered.grove("--no-plugins", "config", "validate", "--json").json
    assert without["valid"] is True
    assert "the plugin shelf is blocked" in json.dumps(without["warnings"])


def test_a_settings_class_that_cannot_be_built(layered):
    source = SETTINGS_PLUGIN.replace('    where: str = "here"\n', "    where: str\n")
    layered.install_plugin("shelf", source, group="grove.backends")
    with project_config(layered).open("a") as file:
        file.write('[backends.shelf]\nmode = "slow"\n')
    done = layered.grove("config", "validate", "--json")
    assert done.code == 1
    assert [one["key"] for one in done.json["problems"]] == ["backends.shelf.where"]
    assert settings(layered)["backends.shelf.where"]["value"] is None

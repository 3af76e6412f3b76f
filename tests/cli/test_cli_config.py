"""`grove config`: what is in force, where it comes from, and what is wrong."""

import pytest

from grove_core.config.schema import config_keys

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


def test_every_key_with_value_and_origin(layered):
    found = settings(layered, "show")
    backends = tuple(f"backends.{name}." for name in ("total-recall", "mcp", "postgres"))
    of_plugins = ("ticketing.overrides.", "tickets.", "gates.review.", *backends)
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


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("gate.sesion", "did you mean gate.session"),
        ("zeppelin", "zeppelin is not known"),
        ("\x1b[31m", "\\x1b[31m is not known"),
    ],
)
def test_an_unknown_key_names_the_nearest(layered, key, hint):
    done = layered.grove("config", "get", key, "--json")
    assert done.code == 1
    assert set(done.json) == {"error"}
    assert hint in done.json["error"]
    assert done.stderr == f"grove: {done.json['error']}\n"


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
    }
    for problem in done.json["problems"]:
        assert problem["message"]
    warned = "\n".join(done.json["warnings"])
    assert f"{user}: backends.primary names absent: absent is not installed" in warned
    assert f"{project}: [backends.markdown] has no effect: markdown is loaded" in warned
    assert f"{project}: [tickets.nosuch] has no effect: nosuch is not installed" in warned
    human = layered.grove("config", "validate")
    assert human.code == 1
    assert f"{project}: backends.shelf.retries must be a whole number" in human.stdout
    assert f"6 mistakes ({project}, {user})." in human.stdout
    for warning in done.json["warnings"]:
        assert f"grove: {warning}\n" in human.stderr
    assert sorted(layered.grove("config", "validate", "-q").stdout.split()) == sorted(places)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("gate.session", "never", "never"),
        ("circuit_breaker.max_blocks", "2", 2),
        ("retrieval.on_file", "false", False),
        ("ticketing.discovery", "beads, tissue", ["beads", "tissue"]),
        ("backends.overrides.mcp", "false", False),
        ("ticketing.discovery", '["beads"]', ["beads"]),
        ("tickets.jira.done", "Done,Closed", ["Done", "Closed"]),
    ],
)
def test_a_key_is_set_and_taken_back(world, key, text, value):
    world.initialise("# mine\nx-unknown = 1 # and mine\n")
    before = project_config(world).read_text()
    assert world.grove("config", "set", key, text, "--json").json["value"] == value
    after = project_config(world).read_text()
    assert after.startswith(before)
    assert not world.grove("config", "set", key, text, "--json").json["changed"]
    assert world.grove("config", "unset", key, "--json").json["changed"]
    assert key.rpartition(".")[2] + " =" not in project_config(world).read_text()


def test_a_key_takes_the_place_of_its_comment_and_goes_without_a_trace(world):
    world.grove("init")
    before = project_config(world).read_text()
    world.grove("config", "set", "gate.session", "never")
    lines = project_config(world).read_text().splitlines()
    assert 'gate.session = "never"' in lines
    assert '# gate.session = "initialized"' not in lines
    world.grove("config", "set", "gate.auto_skip.line_threshold", "9")
    assert world.grove("config", "validate").code == 0
    for key in ("gate.session", "gate.auto_skip.line_threshold"):
        world.grove("config", "unset", key)
    after = project_config(world).read_text()
    assert "[gate" not in after
    assert set(after.splitlines()) <= set(before.splitlines())


def test_a_wrong_value_or_place_is_refused(world):
    assert world.grove("config", "set", "gate.session", "never").code == 1
    assert not (world.project / ".grove").exists()
    world.grove("config", "set", "--user", "gate.session", "never")
    assert "session" in (world.grove_home / "config.toml").read_text()
    world.initialise("")
    for key, text in (
        ("gate.session", "maybe"),
        ("gate.sesion", "never"),
        ("hooks", "1"),
        ("tickets.jira.dune", "x"),
    ):
        done = world.grove("config", "set", key, text)
        assert (done.code, project_config(world).read_text()) == (1, "")

"""Layers, mistakes and origins of the configuration."""

import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.config.load import Source, load_config
from grove_core.config.schema import Config, config_keys, gate_policy
from grove_core.model.gate import AutoSkipDecider, GatePolicy


class World:
    """A home and a project whose files are written by a test."""

    def __init__(self, base):
        self.home, self.root = base / "home", base / "project"
        self.user_file = self.home / "config.toml"
        self.project_file = self.root / ".grove" / "config.toml"
        for path in (self.user_file, self.project_file):
            path.parent.mkdir(parents=True)

    def load(self, user=None, project=None, **environment):
        for path, text in ((self.user_file, user), (self.project_file, project)):
            if isinstance(text, bytes):
                path.write_bytes(text)
            elif text is not None:
                path.write_text(text)
        return load_config(self.home, self.root, environment)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def value(config, key):
    for name in key.split("."):
        config = getattr(config, name)
    return config


def test_defaults_without_any_file(world):
    loaded = world.load()
    assert loaded.values == {}
    assert (loaded.problems, loaded.plugin_sections) == ((), {})
    assert {origin.source for origin in loaded.origins.values()} == {Source.DEFAULT}
    assert list(loaded.origins) == list(config_keys())


def test_environment_over_project_over_user_over_default(world):
    user = "[circuit_breaker]\nmax_blocks = 2\ncooldown_seconds = 20\n[hooks]\ndeadline_ms = 2000\n"
    project = "[circuit_breaker]\nmax_blocks = 4\ncooldown_seconds = 300\n"
    loaded = world.load(user, project, GROVE_CIRCUIT_BREAKER_MAX_BLOCKS="6", GROVE_HOME="/x")
    assert loaded.problems == ()
    keys = {
        "circuit_breaker.max_blocks": (6, "GROVE_CIRCUIT_BREAKER_MAX_BLOCKS"),
        "circuit_breaker.cooldown_seconds": (300, world.project_file),  # the default is set again
        "hooks.deadline_ms": (2000, world.user_file),
        "retrieval.max_chars": (4000, None),
    }
    for key, (expected, place) in keys.items():
        origin = loaded.origins[key]
        assert (value(loaded.config, key), origin.variable or origin.file) == (expected, place)
    assert str(loaded.origins["retrieval.max_chars"]) == "default"


@pytest.mark.parametrize(
    ("variable", "text", "key", "expected"),
    [
        ("GROVE_GATE_AUTO_SKIP_LINE_THRESHOLD", "12", "gate.auto_skip.line_threshold", 12),
        ("GROVE_GATE_AUTO_SKIP_ENABLED", "Off", "gate.auto_skip.enabled", False),
        ("GROVE_GATE_AUTO_SKIP_DECIDER", "never", "gate.auto_skip.decider", AutoSkipDecider.NEVER),
        ("GROVE_TICKETING_DISCOVERY", "beads, tissue,", "ticketing.discovery", ("beads", "tissue")),
        ("GROVE_BACKENDS_PRIMARY", "", "backends.primary", None),
        ("GROVE_DECAY_IMMUNITY_HIT_RATE", "0.25", "decay.immunity_hit_rate", 0.25),
        ("GROVE_BACKENDS_OVERRIDES_MY_MCP", "1", "backends.overrides", {"my-mcp": True}),
    ],
)
def test_environment_variables(world, variable, text, key, expected):
    loaded = world.load(**{variable: text})
    assert loaded.problems == ()
    assert value(loaded.config, key) == expected


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("[circuit_breaker]\nmax_blocks = 0", "circuit_breaker.max_blocks", "from 1 to 6, not 0"),
        ("[decay]\nimmunity_hit_rate = nan", "decay.immunity_hit_rate", "finite"),
        ("[gate]\nsession = 'ALWAYS'", "gate.session", "must be one of"),
        ("[ticketing]\ndiscovery = 'beads'", "ticketing.discovery", "must be a list"),
        ("[ticketing]\ndiscovery = ['beads', 1]", "ticketing.discovery", "number 2 must be text"),
        ("gate = 3", "gate", "must be a table, not 3"),
        ("[gate]\nsesion = 'never'", "gate.sesion", "did you mean gate.session?"),
        (
            '[[ticketing.patterns]]\nname = "acme"',
            "ticketing.patterns",
            "holds a wrong pattern: number 1 is wrong: command is missing",
        ),
        ('[secrets]\nallow = ["e785020ccc95f2c8", "zz"]', "secrets.allow", "number 2"),
        ("GROVE_GATE_AUTO_SKIP_ENABLED=maybe", "", "must be true or false"),
        ("GROVE_TICKETING_OVERRIDES_BEADS=perhaps", "", "ticketing.overrides.beads must be true"),
        ("GROVE_GATE_AUTOSKIP_ENABLED=1", "", "did you mean GROVE_GATE_AUTO_SKIP_ENABLED?"),
        ("[retreival]\nmax_chars = 500", "retreival", "did you mean retrieval?"),
    ],
)
def test_mistakes_cost_one_key(world, text, key, words):
    user = "[retrieval]\nmax_injections = 7\n"
    if text.startswith("GROVE_"):
        variable, _, given = text.partition("=")
        loaded = world.load(user, **{variable: given})
        (problem,) = loaded.problems
        assert problem.origin.variable == variable
        assert str(problem).startswith(f"{variable}: ")
    else:
        loaded = world.load(user, text)
        (problem,) = loaded.problems
        assert problem.origin.file == world.project_file
        assert str(problem).startswith(f"{world.project_file}: {key} ")
        assert problem.key == key
    assert words in str(problem)
    assert loaded.config.retrieval.max_injections == 7
    assert loaded.values == {"retrieval.max_injections": 7}


def test_mistake_falls_back_to_the_next_layer_not_to_the_default(world):
    loaded = world.load(
        "[circuit_breaker]\nmax_blocks = 2\n",
        "[circuit_breaker]\nmax_blocks = 9\ncooldown_seconds = 10\n",
        GROVE_CIRCUIT_BREAKER_MAX_BLOCKS="many",
    )
    assert loaded.config.circuit_breaker.max_blocks == 2
    assert loaded.config.circuit_breaker.cooldown_seconds == 10
    assert [problem.origin.source for problem in loaded.problems] == [
        Source.ENVIRONMENT,
        Source.PROJECT,
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[gate]\nsession = \n", "line 2"),
        (b"[gate]\n# \xff\n", "not UTF-8 (at line 2)"),
        (b"x = " + b"[" * 100_000, "TOML"),
        (b"#" * (1024 * 1024 + 1), "1 MiB"),
    ],
)
def test_broken_file_is_named_with_its_line_and_dropped_alone(world, content, words):
    loaded = world.load("[hooks]\ndeadline_ms = 2000\n", content)
    (problem,) = loaded.problems
    assert problem.key == ""
    assert problem.origin.file == world.project_file
    assert words in problem.message
    assert str(problem).isprintable()
    assert loaded.config.hooks.deadline_ms == 2000


def acme(command):
    return f'[[ticketing.patterns]]\nname = "acme"\ncommand = "{command}"\n'


def test_a_projects_patterns_stand_in_place_of_the_users(world):
    loaded = world.load(user=acme("acme close {id}"), project=acme("acme done {ids}"))
    assert loaded.config.ticketing.patterns == ({"name": "acme", "command": "acme done {ids}"},)
    assert loaded.problems == ()
    assert loaded.origins["ticketing.patterns"].source is Source.PROJECT
    assert world.load(project="[ticketing]\npatterns = []\n").config.ticketing.patterns == ()


def test_the_users_own_directory_is_no_project_and_outside_there_is_none(tmp_path, world):
    home = tmp_path / ".grove"
    home.mkdir()
    (home / "config.toml").write_text("[hooks]\ndeadline_ms = 2000\nodd = 1\n")
    loaded = load_config(home, tmp_path, {})
    assert loaded.origins["hooks.deadline_ms"].source is Source.USER
    assert len(loaded.problems) == 1
    world.project_file.write_text("[hooks]\ndeadline_ms = 2000\n")
    assert load_config(world.home, None, {}).values == {}


def test_gate_gets_its_numbers(world):
    assert gate_policy(Config()) == GatePolicy()
    loaded = world.load(
        project="[gate]\nsession_rearm_lines = 7\n[circuit_breaker]\nmax_blocks = 1\n"
        "[gate.auto_skip]\nenabled = false\ndecider = 'always'\n"
    )
    always = AutoSkipDecider.ALWAYS
    assert gate_policy(loaded.config) == GatePolicy(
        max_blocks=1, auto_skip_enabled=False, auto_skip_decider=always, session_rearm_lines=7
    )


TOML_VALUES = st.sampled_from(
    [
        *("true", "nan", "inf", "-1", "0", "7", "0.5", "1979-05-27", '"agent"', '""', '"\\u0000"'),
        *("[]", "{}", "[1]", '["a"]', "[[1]]", "{beads = 1}", "{beads = true}", "{beads = [{}]}"),
    ]
)


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(sorted(config_keys())), TOML_VALUES)
def test_whatever_one_key_holds_the_others_stand(key, text):
    """Every value is either taken or refused; nothing raises, and nothing else changes."""
    table, _, name = key.rpartition(".")
    with tempfile.TemporaryDirectory() as home:
        Path(home, "config.toml").write_text(f"[{table}]\n{name} = {text}\n")
        loaded = load_config(Path(home), None, {})
    for other in config_keys():
        if other != key:
            assert value(loaded.config, other) == value(Config(), other)
    if loaded.problems and not key.endswith("overrides"):
        assert value(loaded.config, key) == value(Config(), key)
    assert (
        loaded.problems
        or text == "{}"
        or any(origin.source is Source.USER for origin in loaded.origins.values())
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[gate]\nsession = never\n[retrieval]\nmax_chars = 900\n", 2),
        ("retrieval.max_chars = 900\n[decay\nx = 1\n", 2),
        ("[retrieval]\nmax_chars = 900\n[gate]\n[retrieval]\n", 4),
        (f"[gate]\nsession = never\n[retrieval]\nmax_chars = 900\n{acme('a {id}') * 2}", 2),
    ],
)
def test_a_table_that_cannot_be_read_costs_no_other(world, text, line):
    loaded = world.load(project=text)
    assert loaded.config.retrieval.max_chars == 900
    assert len(loaded.config.ticketing.patterns) == text.count("acme")
    (problem,) = loaded.problems
    assert f"line {line}" in str(problem)


@pytest.mark.parametrize("text", ["[\n" * 100_000, "".join(f"x{n} = 1\n" for n in range(20_000))])
def test_a_file_full_of_mistakes_costs_little(world, text):
    started = time.process_time()
    loaded = world.load(project=text, user="[retrieval]\nmax_chars = 900\n")
    assert time.process_time() - started < 5
    assert loaded.config.retrieval.max_chars == 900
    assert 0 < len(loaded.problems) <= 101

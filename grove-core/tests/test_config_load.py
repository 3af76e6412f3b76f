"""Layers, mistakes and origins of the configuration."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.config import (
    Config,
    RetrievalStrategy,
    SessionGate,
    Source,
    StorageLayout,
    WriteGateMode,
    config_keys,
    gate_policy,
    load_config,
)
from grove_core.model.gate import AutoSkipDecider, GatePolicy


class World:
    """A home and a project whose files are written by a test."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.root = base / "project"
        self.home.mkdir()
        (self.root / ".grove").mkdir(parents=True)
        self.user_file = self.home / "config.toml"
        self.project_file = self.root / ".grove" / "config.toml"

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


def messages(loaded):
    return [str(problem) for problem in loaded.problems]


DEFAULTS = {
    "ticketing.discovery": ("tissue", "beads", "tasks", "session"),
    "ticketing.overrides": {},
    "ticketing.patterns": (),
    "backends.discovery": ("config", "total-recall", "mcp", "markdown"),
    "backends.primary": None,
    "backends.personal": "markdown",
    "backends.team_copies": True,
    "backends.overrides": {},
    "gate.session": SessionGate.INITIALIZED,
    "gate.session_rearm_lines": 50,
    "gate.auto_skip.enabled": True,
    "gate.auto_skip.line_threshold": 5,
    "gate.auto_skip.decider": AutoSkipDecider.AGENT,
    "gate.write_gate.mode": WriteGateMode.ENFORCE,
    "circuit_breaker.max_blocks": 3,
    "circuit_breaker.cooldown_seconds": 300,
    "decay.passive_duration_days": 90,
    "decay.immunity_hit_rate": 0.8,
    "retrieval.strategy": RetrievalStrategy.MODERATE,
    "retrieval.max_injections": 5,
    "retrieval.max_chars": 4000,
    "retrieval.on_prompt": True,
    "retrieval.on_file": True,
    "retrieval.recency_days_to_30_percent": 90,
    "retrieval.max_per_prompt": 3,
    "retrieval.max_per_session": 8,
    "retrieval.max_per_file_session": 5,
    "storage.layout": StorageLayout.SINGLE,
    "secrets.allow": (),
    "hooks.deadline_ms": 2500,
}


def test_defaults_without_any_file(world):
    loaded = world.load()
    assert loaded.config == Config()
    assert {key: value(loaded.config, key) for key in DEFAULTS} == DEFAULTS
    assert set(config_keys()) == {*DEFAULTS, "retrieval.engine"}
    assert loaded.problems == ()
    assert loaded.plugin_sections == {}
    assert {origin.source for origin in loaded.origins.values()} == {Source.DEFAULT}
    assert list(loaded.origins) == list(config_keys())


def test_environment_over_project_over_user_over_default(world):
    user = "[circuit_breaker]\nmax_blocks = 2\ncooldown_seconds = 20\n[hooks]\ndeadline_ms = 2000\n"
    project = "[circuit_breaker]\nmax_blocks = 4\ncooldown_seconds = 40\n"
    loaded = world.load(user, project, GROVE_CIRCUIT_BREAKER_MAX_BLOCKS="6")
    assert loaded.problems == ()
    assert loaded.config.circuit_breaker.max_blocks == 6
    assert loaded.config.circuit_breaker.cooldown_seconds == 40
    assert loaded.config.hooks.deadline_ms == 2000
    assert loaded.config.retrieval.max_chars == 4000
    origins = loaded.origins
    assert origins["circuit_breaker.max_blocks"].variable == "GROVE_CIRCUIT_BREAKER_MAX_BLOCKS"
    assert origins["circuit_breaker.cooldown_seconds"].file == world.project_file
    assert origins["hooks.deadline_ms"].file == world.user_file
    assert origins["hooks.deadline_ms"].source is Source.USER
    assert str(origins["retrieval.max_chars"]) == "default"


def test_project_can_set_a_key_back_to_its_default(world):
    user = '[gate.auto_skip]\nenabled = false\n[backends]\nprimary = "mcp"\ndiscovery = ["mcp"]\n'
    project = '[gate.auto_skip]\nenabled = true\n[backends]\nprimary = ""\n'
    loaded = world.load(user, project)
    assert loaded.config.gate.auto_skip.enabled is True
    assert loaded.config.backends.primary is None
    assert loaded.config.backends.discovery == ("mcp",)
    assert loaded.origins["backends.primary"].source is Source.PROJECT
    assert loaded.problems == ()


@pytest.mark.parametrize(
    ("variable", "text", "key", "expected"),
    [
        ("GROVE_GATE_AUTO_SKIP_LINE_THRESHOLD", "12", "gate.auto_skip.line_threshold", 12),
        ("GROVE_GATE_AUTO_SKIP_ENABLED", "Off", "gate.auto_skip.enabled", False),
        ("GROVE_RETRIEVAL_ON_PROMPT", "0", "retrieval.on_prompt", False),
        ("GROVE_RETRIEVAL_ON_PROMPT", "no", "retrieval.on_prompt", False),
        ("GROVE_RETRIEVAL_ON_PROMPT", "TRUE", "retrieval.on_prompt", True),
        ("GROVE_GATE_AUTO_SKIP_DECIDER", "never", "gate.auto_skip.decider", AutoSkipDecider.NEVER),
        ("GROVE_TICKETING_DISCOVERY", "beads, tissue,", "ticketing.discovery", ("beads", "tissue")),
        ("GROVE_TICKETING_DISCOVERY", "", "ticketing.discovery", ()),
        ("GROVE_BACKENDS_PRIMARY", "mcp", "backends.primary", "mcp"),
        ("GROVE_BACKENDS_PRIMARY", "", "backends.primary", None),
        ("GROVE_DECAY_IMMUNITY_HIT_RATE", "1", "decay.immunity_hit_rate", 1.0),
        ("GROVE_DECAY_IMMUNITY_HIT_RATE", "0.25", "decay.immunity_hit_rate", 0.25),
        ("GROVE_STORAGE_LAYOUT", "spread", "storage.layout", StorageLayout.SPREAD),
        ("GROVE_TICKETING_OVERRIDES_BEADS", "no", "ticketing.overrides", {"beads": False}),
        (
            "GROVE_BACKENDS_OVERRIDES_TOTAL_RECALL",
            "1",
            "backends.overrides",
            {"total-recall": True},
        ),
    ],
)
def test_environment_variables(world, variable, text, key, expected):
    loaded = world.load(**{variable: text})
    assert loaded.problems == ()
    assert value(loaded.config, key) == expected


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        ("GROVE_GATE_AUTO_SKIP_ENABLED", "maybe", "must be true or false"),
        ("GROVE_GATE_AUTO_SKIP_ENABLED", "", "must be true or false"),
        ("GROVE_GATE_AUTO_SKIP_ENABLED", "2", "must be true or false"),
        ("GROVE_TICKETING_OVERRIDES_BEADS", "perhaps", "ticketing.overrides.beads must be true"),
        ("GROVE_CIRCUIT_BREAKER_MAX_BLOCKS", "many", "must be a whole number"),
        ("GROVE_CIRCUIT_BREAKER_MAX_BLOCKS", "2.5", "must be a whole number"),
        ("GROVE_CIRCUIT_BREAKER_MAX_BLOCKS", "7", "must be from 1 to 6, not 7"),
        ("GROVE_DECAY_IMMUNITY_HIT_RATE", "nan", "finite"),
        ("GROVE_GATE_SESSION", "sometimes", '"initialized", "always", "never"'),
        ("GROVE_TICKETING_PATTERNS", "x", "must be a list"),
        ("GROVE_GATE_AUTOSKIP_ENABLED", "1", "did you mean GROVE_GATE_AUTO_SKIP_ENABLED?"),
    ],
)
def test_mistakes_in_the_environment(world, variable, text, words):
    loaded = world.load(**{variable: text})
    assert loaded.config == Config()
    (message,) = messages(loaded)
    assert message.startswith(f"{variable}: ")
    assert words in message


def test_variables_of_other_meaning_are_left_alone(world):
    loaded = world.load(GROVE_HOME="/x", GROVE_PLUGINS="", GROVE_SESSION_ID="s", GATE_SESSION="x")
    assert loaded.problems == ()


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("[circuit_breaker]\nmax_blocks = true", "circuit_breaker.max_blocks", "not true"),
        ("[circuit_breaker]\nmax_blocks = 3.0", "circuit_breaker.max_blocks", "a whole number"),
        ("[circuit_breaker]\nmax_blocks = '3'", "circuit_breaker.max_blocks", 'not "3"'),
        ("[circuit_breaker]\nmax_blocks = 0", "circuit_breaker.max_blocks", "from 1 to 6, not 0"),
        ("[circuit_breaker]\ncooldown_seconds = 0", "circuit_breaker.cooldown_seconds", "from 1"),
        ("[gate]\nsession_rearm_lines = 0", "gate.session_rearm_lines", "at least 1, not 0"),
        ("[hooks]\ndeadline_ms = 99", "hooks.deadline_ms", "from 100 to 60000"),
        ("[hooks]\ndeadline_ms = 60001", "hooks.deadline_ms", "from 100 to 60000"),
        ("[decay]\nimmunity_hit_rate = 1.5", "decay.immunity_hit_rate", "from 0 to 1"),
        ("[decay]\nimmunity_hit_rate = nan", "decay.immunity_hit_rate", "finite"),
        ("[decay]\nimmunity_hit_rate = true", "decay.immunity_hit_rate", "must be a number"),
        ("[gate.auto_skip]\nenabled = 1", "gate.auto_skip.enabled", "true or false, not 1"),
        ("[gate]\nsession = 'ALWAYS'", "gate.session", "must be one of"),
        ("[ticketing]\ndiscovery = 'beads'", "ticketing.discovery", "must be a list"),
        ("[ticketing]\ndiscovery = ['beads', 1]", "ticketing.discovery", "number 2 must be text"),
        ("[ticketing]\npatterns = ['x']", "ticketing.patterns", "number 1 must be a table"),
        ("[ticketing.overrides]\nbeads = 'no'", "ticketing.overrides.beads", "true or false"),
        ("[ticketing]\noverrides = false", "ticketing.overrides", "must be a table"),
        ("gate = 3", "gate", "must be a table, not 3"),
        ("tickets = 3", "tickets", "must be a table"),
        ("[backends]\nmarkdown = 3", "backends.markdown", "is not known"),
        ("[gate]\nsesion = 'never'", "gate.sesion", "did you mean gate.session?"),
        ("[gate.autoskip]\nenabled = true", "gate.autoskip", "did you mean gate.auto_skip?"),
        ("[retreival]\nmax_chars = 500", "retreival", "did you mean retrieval?"),
        ("colour = 'green'", "colour", "is not known"),
        ("[storage]\nlayout = 1979-05-27", "storage.layout", "must be one of"),
    ],
)
def test_mistakes_in_a_file_cost_one_key(world, text, key, words):
    loaded = world.load("[retrieval]\nmax_injections = 7\n", text)
    (problem,) = loaded.problems
    assert problem.key == key
    assert problem.origin.file == world.project_file
    assert words in problem.message
    assert loaded.config.retrieval.max_injections == 7
    assert value(loaded.config, "retrieval.max_chars") == 4000
    assert str(problem).startswith(f"{world.project_file}: {key} ")


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
        (b"[gate]\nsession = 'never'\nsession = 'never'\n", "line 3"),
        (b"[gate]\nx = [1,\n", "line 2"),
        (b"[gate]\nx = '''abc", "line 2"),
        (b"[gate]\n# \xff\n", "not UTF-8 (at line 2)"),
        (b"x = " + b"[" * 100_000, "TOML"),
        (b"x = " + b"9" * 10_000, "TOML"),
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


def test_file_that_is_no_file_is_a_problem(world):
    world.user_file.mkdir()
    (problem,) = world.load().problems
    assert problem.origin.file == world.user_file
    world.project_file.symlink_to("/dev/zero")
    assert len(world.load().problems) == 2


def test_byte_order_mark_and_dos_line_ends(world):
    loaded = world.load(b"\xef\xbb\xbf[hooks]\r\ndeadline_ms = 2000\r\n")
    assert loaded.problems == ()
    assert loaded.config.hooks.deadline_ms == 2000


def test_text_of_a_stranger_is_shown_short_and_plain(world):
    project = '[gate]\nsession = "\\u001b[31m' + "x" * 500 + '"\n"\\u001b]0;x\\u0007" = 1\n'
    for message in messages(world.load(project=project)):
        assert message.isprintable()
        assert len(message) < 400


@pytest.mark.parametrize(
    "table",
    [
        f'"\\u001b[31m{"x" * 500}" = 1',
        f'name = "acme"\ncommand = "acme {{\\u001b[31m{"x" * 500}}}"',
        f'name = "acme"\ncommand = "acme --{{id}}{"x" * 500}"',
        f'name = "{"x" * 500}"\ncommand = "acme"',
    ],
)
def test_a_strangers_pattern_is_shown_short_and_plain(world, table):
    (message,) = messages(world.load(project=f"[[ticketing.patterns]]\n{table}\n"))
    assert "holds a wrong pattern" in message
    assert message.isprintable()
    assert len(message) < 400


def test_overrides_of_all_layers_are_united(world):
    loaded = world.load(
        "[ticketing.overrides]\nbeads = false\ntasks = true\n",
        "[ticketing.overrides]\nbeads = true\n",
        GROVE_TICKETING_OVERRIDES_ACME="off",
    )
    assert loaded.config.ticketing.overrides == {"beads": True, "tasks": True, "acme": False}
    assert loaded.origins["ticketing.overrides.beads"].source is Source.PROJECT
    assert loaded.origins["ticketing.overrides.tasks"].source is Source.USER


def test_plugin_sections_are_handed_on_raw_with_their_origins(world):
    loaded = world.load(
        '[backends.mcp]\ncommand = "user"\ntimeout = 3\n[tickets.beads]\nprogram = "bd"\n',
        '[backends.mcp]\ncommand = "project"\n',
    )
    assert loaded.problems == ()
    assert loaded.plugin_sections == {
        "backends.mcp": {"command": "project", "timeout": 3},
        "tickets.beads": {"program": "bd"},
    }
    assert loaded.origins["backends.mcp.command"].source is Source.PROJECT
    assert loaded.origins["backends.mcp.timeout"].source is Source.USER


ACME = """
[[ticketing.patterns]]
name = "acme"
command = "acme finish|close {id} --state=done"
options_with_values = ["--reason"]
"""
OTHER = """
[[ticketing.patterns]]
name = "other"
command = "other close {ids}"
"""


def patterns(loaded):
    return [one["name"] for one in loaded.config.ticketing.patterns]


def test_patterns_are_taken_as_they_are(world):
    loaded = world.load(project=ACME + OTHER)
    assert loaded.problems == ()
    assert loaded.config.ticketing.patterns == (
        {
            "name": "acme",
            "command": "acme finish|close {id} --state=done",
            "options_with_values": ["--reason"],
        },
        {"name": "other", "command": "other close {ids}"},
    )
    assert loaded.origins["ticketing.patterns"].file == world.project_file


def test_a_projects_patterns_stand_in_place_of_the_users(world):
    assert patterns(world.load(user=ACME)) == ["acme"]
    loaded = world.load(user=ACME, project=OTHER)
    assert patterns(loaded) == ["other"]
    assert loaded.origins["ticketing.patterns"].source is Source.PROJECT
    assert patterns(world.load(user=ACME, project="[ticketing]\npatterns = []\n")) == []


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("name = 'acme'", '(acme) needs a command, such as "acme close {id}"'),
        ("command = 'acme close {id}'", "needs a name of lower-case letters"),
        ("name = 'acme'\ncommand = 'acme close {key}'", "(acme) has {key} in its command"),
        (
            "name = 'acme'\ncommand = \"acme '\"",
            "(acme) has a command with a quote that never ends",
        ),
        ("name = 'acme'\ncommand = 'acme'\nsystem = 'x'", "has a key that is not known, system"),
    ],
)
def test_a_wrong_pattern_costs_that_key_only(world, pattern, words):
    loaded = world.load(
        OTHER,
        f"{ACME}[[ticketing.patterns]]\n{pattern}\n[ticketing.overrides]\nbeads = false\n",
    )
    (problem,) = loaded.problems
    assert problem.key == "ticketing.patterns"
    assert problem.origin.file == world.project_file
    assert problem.message.startswith("holds a wrong pattern: number 2 ")
    assert words in problem.message
    assert patterns(loaded) == ["other"]
    assert loaded.config.ticketing.overrides == {"beads": False}


def test_users_file_is_no_projects_file(tmp_path):
    home = tmp_path / ".grove"
    home.mkdir()
    (home / "config.toml").write_text("[hooks]\ndeadline_ms = 2000\nodd = 1\n")
    loaded = load_config(home, tmp_path, {})
    assert loaded.origins["hooks.deadline_ms"].source is Source.USER
    assert len(loaded.problems) == 1


def test_outside_a_project(world):
    world.project_file.write_text("[hooks]\ndeadline_ms = 2000\n")
    assert load_config(world.home, None, {}).config == Config()


def test_gate_gets_its_numbers(world):
    assert gate_policy(Config()) == GatePolicy()
    loaded = world.load(
        project="[gate]\nsession_rearm_lines = 7\n[circuit_breaker]\nmax_blocks = 1\n"
        "cooldown_seconds = 9\n[gate.auto_skip]\nenabled = false\nline_threshold = 2\n"
        "decider = 'always'\n"
    )
    assert gate_policy(loaded.config) == GatePolicy(
        max_blocks=1,
        cooldown_seconds=9,
        auto_skip_enabled=False,
        auto_skip_line_threshold=2,
        auto_skip_decider=AutoSkipDecider.ALWAYS,
        session_rearm_lines=7,
    )


TOML_SCALARS = st.one_of(
    st.sampled_from(["true", "false", "nan", "inf", "1979-05-27", '"agent"', '""', "[]", "{}"]),
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.text(max_size=5).map(json.dumps),
)
TOML_VALUES = st.recursive(
    TOML_SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | inner.map(lambda item: f"{{beads = {item}}}")
    ),
    max_leaves=6,
)


@settings(deadline=None)
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


def test_loading_stays_light(tmp_path):
    """Neither heavy packages nor, without a file, a TOML reader are imported."""
    code = (
        "import sys; from pathlib import Path; from grove_core.config import load_config;"
        f"load_config(Path({str(tmp_path)!r}), None, {{}}); print(*sys.modules)"
    )
    environment = {"PATH": os.environ.get("PATH", "")}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    loaded = set(result.stdout.split())
    assert not loaded & {"tomllib", "cattrs", "rich", "logging", "difflib", "subprocess", "json"}


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("# nothing\n\n[gate]\n  # session = 1\n[gate.auto_skip]\n", 0),
        ("[gate]\n[gate]\n", 1),
        ("[nowhere]\n", 1),
        ("[gate\n", 1),
        ("[gate]\nsession = 7\n", 1),
    ],
    ids=["comments and known tables", "a table twice", "an unknown table", "no TOML", "a value"],
)
def test_a_file_that_sets_nothing_is_known_without_a_parser(world, text, problems):
    assert len(world.load(user=text).problems) == problems


@pytest.mark.parametrize("text", ["zz", "", "c4d475", "E785020CCC95F2C8", "e785020ccc95f2c8a"])
def test_what_is_no_digest_is_no_false_alarm(world, text):
    loaded = world.load(user=f'[secrets]\nallow = ["e785020ccc95f2c8", "{text}"]\n')
    (problem,) = loaded.problems
    assert problem.key == "secrets.allow"
    assert "number 2" in problem.message
    assert not text or text not in problem.message
    assert loaded.config.secrets.allow == ()
    assert world.load(user='[secrets]\nallow = ["e785020ccc95f2c8"]\n').problems == ()

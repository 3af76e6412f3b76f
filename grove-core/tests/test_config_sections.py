"""The file that `grove init` writes, the change of one key in it, and the sections of plugins."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve, field, frozen
from hypothesis import given
from hypothesis import strategies as st

from grove_core.config.edit import render_default_config, with_setting
from grove_core.config.load import Source, load_config
from grove_core.config.plugin_section import PluginSection, section_of
from grove_core.config.schema import config_keys, unknown_key
from grove_core.errors import ConfigError
from grove_core.model.value import TRUSTED_ALONE, TRUSTED_ONLY, USER_ONLY


def read(kind, written, own=None, untrusted=()):
    """The settings, and what is wrong, where the user has agreed to all other requests."""
    section = PluginSection(kind, written, written if own is None else own)
    agreed = {one.digest for key, one in section.requests.items() if key not in untrusted}
    found, problems = evolve(section, trusted=lambda: agreed).read()
    return found, [f"{one.key} {one.message}".strip() for one in problems]


def requests(project, own, kind):
    return PluginSection(kind, {**own, **project}, own, "backends.acme").requests


@frozen
class StoreSettings:
    url: str = field(default="", metadata=USER_ONLY)
    retry_count: int = 3
    hosts: tuple[str, ...] = ()


def test_variables_stand_for_keys_of_plugins(tmp_path):
    environment = {
        "GROVE_BACKENDS_ACME_STORE_URL": "acme://here",
        "GROVE_BACKENDS_ACME_STORE_RETRY_COUNT": "5",
        "GROVE_BACKENDS_ACME_STORE_HOSTS": "a, b",
        "GROVE_BACKENDS_OTHER_KEY": "x",
    }
    project = "[backends.acme-store]\nretry_count = 9\nurl = 'acme://stranger'\n"
    (tmp_path / ".grove").mkdir()
    (tmp_path / ".grove" / "config.toml").write_text(project)
    loaded = load_config(tmp_path / "home", tmp_path, environment)
    settings, problems = section_of(loaded, "backends.acme-store", StoreSettings).read()
    assert loaded.problems == ()
    assert settings == StoreSettings(url="acme://here", retry_count=5, hosts=("a", "b"))
    assert problems == []
    assert set(loaded.plugin_variables) == set(environment)


@pytest.mark.parametrize(
    "variable", ["GROVE_BACKENDS_PRIMRAY", "GROVE_TICKETS_X", "GROVE_GATE_X_Y"]
)
def test_what_can_be_no_plugins_key_is_named_at_once(tmp_path, variable):
    loaded = load_config(tmp_path, None, {variable: "x"})
    assert [problem.origin.variable for problem in loaded.problems] == [variable]


def test_uncommented_file_says_the_defaults(tmp_path):
    text = re.sub(r"^# ?", "", render_default_config(), flags=re.MULTILINE)
    (tmp_path / "config.toml").write_text(text)
    loaded = load_config(tmp_path, None, {})
    assert loaded.problems == ()
    declared = config_keys()
    assert loaded.values == {key: declared[key].default for key in loaded.values}
    said = {key for key, origin in loaded.origins.items() if origin.source is Source.USER}
    assert said == {key for key in config_keys() if not key.endswith(".overrides")}


@frozen(kw_only=True)
class AcmeSettings:
    url: str
    retries: int = 2
    timeout: float = 1.5
    verbose: bool = False
    hosts: tuple[str, ...] = ()
    words: list[str] = field(factory=list)
    token_file: str | None = None
    variables: dict[str, str] = field(factory=dict)
    anything: Mapping[str, Any] = field(factory=dict)
    size: int = field(default=1)

    @size.validator
    def _check(self, attribute, value):
        if value > 9:
            raise ValueError("size is too large")


WRITTEN = {
    "url": "u",
    "retries": 3,
    "timeout": 2,
    "verbose": True,
    "hosts": ["a", "b"],
    "words": ["c"],
    "token_file": "",
    "variables": {"A": "1"},
    "anything": {"a": [1, 2.5, {"b": ["c"]}]},
}
READ = AcmeSettings(
    **WRITTEN | {"timeout": 2.0, "hosts": ("a", "b"), "token_file": None, "size": 1}
)


@pytest.mark.parametrize(
    ("extra", "messages"),
    [
        ({}, []),
        ({"retries": True}, ["retries must be a whole number, not true"]),
        ({"timeout": "fast"}, ['timeout must be a number, not "fast"']),
        ({"hosts": [1]}, ["hosts holds a wrong value: number 1 must be text, not 1"]),
        ({"variables": {"A": 1}}, ["variables holds a wrong value: A must be text, not 1"]),
        ({"anything": "t"}, ['anything must be a table, not "t"']),
        ({"retrys": 1}, ["retrys is not known; did you mean retries?"]),
    ],
)
def test_a_section_becomes_settings_and_a_mistake_costs_one_key(extra, messages):
    settings, problems = read(AcmeSettings, WRITTEN | extra)
    assert problems == messages
    usual = AcmeSettings(url="u")
    costs = {name: getattr(usual, name) for name in extra if hasattr(usual, name)}
    assert settings == evolve(READ, **costs)
    assert isinstance(settings.timeout, float)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({}, "url is missing"),
        ({"url": 1}, "url must be text, not 1"),
        ({"url": "u", "size": 10}, "size is too large"),
    ],
)
def test_settings_that_cannot_be_built(section, message):
    assert read(AcmeSettings, section) == (None, [message])


@frozen
class Asking:
    """A plugin's section with keys that a project may set with trust."""

    command: str = field(default="", metadata=TRUSTED_ONLY)
    env: Mapping[str, str] = field(factory=dict, metadata=TRUSTED_ONLY)
    only_mine: str = field(default="", metadata=USER_ONLY)
    size: int = 1


@pytest.mark.parametrize(
    ("project", "own", "asked"),
    [
        ({"command": "run", "size": 2}, {}, {"command": '"run"'}),
        ({"command": "run"}, {"command": "mine"}, {"command": '"run"'}),
        ({}, {"command": "mine"}, {}),
        ({"env": {"b": "1", "a": "ä"}}, {}, {"env": '{"a": "ä", "b": "1"}'}),
        ({"command": 3, "only_mine": "x", "surplus": "y"}, {}, {"command": "3"}),
    ],
)
def test_what_a_project_asks_for_is_what_differs_from_the_users_own(project, own, asked):
    found = requests(project, own, Asking)
    assert {key: one.content for key, one in found.items()} == asked
    assert requests(project, own, dict) == {}
    assert all(one.source == ".grove/config.toml" for one in found.values())


@pytest.mark.parametrize(
    ("project", "own", "only_mine"),
    [
        ({"only_mine": "rm"}, {}, ""),
        ({"only_mine": "rm"}, {"only_mine": "mine"}, "mine"),
        ({"only_mine": "mine"}, {"only_mine": "mine"}, "mine"),
    ],
)
def test_a_project_does_not_set_what_is_the_users_alone(project, own, only_mine):
    found, problems = read(Asking, {"size": 2, **own, **project}, own)
    assert found == Asking(only_mine=only_mine, size=2)
    message = "only_mine counts only in your own configuration, and not in a project's"
    assert problems == ([message] if project != own else [])


@pytest.mark.parametrize(
    ("untrusted", "command", "refused"), [({"command"}, "mine", True), (set(), "run", False)]
)
def test_what_the_user_has_not_agreed_to_does_not_count(untrusted, command, refused):
    written, own = {"command": "run", "size": 2}, {"command": "mine"}
    found, problems = read(Asking, written, own, untrusted=untrusted)
    assert found == Asking(command=command, size=2)
    message = "command needs `grove trust`: a project's value counts only once you have agreed"
    assert problems == ([message] if refused else [])


def test_what_the_user_has_agreed_to_stands_alone_or_not_at_all():
    """The user's secrets do not go to the project's program; half of its words are none of them."""
    project, own = {"command": "run", "env": {"a": "1"}}, {"env": {"token": "${MINE}"}}
    written = {**own, **project}
    found, problems = read(Asking, written, own)
    assert (found, problems) == (Asking(**project), [])
    found, problems = read(Asking, written, own, untrusted={"env"})
    assert found == Asking(env=own["env"])
    assert [one.split(" ", 1)[0] for one in problems] == ["command", "env"]
    found, problems = read(Asking, {**own, "command": "run"}, own)
    assert found == Asking(command="run")
    assert problems == [
        "env of your own configuration does not count beside what the project sets there"
    ]


@frozen
class Named(Asking):
    """The same with a key that means the same whatever the others say."""

    name: str = field(default="", metadata=TRUSTED_ALONE)


def test_a_name_counts_beside_what_the_user_has_set():
    own, project = {"command": "mine"}, {"name": "shop"}
    assert [*requests(project, own, Named)] == ["name"]
    found, problems = read(Named, {**own, **project}, own)
    assert (found, problems) == (Named(command="mine", name="shop"), [])
    found, problems = read(Named, {**own, **project}, own, untrusted={"name"})
    assert found == Named(command="mine")
    assert [one.split(" ", 1)[0] for one in problems] == ["name"]
    written = {**own, **project, "command": "run"}
    found, _ = read(Named, written, own, untrusted={"name"})
    assert found == Named(command="run")


FILES = [
    "",
    render_default_config(),
    "[storage] # why\n  layout = 'single' # and why\n\n[gate]\n",
    'storage.layout = "single"\n',
    '[other]\ntext = """\n[storage]\nlayout = "single"\n"""\n',
]


@pytest.mark.parametrize("text", FILES)
def test_one_line_changes(text):
    after = with_setting(text, "storage.layout", "spread")
    assert tomllib.loads(after)["storage"] == {"layout": "spread"}
    assert with_setting(after, "storage.layout", "spread") == after
    unset = tomllib.loads(with_setting(after, "storage.layout", None))
    assert "layout" not in unset.get("storage", {})
    before_lines, after_lines = text.splitlines(), after.splitlines()
    kept = sum(line in after_lines for line in before_lines)
    assert len(before_lines) - kept <= 1
    assert len(after_lines) - len(before_lines) <= 3


def test_no_key_is_taken_for_its_own_section():
    assert unknown_key("backends.typo", ["backends", "gate"]) == "is not known"


def test_a_key_that_is_removed_gives_its_comment_back():
    text = render_default_config()
    for key, value in ("storage.layout", "spread"), ("circuit_breaker.max_blocks", 4):
        assert with_setting(with_setting(text, key, value), key, None) == text


@pytest.mark.parametrize("text", ["no toml", "storage = 1\n"])
def test_what_is_not_understood_is_left_to_the_person(text):
    with pytest.raises(ConfigError):
        with_setting(text, "storage.layout", "spread")


@given(
    st.lists(
        st.sampled_from(["[storage]", "[gate]", 'layout = "single"', "# layout = 1", "", "x = 1"])
    )
)
def test_nothing_else_is_ever_changed(lines):
    text = "\n".join(lines)
    try:
        before = tomllib.loads(text)
        after = tomllib.loads(with_setting(text, "storage.layout", "spread"))
    except (tomllib.TOMLDecodeError, ConfigError):
        return
    assert after.pop("storage") == before.pop("storage", {}) | {"layout": "spread"}
    assert after == before

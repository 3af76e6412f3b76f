"""The file that ``grove init`` writes, and the sections of plugins."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from attrs import field, frozen

from grove_core.config import Config, Source, config_keys, load_config
from grove_core.config.plugin_section import (
    requests_of_section,
    section_of,
    validate_plugin_section,
)
from grove_core.config.template import render_default_config
from grove_core.model.value import TRUSTED_ALONE, TRUSTED_ONLY, USER_ONLY


def test_fresh_file_says_nothing(tmp_path):
    (tmp_path / "config.toml").write_text(render_default_config())
    loaded = load_config(tmp_path, None, {})
    assert loaded.config == Config()
    assert loaded.problems == ()
    assert {origin.source for origin in loaded.origins.values()} == {Source.DEFAULT}


@frozen
class StoreSettings:
    url: str = field(default="", metadata=USER_ONLY)
    retry_count: int = 3
    hosts: tuple[str, ...] = ()


def acme(environment, tmp_path, project=""):
    (tmp_path / ".grove").mkdir()
    (tmp_path / ".grove" / "config.toml").write_text(project)
    loaded = load_config(tmp_path / "home", tmp_path, environment)
    written, own = section_of(loaded, "backends.acme-store", StoreSettings)
    return loaded, *validate_plugin_section(written, StoreSettings, own)


def test_variables_stand_for_keys_of_plugins(tmp_path):
    environment = {
        "GROVE_BACKENDS_ACME_STORE_URL": "acme://here",
        "GROVE_BACKENDS_ACME_STORE_RETRY_COUNT": "5",
        "GROVE_BACKENDS_ACME_STORE_HOSTS": "a, b",
        "GROVE_BACKENDS_OTHER_KEY": "x",
    }
    project = "[backends.acme-store]\nretry_count = 9\nurl = 'acme://stranger'\n"
    loaded, settings, problems = acme(environment, tmp_path, project)
    assert loaded.problems == ()
    assert settings == StoreSettings(url="acme://here", retry_count=5, hosts=("a", "b"))
    assert problems == []
    assert set(loaded.plugin_variables) == set(environment)


def test_a_wrong_variable_of_a_plugin_costs_one_key(tmp_path):
    environment = {"GROVE_BACKENDS_ACME_STORE_RETRY_COUNT": "many"}
    _, settings, problems = acme(environment, tmp_path)
    assert settings == StoreSettings()
    assert problems == ['retry_count must be a whole number, not "many"']


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
    assert loaded.config == Config()
    said = {key for key, origin in loaded.origins.items() if origin.source is Source.USER}
    assert said == {key for key in config_keys() if not key.endswith(".overrides")}


def test_every_key_is_described_in_lines_of_moderate_length():
    lines = render_default_config().splitlines()
    for declared in config_keys().values():
        place = next(
            number
            for number, line in enumerate(lines)
            if line.startswith(f"# {declared.key.rpartition('.')[2]} = ")
        )
        assert lines[place - 1].startswith("## ")
        assert declared.setting.help.endswith(".")
    assert max(map(len, lines)) <= 110
    assert tomllib.loads("\n".join(lines))


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


def test_plugin_section_becomes_settings():
    section = {
        "url": "u",
        "retries": 3,
        "timeout": 2,
        "verbose": True,
        "hosts": ["a", "b"],
        "words": ["c"],
        "token_file": "",
        "variables": {"A": "1"},
    }
    settings, problems = validate_plugin_section(section, AcmeSettings)
    assert problems == []
    assert settings == AcmeSettings(
        url="u",
        retries=3,
        timeout=2.0,
        verbose=True,
        hosts=("a", "b"),
        words=["c"],
        variables={"A": "1"},
    )
    assert isinstance(settings.timeout, float)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"retries": True}, "retries must be a whole number, not true"),
        ({"retries": "2"}, 'retries must be a whole number, not "2"'),
        ({"timeout": "fast"}, 'timeout must be a number, not "fast"'),
        ({"hosts": "a"}, 'hosts must be a list, not "a"'),
        ({"hosts": [1]}, "hosts holds a wrong value: number 1 must be text, not 1"),
        ({"token_file": 1}, "token_file must be text, not 1"),
        ({"variables": {"A": 1}}, "variables holds a wrong value: A must be text, not 1"),
        ({"retrys": 1}, "retrys is not known; did you mean retries?"),
    ],
)
def test_mistake_in_a_plugin_section_costs_one_key(extra, message):
    settings, problems = validate_plugin_section(
        {"url": "u", "verbose": True, **extra}, AcmeSettings
    )
    assert problems == [message]
    assert settings == AcmeSettings(url="u", verbose=True)


@pytest.mark.parametrize(
    ("section", "message"), [({}, "url is missing"), ({"url": 1}, "url must be text, not 1")]
)
def test_settings_that_cannot_be_built(section, message):
    assert validate_plugin_section(section, AcmeSettings) == (None, [message])


@frozen
class TextAnnotations:
    """What ``from __future__ import annotations`` leaves behind."""

    retries: "int" = 1
    hosts: "tuple[str, ...]" = ()


def test_annotations_in_text_are_understood():
    assert validate_plugin_section({"retries": "x"}, TextAnnotations) == (
        TextAnnotations(),
        ['retries must be a whole number, not "x"'],
    )


@frozen
class NoSuchAnnotation:
    retries: "Nowhere" = 1  # noqa: F821


@frozen
class Choosy:
    size: int = field(default=1)

    @size.validator
    def _check(self, attribute, value):
        if value > 9:
            raise ValueError("size is too large")


def test_a_plugins_own_faults_are_named_and_do_not_raise():
    settings, (message,) = validate_plugin_section({}, NoSuchAnnotation)
    assert settings is None
    assert "NoSuchAnnotation" in message
    assert validate_plugin_section({}, dict)[0] is None
    assert validate_plugin_section({"size": 10}, Choosy) == (None, ["size is too large"])
    assert validate_plugin_section({"size": 9}, Choosy) == (Choosy(size=9), [])


@frozen
class Guarded:
    """A plugin's section with a key that runs a program."""

    command: str = field(default="", metadata=USER_ONLY)
    size: int = 1


@pytest.mark.parametrize(
    ("project", "own", "settings", "refused"),
    [
        ({"command": "rm"}, {}, Guarded(), True),
        ({"command": "rm", "size": 2}, {"command": "mine"}, Guarded("mine", 2), True),
        ({"size": 2}, {"command": "mine"}, Guarded("mine", 2), False),
        ({"command": "mine"}, {"command": "mine"}, Guarded("mine"), False),
        ({}, {"command": 1}, Guarded(), False),
    ],
)
def test_a_project_does_not_set_what_is_the_users_alone(project, own, settings, refused):
    found, problems = validate_plugin_section({**own, **project}, Guarded, own)
    assert found == settings
    message = "command counts only in your own configuration, and not in a project's"
    assert (message in problems) == refused


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
        ({"size": 2}, {}, {}),
        ({"command": "run", "size": 2}, {}, {"command": '"run"'}),
        ({"command": "run"}, {"command": "run"}, {}),
        ({"command": "run"}, {"command": "mine"}, {"command": '"run"'}),
        ({}, {"command": "mine"}, {}),
        ({"env": {"b": "1", "a": "ä"}}, {}, {"env": '{"a": "ä", "b": "1"}'}),
        ({"command": 3, "only_mine": "x", "surplus": "y"}, {}, {"command": "3"}),
    ],
)
def test_what_a_project_asks_for_is_what_differs_from_the_users_own(project, own, asked):
    found = requests_of_section("backends.acme", {**own, **project}, Asking, own)
    assert {key: one.content for key, one in found.items()} == asked
    for key, one in found.items():
        assert (one.subject, one.source) == (f"backends.acme.{key}", ".grove/config.toml")


def test_a_class_that_is_none_asks_for_nothing():
    assert requests_of_section("backends.acme", {"command": "x"}, dict, {}) == {}


@pytest.mark.parametrize(
    ("untrusted", "command", "refused"), [({"command"}, "mine", True), (set(), "run", False)]
)
def test_what_the_user_has_not_agreed_to_does_not_count(untrusted, command, refused):
    written, own = {"command": "run", "size": 2}, {"command": "mine"}
    found, problems = validate_plugin_section(written, Asking, own, untrusted=untrusted)
    assert found == Asking(command=command, size=2)
    message = "command needs `grove trust`: a project's value counts only once you have agreed"
    assert problems == ([message] if refused else [])


def test_what_the_user_has_agreed_to_stands_alone_or_not_at_all():
    """The user's secrets do not go to the project's program; half of its words are none of them."""
    project, own = {"command": "run", "env": {"a": "1"}}, {"env": {"token": "${MINE}"}}
    written = {**own, **project}
    found, problems = validate_plugin_section(written, Asking, own)
    assert (found, problems) == (Asking(**project), [])
    found, problems = validate_plugin_section(written, Asking, own, untrusted={"env"})
    assert found == Asking(env=own["env"])
    assert [one.split(" ", 1)[0] for one in problems] == ["command", "env"]
    found, problems = validate_plugin_section({**own, "command": "run"}, Asking, own)
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
    assert [*requests_of_section("backends.acme", {**own, **project}, Named, own)] == ["name"]
    found, problems = validate_plugin_section({**own, **project}, Named, own)
    assert (found, problems) == (Named(command="mine", name="shop"), [])
    found, problems = validate_plugin_section({**own, **project}, Named, own, untrusted={"name"})
    assert found == Named(command="mine")
    assert [one.split(" ", 1)[0] for one in problems] == ["name"]
    written = {**own, **project, "command": "run"}
    found, _ = validate_plugin_section(written, Named, own, untrusted={"name"})
    assert found == Named(command="run")


@frozen
class Anything:
    """A plugin's section with tables that the plugin itself understands."""

    write: Mapping[str, Any] = field(factory=dict)
    search: dict[str, Any] = field(factory=dict)


def test_tables_of_any_values_are_taken_as_they_are():
    table = tomllib.loads('tool = "t"\nflag = true\n[args]\nlist = [1, 2.5, {a = ["b"]}]')
    settings, problems = validate_plugin_section({"write": table, "search": table}, Anything)
    assert problems == []
    assert settings == Anything(write=table, search=table)
    settings, problems = validate_plugin_section({"write": "t", "search": table}, Anything)
    assert problems == ['write must be a table, not "t"']
    assert settings == Anything(search=table)

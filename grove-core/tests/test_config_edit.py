"""Setting one key changes one line, and only that key's value."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.config.edit import render_default_config, with_setting
from grove_core.errors import ConfigError

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

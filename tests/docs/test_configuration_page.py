"""The page about configuration names the keys of plugins that come with grove, and all variables."""

import json
import re
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "configuration.md"
OURS = "grove-"
GROUPS = {"backends": "grove_memory_backends", "tickets": "grove_ticket_probes"}
ROW = re.compile(r"^\| (?P<keys>`(?:backends|tickets)\..*?) \| (?P<default>.*?) \|", re.MULTILINE)
PUBLIC_NAMES = {"GROVE_API"}  # a constant that plugins import, no variable


def described():
    """Key and default of each row; a row may hold several keys of one section."""
    found = {}
    for row in ROW.finditer(PAGE.read_text()):
        first, *others = re.findall(r"`([^`]+)`", row["keys"])
        for key in (first, *(first.rpartition(".")[0] + other for other in others)):
            found[key] = row["default"]
    return found


def declared():
    """Key and default of each setting of grove's own plugins."""
    from importlib.metadata import entry_points

    found = {}
    for kind, hook in GROUPS.items():
        for entry in entry_points(group=f"grove.{kind}"):
            if not entry.dist.name.startswith(OURS):
                continue
            for spec in getattr(entry.load(), hook)():
                for field in attrs.fields(spec.settings) if spec.settings else ():
                    found[f"{kind}.{spec.name}.{field.name}"] = default_of(field)
    return found


def default_of(field):
    default = field.default
    return default.factory() if hasattr(default, "factory") else default


def test_the_keys_of_plugins_are_those_that_are_declared():
    assert set(described()) == set(declared())


@pytest.mark.parametrize("key", described())
def test_a_key_has_the_default_that_is_told(key):
    told, default = described()[key], declared()[key]
    if not told.startswith("`"):
        return  # told elsewhere, at length
    plain = getattr(default, "value", default)
    assert json.loads(told.strip("`")) == (list(plain) if isinstance(plain, tuple) else plain)


def test_every_variable_is_told_of():
    """Of the variables that the code names, each stands on the page."""
    sources = [path.read_text() for path in ROOT.glob("grove-*/src/**/*.py")]
    named = {name for text in sources for name in re.findall(r'"(GROVE_[A-Z_]+[A-Z])"', text)}
    assert named
    told = set(re.findall(r"`(GROVE_[A-Z_]+)", PAGE.read_text()))
    # Some of the code's names are what several variables begin with.
    wanted = named - PUBLIC_NAMES
    assert {name for name in wanted if not any(one.startswith(name) for one in told)} == set()

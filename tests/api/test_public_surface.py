"""What others build on is what was written down last, or the change of it is."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "public_surface.py"
ADVICE = """
docs/dev/public-interface.md says how the interface may change. What is added is written down by
`python scripts/public_surface.py --record`; what breaks is not done, or it raises grove_api.
"""
OLD = [
    "grove_api 1",
    "grove_core.Colour: enumeration",
    "grove_core.Colour.RED: 'red'",
    "grove_core.Kept: class",
    "grove_core.Kept(id): str, required",
    "grove_core.find(text): str, position 1, required",
    "grove_core.find() -> list[Kept]",
    "grove find: command",
    "grove find (text), argument 1, a value, required",
    "grove find --form, with a choice, default 'lines'",
    "grove find --form: 'json'",
]


def test_it_is_as_it_was_written_down():
    done = subprocess.run([sys.executable, SCRIPT], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr + ADVICE


@pytest.mark.parametrize(
    ("added", "removed", "breaking"),
    [
        (["grove_core.Colour.BLUE: 'blue'"], [], []),
        ([], ["grove_core.Colour.RED: 'red'"], ["- 0"]),
        (["grove_core.find(limit): int, by name, optional"], [], []),
        (["grove_core.find(limit): int, by name, required"], [], ["+ 0"]),
        (["grove_core.find() -> set[Kept]"], ["grove_core.find() -> list[Kept]"], ["- 0"]),
        (
            ["grove_core.find(text): str, position 1, default ''"],
            ["grove_core.find(text): str, position 1, required"],
            [],
        ),
        (["grove_core.Kept(note): str, required"], [], ["+ 0"]),
        (["grove_core.New: class", "grove_core.New(id): str, required"], [], []),
        (["grove find --where, with a value, optional"], [], []),
        (["grove find --where, with a value, required"], [], ["+ 0"]),
        ([], ["grove find --form: 'json'"], ["- 0"]),
        (
            ["grove find --form, with a choice, default 'json'"],
            ["grove find --form, with a choice, default 'lines'"],
            ["- 0"],
        ),
        ([], ["grove find: command"], ["- 0"]),
    ],
)
def test_what_breaks_and_what_is_added(added, removed, breaking):
    spec = spec_from_file_location("public_surface", SCRIPT)
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    now = [line for line in OLD if line not in removed] + added
    told = script.difference(OLD, now)
    lines = {"+": added, "-": removed}
    expected = tuple(
        f"{sign} {lines[sign][int(place)]}" for sign, place in map(str.split, breaking)
    )
    assert told.breaking == expected
    assert told.additions == tuple(f"+ {one}" for one in added if f"+ {one}" not in expected)

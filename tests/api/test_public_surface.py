"""What others build on is what was written down last, or the change of it is."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "public_surface.py"
ADVICE = """
docs/reference/public-interface.md says how the interface may change. What is added is written down by
`python scripts/public_surface.py --record`; what breaks is not done, or it raises grove_api.
"""


@pytest.fixture(scope="module")
def surface():
    """The script as a module."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("public_surface", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_as_it_was_written_down():
    done = subprocess.run([sys.executable, SCRIPT], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr + ADVICE


OLD = [
    "grove_api 1",
    "grove_core.Colour: enumeration",
    "grove_core.Colour.RED: 'red'",
    "grove_core.Kept: class",
    "grove_core.Kept(id): str, required",
    "grove_core.Store.get() -> Kept",
    "grove_core.Store: class",
    "grove_core.find(text): str, position 1, required",
    "grove_core.find() -> list[Kept]",
    "grove_core.move(kept): Kept, position 1, required",
    "grove_core.move(place): str, position 2, required",
    "grove_core.move(note): str, by name, default ''",
    "grove find: command",
    "grove find (text), argument 1, a value, required",
    "grove find --form, with a choice, default 'lines'",
    "grove find --form: 'lines'",
    "grove find --form: 'json'",
    "grove find -f, with a choice, default 'lines'",
    "grove find --tag, with a value, optional",
    "fixture grove_home -> Path",
]


@pytest.mark.parametrize(
    ("added", "removed", "breaking"),
    [
        ([], [], []),
        (["grove_core.Colour.BLUE: 'blue'"], [], []),
        (["grove_core.find(limit): int, by name, optional"], [], []),
        (["grove_core.find(limit): int, by name, required"], [], ["+ 0"]),
        (["grove_core.find(limit): int, by name, default 10"], [], []),
        (["grove_core.find(limit): int, position 2, default 10"], [], []),
        (
            [
                "grove_core.move(place): str, position 1, required",
                "grove_core.move(kept): Kept, position 2, required",
            ],
            [
                "grove_core.move(kept): Kept, position 1, required",
                "grove_core.move(place): str, position 2, required",
            ],
            ["- 0", "- 1", "+ 0", "+ 1"],
        ),
        (
            ["grove_core.move(to): str, position 2, required"],
            ["grove_core.move(place): str, position 2, required"],
            ["- 0", "+ 0"],
        ),
        (
            ["grove_core.move(note): str, by name, required"],
            ["grove_core.move(note): str, by name, default ''"],
            ["- 0", "+ 0"],
        ),
        (
            ["grove_core.move(note): str, by name, default 'moved'"],
            ["grove_core.move(note): str, by name, default ''"],
            ["- 0"],
        ),
        (["grove_core.Kept(note): str, optional"], [], []),
        (["grove_core.Kept(note): str, required"], [], ["+ 0"]),
        (["grove_core.New: class", "grove_core.New(id): str, required"], [], []),
        (["grove_core.Store.put: method, required"], [], ["+ 0"]),
        (["grove_core.put() -> None", "grove_core.put(kept): Kept, position 1, required"], [], []),
        (["grove find (where), argument 2, a value, required"], [], ["+ 0"]),
        (["grove find --where, with a value, optional"], [], []),
        (["grove find --where, with a value, required"], [], ["+ 0"]),
        (["grove find --form: 'table'"], [], []),
        ([], ["grove find --form: 'json'"], ["- 0"]),
        ([], ["grove find -f, with a choice, default 'lines'"], ["- 0"]),
        (
            ["grove find --form, with a choice, default 'json'"],
            ["grove find --form, with a choice, default 'lines'"],
            ["- 0"],
        ),
        (
            ["grove find --form, with choices, optional"],
            ["grove find --form, with a choice, default 'lines'"],
            ["- 0"],
        ),
        (
            ["grove find --tag, with a choice, optional", "grove find --tag: 'red'"],
            ["grove find --tag, with a value, optional"],
            ["- 0"],
        ),
        (["grove find --form: alone"], [], []),
        (["fixture grove_clock -> SetClock"], [], []),
        ([], ["fixture grove_home -> Path"], ["- 0"]),
        ([], ["grove_core.Colour.RED: 'red'"], ["- 0"]),
        (["grove_core.find() -> set[Kept]"], ["grove_core.find() -> list[Kept]"], ["- 0"]),
        (
            ["grove find (text), argument 1, a value, optional"],
            ["grove find (text), argument 1, a value, required"],
            [],
        ),
        (
            [
                "grove find (text), argument 2, a value, required",
                "grove find (new), argument 1, a value, required",
            ],
            ["grove find (text), argument 1, a value, required"],
            ["- 0", "+ 0", "+ 1"],
        ),
        (
            ["grove_core.find(text): str, position 1, default ''"],
            ["grove_core.find(text): str, position 1, required"],
            [],
        ),
        (
            ["grove_core.find(text): str, position 2, required"],
            ["grove_core.find(text): str, position 1, required"],
            ["- 0", "+ 0"],
        ),
        (["grove_api 2"], ["grove_api 1"], ["- 0"]),
        ([], ["grove find: command"], ["- 0"]),
    ],
)
def test_what_breaks_and_what_is_added(surface, added, removed, breaking):
    now = [line for line in OLD if line not in removed] + added
    told = surface.difference(OLD, now)
    lines = {"+": added, "-": removed}
    expected = tuple(
        f"{sign} {lines[sign][int(place)]}" for sign, place in map(str.split, breaking)
    )
    assert told.breaking == expected
    assert told.additions == tuple(f"+ {one}" for one in added if f"+ {one}" not in expected)


def test_it_holds_what_plugins_use(surface):
    lines = surface.surface()
    for expected in (
        "grove_core.MemoryBackend.search() -> Sequence[Hit]",
        "grove_core.Learning(summary): str, by name, required",
        "grove_core.Capability.GET: 'get'",
        "grove_core.BackendError: class of GroveError",
        "grove_core.Learning(confidence): Confidence, by name, default MEDIUM",
        "hook grove_check_candidate(candidate): Candidate",
        "entry points grove.backends",
        "grove reflect --session-id, with a value, optional",
        "grove --no-plugins, alone, default True",
        "grove --version, alone, optional",
        "grove hook (event): 'stop'",
        "grove init --hooks, with a choice, optional",
        "grove init --hooks: alone",
        "grove import (form), argument 1, a choice, required",
        "grove maintain restore (ids), argument 1, values, required",
        "grove maintain restore -h, alone, optional",
        "grove import (form): 'older-grove'",
        "grove export --format, with a choice, default 'jsonl'",
        "grove list --scope: 'team'",
        "grove stats --json, alone, optional",
        "fixture grove_clock -> SetClock",
        "fixture SetClock() -> datetime",
        "fixture SetClock.move: method",
        "fixture SetClock.now: attribute",
        "fixture Payloads.session_id: attribute",
        "fixture Payloads.session_end(reason): str, position 1, default 'other'",
        "fixture Payloads.session_end(fields): Any, by name, any number",
        "grove_tickets.reader.read(call): ToolCall, position 1, required",
        "event surfaced(learning_id)",
        "configuration gate.session: initialized or always or never",
        "grove_core.testing.BackendContract.test_limit_holds: test",
        "grove_core.testing.InMemoryBackend(name): str, position 1, default 'memory'",
    ):
        assert expected in lines, [one for one in lines if one[:20] == expected[:20]]


def test_one_thing_is_told_on_one_line(surface):
    lines = surface.surface()
    told = {line for line in lines if "<" in line or "Sentinel" in line}
    assert told == set()
    assert len(lines) == len(set(lines))

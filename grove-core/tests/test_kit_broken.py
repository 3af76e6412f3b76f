"""Every broken ticket system and plugin is caught by the test that is there for its fault."""

import inspect
import json

import pytest

from grove_core.testing import PluginContract, TicketContract
from grove_core.testing.broken.plugins import BROKEN_PLUGINS, SOUND
from grove_core.testing.broken.sound_tracker import CLOSES, FILE, LEAVES, SoundTracker
from grove_core.testing.broken.tickets import BROKEN_TICKETS
from grove_core.testing.standard import standard_tests


def cases_of(contract):
    """The calls of each test, by the name that pytest gives them: at most one parameter."""
    cases = {}
    for name in standard_tests(contract):
        marks = getattr(getattr(contract, name), "pytestmark", [])
        if not marks:
            cases[name] = (name, {})
        for mark in marks:
            argument, values = mark.args
            cases |= {f"{name}[{value}]": (name, {argument: value}) for value in values}
    return cases


TICKET_CASES, PLUGIN_CASES = cases_of(TicketContract), cases_of(PluginContract)


def verdict_of(contract, case, cases, fixtures):
    """What a test says: its error, or nothing."""
    name, arguments = cases[case]
    test = getattr(contract(), name)
    wanted = fixtures.keys() & inspect.signature(test).parameters.keys()
    try:
        test(**{each: fixtures[each] for each in wanted}, **arguments)
    except AssertionError as error:
        return str(error)
    except pytest.skip.Exception as skipped:
        return f"skipped: {skipped}"
    return ""


@pytest.fixture
def fixtures(tmp_path, tmp_path_factory):
    used, empty = tmp_path / "used", tmp_path / "empty"
    (used / FILE).parent.mkdir(parents=True)
    (used / FILE).write_text(json.dumps({"current": "T-1"}))
    empty.mkdir()
    return {
        "used_project": used,
        "empty_project": empty,
        "tmp_path": tmp_path,
        "tmp_path_factory": tmp_path_factory,
    }


def tickets(tracker):
    values = {"plugin": tracker(), "closes": CLOSES, "leaves": LEAVES}
    return type("TestTracker", (TicketContract,), values)


def plugins(target):
    return type("TestPlugin", (PluginContract,), {"plugin": target})


@pytest.mark.parametrize("case", TICKET_CASES)
def test_the_sound_tracker_passes(case, fixtures):
    assert verdict_of(tickets(SoundTracker), case, TICKET_CASES, fixtures) == ""


@pytest.mark.parametrize("broken", BROKEN_TICKETS, ids=lambda one: one.__name__)
def test_a_broken_tracker_is_caught_by_name(broken, fixtures):
    caught_by = BROKEN_TICKETS[broken]
    said = verdict_of(tickets(broken), caught_by, TICKET_CASES, fixtures)
    expect_told(said, TicketContract, TICKET_CASES[caught_by][0])


@pytest.mark.parametrize(
    "beginning",
    ["true && ", "  ", "echo before; ", "echo before\n", "( ", "cd . && ", "KIT=1 "],
)
def test_a_tracker_that_misses_one_dressing_is_caught_by_it(beginning, fixtures):
    class Misses(SoundTracker):
        def commands(self, call):
            if not str(call.input.get("command")).startswith(beginning):
                yield from super().commands(call)

    case = "test_commands_among_others_still_close"
    said = verdict_of(tickets(Misses), case, TICKET_CASES, fixtures)
    assert repr(f"{beginning}{CLOSES[0][0]}")[1:-1] in said
    expect_told(said, TicketContract, case)


@pytest.mark.parametrize("case", PLUGIN_CASES)
def test_the_sound_plugin_passes(case, fixtures):
    said = verdict_of(plugins(SOUND), case, PLUGIN_CASES, fixtures)
    assert not said or said.startswith(f"skipped: {SOUND} has no ")


@pytest.mark.parametrize("target", BROKEN_PLUGINS)
def test_a_broken_plugin_is_caught_by_name(target, fixtures):
    caught_by = BROKEN_PLUGINS[target]
    said = verdict_of(plugins(target), caught_by, PLUGIN_CASES, fixtures)
    expect_told(said, PluginContract, PLUGIN_CASES[caught_by][0])


def expect_told(said, contract, name):
    """The test says its rule, what was found, and where to read on."""
    rule, *_, read = (said or "nothing\n").splitlines()
    assert rule == inspect.getdoc(getattr(contract, name)).splitlines()[0], said
    assert read.startswith("  read: help(grove_core"), said


@pytest.mark.parametrize("contract", [TicketContract, PluginContract])
def test_no_standard_test_can_be_left_out(contract):
    name = standard_tests(contract)[0]
    with pytest.raises(TypeError, match=f"TestMine replaces {name} of {contract.__name__}"):
        type("TestMine", (contract,), {name: None})
    changed = type("TestMine", (contract,), {})
    changed().test_no_rule_is_left_out()
    setattr(changed, name, None)
    with pytest.raises(AssertionError, match=r"Every test of the contract is run\."):
        changed().test_no_rule_is_left_out()


@pytest.mark.parametrize("contract", [TicketContract, PluginContract])
def test_every_standard_test_says_its_rule_in_a_sentence(contract):
    for name in standard_tests(contract):
        line = inspect.getdoc(getattr(contract, name)).splitlines()[0]
        assert line.endswith("."), name


@pytest.mark.parametrize(
    ("contract", "broken"), [(TicketContract, BROKEN_TICKETS), (PluginContract, BROKEN_PLUGINS)]
)
def test_every_rule_is_broken_by_one_of_them(contract, broken):
    caught = {case.partition("[")[0] for case in broken.values()}
    # Tested above.
    assert caught == {*standard_tests(contract)} - {"test_no_rule_is_left_out"}

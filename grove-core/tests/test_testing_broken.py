"""Every broken backend is caught by the test that is there for its fault."""

import inspect

import pytest

from grove_core.model.memory import Capability
from grove_core.testing import BackendContract, InMemoryBackend, InMemoryStorage
from grove_core.testing.backend_contract import STANDARD_TESTS
from grove_core.testing.broken import BROKEN_BACKENDS


class Contract(BackendContract):
    """Its tests are called here one by one."""


def cases_of(name):
    """The calls of a test, by the name that pytest gives them: at most one parameter."""
    marks = getattr(getattr(Contract, name), "pytestmark", [])
    if not marks:
        return {name: {}}
    ((argument, values),) = (mark.args for mark in marks)
    name_of = marks[0].kwargs.get("ids", str)
    return {f"{name}[{name_of(value)}]": {argument: value} for value in values}


CASES = {
    case: (name, arguments) for name in STANDARD_TESTS for case, arguments in cases_of(name).items()
}


def verdict(case, made):
    """What a test of the contract says about a backend: an error, or None."""
    name, arguments = CASES[case]
    storage = InMemoryStorage()
    test = getattr(Contract(), name)
    if "open_backend" in inspect.signature(test).parameters:
        arguments = {"open_backend": lambda: made(storage=storage), **arguments}
    try:
        test(**arguments)
    except AssertionError as error:
        return str(error)
    except pytest.skip.Exception as skipped:
        return f"skipped: {skipped}"
    return None


@pytest.mark.parametrize("broken", BROKEN_BACKENDS, ids=lambda one: one.__name__)
def test_a_broken_backend_is_caught_by_name(broken):
    caught_by = BROKEN_BACKENDS[broken]
    said = verdict(caught_by, broken)
    assert said is not None, broken.__doc__
    rule, *_, read = said.splitlines()
    name, _ = CASES[caught_by]
    assert rule == inspect.getdoc(getattr(BackendContract, name)).splitlines()[0]
    assert "\n  expected: " in said
    assert "\n  found: " in said
    assert read.startswith("  read: help(grove_core.")


def test_the_sound_one_is_caught_by_none_of_them():
    verdicts = {case: verdict(case, InMemoryBackend) for case in CASES}
    said = {case: one for case, one in verdicts.items() if one is not None}
    assert set(said.values()) == {"skipped: the backend memory does not declare files"}


def test_every_rule_is_broken_by_one_of_them():
    broken = {caught_by.partition("[")[0] for caught_by in BROKEN_BACKENDS.values()}
    # Tested in ``test_testing_contract``, and below.
    elsewhere = {"test_no_rule_is_left_out", "test_its_own_format_forges_nothing"}
    assert broken == set(STANDARD_TESTS) - elsewhere
    assert all(inspect.getdoc(one) for one in BROKEN_BACKENDS)


def test_a_format_that_can_be_forged_is_caught(tmp_path):
    """It lists what its file says, and so an id that only stands in a detail."""

    class Forgeable(InMemoryBackend):
        def __init__(self, storage):
            super().__init__(storage=storage)
            self.capabilities |= {Capability.FILES}

        def write(self, learning):
            with (tmp_path / "shelf.txt").open("a") as shelf:
                shelf.write(f"id={learning.id}\n{learning.detail}\n")
            return super().write(learning)

        def iterate(self):
            lines = (tmp_path / "shelf.txt").read_text().split("\n")
            ids = [line.removeprefix("id=") for line in lines if line.startswith("id=")]
            return [self._storage.learnings[each] for each in ids]

        def files(self):
            return [tmp_path]

    said = verdict("test_its_own_format_forges_nothing", Forgeable)
    assert "what: the ids that are there" in said

"""Every broken backend is caught by the test that is there for its fault."""

import inspect
import os
import time
from pathlib import Path

import pytest

from grove_core.model.memory import Capability
from grove_core.testing import BackendContract, InMemoryBackend, InMemoryStorage
from grove_core.testing.backend_contract import STANDARD_TESTS
from grove_core.testing.broken import BROKEN_BACKENDS, BROKEN_IN_FILES, BROKEN_WITH_SERVERS
from grove_core.testing.broken.in_file import InFile
from grove_core.testing.broken.with_server import WithServer
from grove_core.testing.rules import forking


class Contract(BackendContract):
    """Its tests are called here one by one."""

    shared_between_processes = False


class ContractOfFiles(BackendContract):
    """The same for what lies in a file."""


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
# What threads do at once, which those that break in processes only must pass.
PARALLEL = [name for name in STANDARD_TESTS if name.startswith("test_parallel_writers")]


def verdict(case, made, folder=Path("no such folder")):
    """What a test of the contract says about a backend in memory: an error, or None."""
    storage = InMemoryStorage()
    return verdict_of(Contract(), case, folder, open_backend=lambda: made(storage=storage))


def verdict_in_file(case, made, folder):
    """The same for a backend in a file; a folder stands where the broken one has its file."""
    return verdict_of(
        ContractOfFiles(),
        case,
        folder,
        open_backend=lambda: made(folder / "shelf.json"),
        broken_backend=lambda: made(folder),
    )


def verdict_with_server(case, made, folder):
    """The same for a backend with a server, both in a folder."""
    return verdict_of(ContractOfFiles(), case, folder, open_backend=lambda: made(folder))


def verdict_of(contract, case, folder, **fixtures):
    fixtures |= {"project_folder": folder, "home_folder": folder / "home"}
    name, arguments = CASES[case]
    test = getattr(contract, name)
    wanted = fixtures.keys() & inspect.signature(test).parameters.keys()
    try:
        test(**{each: fixtures[each] for each in wanted}, **arguments)
    except AssertionError as error:
        return str(error)
    except pytest.skip.Exception as skipped:
        return f"skipped: {skipped}"
    return None


@pytest.mark.parametrize("broken", BROKEN_BACKENDS, ids=lambda one: one.__name__)
def test_a_broken_backend_is_caught_by_name(broken):
    caught_by = BROKEN_BACKENDS[broken]
    expect_caught(broken, caught_by, verdict(caught_by, broken))


def expect_caught(broken, caught_by, said):
    """The test that caught it says its rule, what was expected and found, and where to read on."""
    assert said is not None, broken.__doc__
    rule, *_, read = said.splitlines()
    name, _ = CASES[caught_by]
    assert rule == inspect.getdoc(getattr(BackendContract, name)).splitlines()[0]
    assert "\n  expected: " in said
    assert "\n  found: " in said
    assert read.startswith("  read: help(grove_core.")


@pytest.mark.parametrize("broken", BROKEN_IN_FILES, ids=lambda one: one.__name__)
def test_a_broken_backend_in_a_file_is_caught_by_its_test_alone(broken, tmp_path):
    caught_by = BROKEN_IN_FILES[broken]
    for name in {*BROKEN_IN_FILES.values(), *PARALLEL}:
        (tmp_path / name).mkdir()
        said = verdict_in_file(name, broken, tmp_path / name)
        assert (said is not None) == (name == caught_by), (name, said)


@pytest.mark.parametrize("broken", BROKEN_WITH_SERVERS, ids=lambda one: one.__name__)
def test_a_broken_backend_with_a_server_is_caught_by_name(broken, tmp_path):
    caught_by = BROKEN_WITH_SERVERS[broken]
    expect_caught(broken, caught_by, verdict_with_server(caught_by, broken, tmp_path))


def test_the_sound_ones_are_caught_by_none_of_them(tmp_path):
    in_memory = [case for case in CASES if CASES[case][0] not in BROKEN_IN_FILES.values()]
    verdicts = {case: verdict(case, InMemoryBackend) for case in in_memory}
    said = {case: one for case, one in verdicts.items() if one is not None}
    assert set(said.values()) == {
        f"skipped: the backend memory does not declare {each}" for each in ("files", "synchronise")
    }
    for name in {*BROKEN_IN_FILES.values()}:
        (tmp_path / name).mkdir()
        assert verdict_in_file(name, InFile, tmp_path / name) is None
    for case in {*BROKEN_WITH_SERVERS.values()}:
        (tmp_path / case).mkdir()
        assert verdict_with_server(case, WithServer, tmp_path / case) is None


def test_processes_that_hang_or_die_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(forking, "_SECONDS", 0.5)
    main = os.getpid()

    class Dies(InFile):
        def write(self, learning):
            assert os.getpid() != main
            os._exit(3)

    class Hangs(InFile):
        def write(self, learning):
            assert os.getpid() != main
            time.sleep(60)

    name = "test_parallel_processes_lose_nothing"
    assert "it died with exit code 3" in verdict_in_file(name, Dies, tmp_path)
    assert "it was not finished after 0.5 seconds" in verdict_in_file(name, Hangs, tmp_path)


def test_every_rule_is_broken_by_one_of_them():
    everyone = BROKEN_BACKENDS | BROKEN_IN_FILES | BROKEN_WITH_SERVERS
    broken = {caught_by.partition("[")[0] for caught_by in everyone.values()}
    # Tested in ``test_testing_contract``, and below.
    elsewhere = {"test_no_rule_is_left_out", "test_its_own_format_forges_nothing"}
    assert broken == set(STANDARD_TESTS) - elsewhere
    assert all(map(inspect.getdoc, everyone))


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

"""The contract as a plugin's author meets it: in a test module of their own, run by pytest."""

import subprocess
import sys
from textwrap import dedent

import pytest

from grove_core.testing import BackendContract, InMemoryBackend
from grove_core.testing.backend_contract import STANDARD_TESTS
from grove_core.testing.samples import example_learning
from grove_core.testing.verdict import expect

MODULE = """
    import pytest
    from grove_core.testing import BackendContract, InMemoryStorage
    from grove_core.testing import InMemoryBackend, broken

    class TestMine(BackendContract):
        shared_between_processes = False

        @pytest.fixture
        def open_backend(self):
            storage = InMemoryStorage()
            return lambda: {opened}

        def test_of_my_own(self, open_backend):
            assert open_backend().name
    """


@pytest.fixture
def run(tmp_path):
    """Runs pytest on a module in a process of its own."""

    def run(module, *options):
        (tmp_path / "test_mine.py").write_text(dedent(module))
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *options]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def test_a_sound_backend_passes_and_what_it_does_not_declare_is_skipped_by_name(run):
    module = MODULE.format(opened="InMemoryBackend('mine', storage=storage)")
    done = run(module, "-k", "write or files or own or processes")
    assert done.returncode == 0, done.stdout
    for reason in (
        "the backend mine does not declare files",
        "the backend mine is not shared between processes",
        "TestMine has no fixture broken_backend",
    ):
        assert reason in done.stdout
    assert "failed" not in done.stdout


def test_a_failure_names_the_rule_what_was_expected_what_came_and_where_to_read(run):
    module = MODULE.format(opened="broken.searching.IgnoresLimit(storage=storage)")
    done = run(module, "--tb=short", "-k", "limit or relevance")
    assert done.returncode == 1
    said = [
        line.removeprefix("E  ").strip() for line in done.stdout.splitlines() if line[:1] == "E"
    ]
    assert said[0].endswith(
        "There are at most as many hits as the limit says, and they are the best."
    )
    assert said[1] == "expected: at most 0 hits"
    assert said[2].startswith("found: ['cl_2026")
    assert said[3] == "read: help(grove_core.Filters)"
    assert "1 failed" in done.stdout


def test_an_error_of_the_backend_is_shown_with_its_place(run):
    module = MODULE.format(opened="broken.listing.RaisesInPing(storage=storage)")
    done = run(module, "--tb=short", "-k", "ping")
    assert done.returncode == 1
    assert "found: ConnectionError: no route to the store" in done.stdout
    assert "in ping" in done.stdout


def test_without_hypothesis_the_fixed_learnings_are_tried_and_the_rest_is_skipped(run, tmp_path):
    (tmp_path / "conftest.py").write_text("import sys\nsys.modules['hypothesis'] = None\n")
    module = MODULE.format(opened="InMemoryBackend(storage=storage)")
    done = run(module, "-p", "no:hypothesispytest")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "hypothesis makes the learnings" in done.stdout
    assert "hypothesis makes the histories" in done.stdout


def test_a_missing_fixture_is_named(run):
    module = """
        from grove_core.testing import BackendContract

        class TestMine(BackendContract):
            pass
        """
    done = run(module, "-x")
    assert done.returncode == 1
    assert "TestMine needs a fixture open_backend" in done.stdout


def test_the_contract_itself_is_not_collected(run):
    done = run("from grove_core.testing import BackendContract")
    assert "no tests ran" in done.stdout


@pytest.mark.parametrize("replacement", [None, lambda self, open_backend: None, property(len)])
def test_no_standard_test_can_be_replaced(replacement):
    with pytest.raises(TypeError, match=r"TestMine replaces test_limit_holds of BackendContract"):
        type("TestMine", (BackendContract,), {"test_limit_holds": replacement})


def test_nor_can_all_be_left_out():
    with pytest.raises(TypeError, match="TestMine says __test__ = False"):
        type("TestMine", (BackendContract,), {"__test__": False})


def test_nor_by_another_base_or_further_down():
    class Shadow:
        test_ping_tells_how_it_is = None

    with pytest.raises(TypeError, match="test_ping_tells_how_it_is"):
        type("TestMine", (Shadow, BackendContract), {})
    sound = type("TestSound", (BackendContract,), {"test_of_its_own": lambda self: None})
    with pytest.raises(TypeError, match="test_limit_holds"):
        type("TestMine", (sound,), {"test_limit_holds": None})


@pytest.mark.parametrize(("name", "value"), [("test_limit_holds", None), ("__test__", False)])
def test_a_later_replacement_is_noticed_when_the_tests_run(name, value):
    changed = type("TestMine", (BackendContract,), {})
    changed().test_no_rule_is_left_out()
    setattr(changed, name, value)
    with pytest.raises(AssertionError, match=r"Every test of the contract is run\."):
        changed().test_no_rule_is_left_out()


def test_every_standard_test_says_its_rule_in_a_sentence():
    assert len(STANDARD_TESTS) > 40
    for name in STANDARD_TESTS:
        (line,) = getattr(BackendContract, name).__doc__.splitlines()
        assert line.endswith("."), name


@pytest.mark.parametrize("module", ["pytest", "hypothesis"])
def test_the_reference_backend_needs_neither_pytest_nor_hypothesis(module):
    code = f"import sys; sys.modules[{module!r}] = None; import grove_core.testing as kit;"
    code += "kit.InMemoryBackend(storage=kit.InMemoryStorage()).ping()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_names_that_are_not_there_are_missing():
    import grove_core.testing as kit

    assert kit.InMemoryBackend is InMemoryBackend
    assert {getattr(kit, name).__name__ for name in kit.__all__} == set(kit.__all__)
    with pytest.raises(AttributeError, match=r"grove_core\.testing"):
        kit.nothing  # noqa: B018 - the access is what is tested


def test_of_long_texts_the_place_is_shown_where_they_differ():
    text = "word " * 300
    found, expected = (
        example_learning(detail=f"{text}one{text}"),
        example_learning(detail=f"{text}two{text}"),
    )
    with pytest.raises(AssertionError) as caught:
        expect(found, expected, "the learning")
    what, wanted, came = str(caught.value).splitlines()
    assert what == "  what: the learning, which differs in detail"
    assert "word twoword" in wanted
    assert "word oneword" in came
    assert max(map(len, (wanted, came))) < 200

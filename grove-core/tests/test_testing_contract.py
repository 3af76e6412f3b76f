"""The contract as a plugin's author meets it: in a test module of their own, run by pytest."""

import subprocess
import sys
from textwrap import dedent

import pytest

MODULE = """
    import pytest
    from attrs import evolve
    from grove_core.testing import BackendContract, InMemoryBackend, InMemoryStorage

    class Broken(InMemoryBackend):
        def search(self, query, filters):
            return super().search(query, evolve(filters, limit=None))

        def ping(self):
            raise ConnectionError("no route to the store")

    class Memory(BackendContract):
        shared_between_processes = False
        made = InMemoryBackend

        @pytest.fixture
        def open_backend(self):
            storage = InMemoryStorage()
            return lambda: self.made("mine", storage=storage)

        def test_of_my_own(self, open_backend):
            assert open_backend().name

    class TestMine(Memory):
        pass

    class TestBroken(Memory):
        made = Broken

    class TestUnfinished(BackendContract):
        pass
    """


@pytest.fixture
def run(tmp_path):
    """Runs pytest on the module in a process of its own."""

    def run(*options):
        (tmp_path / "test_mine.py").write_text(dedent(MODULE))
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stdout

    return run


def test_the_report_names_what_is_left_out_and_says_what_is_wrong_and_where(run):
    chosen = "(TestMine and (write or files or processes)) or (TestBroken and (limit or how_it_is))"
    said = run("-k", f"{chosen} or (TestUnfinished and name_and)")
    for reason in (
        "the backend mine does not declare files",
        "the backend mine is not shared between processes",
        "TestMine has no fixture broken_backend",
        "TestUnfinished needs a fixture open_backend",
        "ConnectionError: no route to the store",
        "def ping",
        # The rule, and what it has compared.
        "There are at most as many hits as the limit says, and they are the best.",
    ):
        assert reason in said
    # The contract itself, which the module imports, is not collected.
    assert "2 failed" in said
    assert "1 error" in said
    assert "BackendContract::" not in said


def test_without_hypothesis_the_fixed_learnings_are_tried_and_the_rest_is_skipped(run, tmp_path):
    (tmp_path / "conftest.py").write_text("import sys\nsys.modules['hypothesis'] = None\n")
    said = run("-p", "no:hypothesispytest", "-k", "TestMine and comes_back")
    assert "hypothesis makes the learnings" in said
    assert "failed" not in said


def test_the_reference_backend_needs_neither_pytest_nor_hypothesis():
    code = "import sys; sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
    code += "import grove_core.testing as kit\n"
    code += "kit.InMemoryBackend(storage=kit.InMemoryStorage()).ping()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

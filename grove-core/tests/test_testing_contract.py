"""The kit as a plugin's author meets it, its reference backend, and its samples."""

import subprocess
import sys
from textwrap import dedent

import pytest
from broken_backends import WithServer
from hypothesis import given, settings

from grove_core.codec import learning_to_dict
from grove_core.identifiers import is_learning_id, is_session_id
from grove_core.memory.sanitize import clean_hit
from grove_core.model.memory import Hit, Query
from grove_core.reflection.candidates import ReadCandidate, read_candidate
from grove_core.retrieval.rules import rule_relevance
from grove_core.testing import BackendContract, InMemoryBackend, InMemoryStorage, learnings
from grove_core.testing.samples import (
    NONSENSE,
    SUBJECTS,
    SUMMARIES,
    TEXTS,
    VARIANTS,
    example_learning,
)

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


def test_the_reference_backend_needs_neither_pytest_nor_hypothesis():
    code = "import sys; sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
    code += "import grove_core.testing as kit\n"
    code += "kit.InMemoryBackend(storage=kit.InMemoryStorage()).ping()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


class InMemory(BackendContract):
    shared_between_processes = False
    capabilities = InMemoryBackend().capabilities

    @pytest.fixture
    def open_backend(self):
        storage = InMemoryStorage()
        return lambda: InMemoryBackend("memory", self.capabilities, storage)


class TestEverything(InMemory):
    pass


class TestNothingBesides(InMemory):
    capabilities = frozenset()


class TestWithServer(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return lambda: WithServer(tmp_path)

    @pytest.fixture
    def broken_backend(self, tmp_path):
        (tmp_path / "kept.json").mkdir()
        return lambda: WithServer(tmp_path)


SAMPLES = {
    **SUBJECTS,
    **VARIANTS,
    **{name: example_learning(detail=text) for name, text in TEXTS.items()},
    **{name: example_learning(summary=text) for name, text in SUMMARIES.items()},
}
FIELDS = (
    "category summary detail scope confidence criteria_met tags context_files supersedes"
).split()


def assert_comes_through(learning):
    """The pipeline accepts its fields as they are."""
    answer = read_candidate({name: learning_to_dict(learning)[name] for name in FIELDS})
    assert isinstance(answer, ReadCandidate), answer
    assert [getattr(answer.candidate, one) for one in FIELDS] == [
        getattr(learning, one) for one in FIELDS
    ]
    assert is_learning_id(learning.id)
    assert is_session_id(learning.session_id)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_come_through_the_pipeline(name):
    assert_comes_through(SAMPLES[name])
    # Neither does it change when it is read again.
    assert clean_hit(Hit(learning=SAMPLES[name], relevance=1.0)).learning == SAMPLES[name]


@settings(max_examples=100, deadline=None)
@given(learning=learnings())
def test_generated_learnings_come_through_the_pipeline(learning):
    assert_comes_through(learning)


@pytest.mark.parametrize("name", SUBJECTS)
def test_subjects_have_nothing_in_common(name):
    one = SUBJECTS[name]
    words = Query(text=f"{one.summary} {one.detail}", tags=one.tags, files=one.context_files)
    for other in SUBJECTS.values():
        assert (rule_relevance(words, other)[0] == 0) == (other is not one)
        assert rule_relevance(Query(text=NONSENSE), other)[0] == 0

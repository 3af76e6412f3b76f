"""The contract of memory backends as others use it: installed, in a module outside the checkout."""

from textwrap import dedent

import pytest

PACKAGES = ("grove-core", "grove-backend-markdown", "grove-backend-totalrecall")
MODULE = """
    import pytest

    import grove_core as grove
    from grove_backend_markdown.backend import MarkdownBackend
    from grove_backend_totalrecall.backend import TotalRecallBackend
    from grove_core import testing


    class TestMarkdown(testing.BackendContract):
        @pytest.fixture
        def open_backend(self, tmp_path):
            context = grove.BackendContext(root=tmp_path, home=tmp_path / "home")
            return lambda: MarkdownBackend(context)


    class TestTotalRecall(testing.BackendContract):
        @pytest.fixture
        def open_backend(self, tmp_path):
            for folder in ("memory/daily", "memory/registers", ".claude/rules"):
                (tmp_path / folder).mkdir(parents=True)
            (tmp_path / ".claude/rules/total-recall.md").touch()
            context = grove.BackendContext(root=tmp_path, home=tmp_path / "home")
            return lambda: TotalRecallBackend(context)


    def test_all_of_it_is_installed():
        for module in (grove, testing):
            assert "site-packages" in module.__file__
    """


@pytest.fixture(scope="module")
def environment(tmp_path_factory, new_environment, wheel):
    """Core, two backends and pytest; not hypothesis, which the contract can do without."""
    folder = tmp_path_factory.mktemp("größere kit") / "environment"
    return new_environment(folder, *map(wheel, PACKAGES), "pytest")


@pytest.fixture
def run(environment, project_of):
    """Runs a test module outside the checkout."""
    project = project_of(environment)

    def run(module):
        (project.root / "test_backends.py").write_text(dedent(module))
        options = ("-q", "-rsf", "-p", "no:cacheprovider")
        return project._run(environment.python, "-m", "pytest", *options)

    return run


def test_our_backends_keep_the_contract_as_installed(run):
    done = run(MODULE)
    assert done.code == 0, done.stdout + done.stderr
    assert " failed" not in done.stdout
    assert "hypothesis makes the learnings" in done.stdout
    assert "the backend markdown does not declare ephemeral" in done.stdout
    assert "TestMarkdown has no fixture broken_backend" in done.stdout
    assert "is not shared between processes" not in done.stdout


def test_a_faulty_one_is_told_its_rule_as_installed(run):
    faulty = "super().search(query, grove.Filters(statuses=frozenset(grove.LearningStatus)))"
    done = run(
        MODULE
        + f"""
    class Faulty(MarkdownBackend):
        def search(self, query, filters):
            return {faulty}


    class TestFaulty(testing.BackendContract):
        @pytest.fixture
        def open_backend(self, tmp_path):
            context = grove.BackendContext(root=tmp_path, home=tmp_path / "home")
            return lambda: Faulty(context)
    """
    )
    assert done.code == 1, done.stderr
    assert "test_filters_hold[active by default]" in done.stdout
    assert "Filters leave out what they do not admit, and nothing else" in done.stdout
    assert "read: help(grove_core.Filters)" in done.stdout
    assert "FAILED test_backends.py::TestMarkdown" not in done.stdout

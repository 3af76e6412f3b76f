"""The kit as others use it: installed, in a module outside the checkout."""

from textwrap import dedent

import pytest

PACKAGES = ("grove-core", "grove-backend-markdown", "grove-backend-totalrecall", "grove-tickets")
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

TICKETS = """
    import grove_tickets.tissue
    from grove_core.testing import PluginContract, TicketContract


    class TestPlugin(PluginContract):
        plugin = "grove_tickets.tissue"


    class TestTissue(TicketContract):
        plugin = grove_tickets.tissue
        closes = [("tissue status shop-1 closed", ["shop-1"])]
        leaves = ["tissue list"]
        files = {".tissue/issues.jsonl": '{"id": "shop-1", "status": "in_progress"}'}


    def test_a_session(grove_project, grove_home, grove_payloads, grove_clock):
        import json
        import subprocess
        import sys

        command = [sys.executable, "-m", "grove_core._entry", "hook", "session-start"]
        payload = json.dumps(grove_payloads.session_start())
        subprocess.run(command, cwd=grove_project, input=payload, text=True, check=True)
        assert (grove_home / "sessions" / "session-1.json").is_file()
        assert grove_clock.move(days=1) == grove_clock()
    """
NOTHING_OF_GROVE = """
    import sys


    def test_nothing_of_grove():
        found = sorted(name for name in sys.modules if name.partition(".")[0].startswith("grove"))
        assert found == ["grove_core", "grove_core.testing", "grove_core.testing.pytest_plugin"]
    """


@pytest.fixture(scope="module")
def environment(tmp_path_factory, new_environment, wheel):
    """Core, plugins and pytest; not hypothesis, which the contracts can do without."""
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


def test_a_ticket_system_keeps_its_contract_with_the_fixtures_as_installed(run):
    done = run(TICKETS)
    assert done.code == 0, done.stdout + done.stderr
    assert " failed" not in done.stdout
    assert "hypothesis makes the texts" in done.stdout
    assert "grove_tickets.tissue has no commands" in done.stdout


def test_tests_of_others_import_nothing_of_grove_but_its_fixtures(run):
    done = run(NOTHING_OF_GROVE)
    assert done.code == 0, done.stdout + done.stderr

"""The examples that plugins begin with, copied and renamed: built, installed, tested and used."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from core_worlds import write_file

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
PACKAGES = ("grove-core", "grove-backend-markdown", "grove-tickets", "grove-hosts")
KINDS = {"backend": "grove-backend-shelf", "ticket": "grove-tickets-shelf"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Where the projects are written."""
    return tmp_path_factory.mktemp("größere desk")


@pytest.fixture(scope="module")
def author(desk, uv, new_environment, wheel):
    """An environment with grove and the kit, and both kinds of plugins in it, each as a wheel."""
    tools = ("pytest", "hypothesis", "mypy", "ruff")
    environment = new_environment(desk / "environment", *map(wheel, PACKAGES), *tools)
    for distribution in KINDS.values():
        example = EXAMPLES / distribution.replace("shelf", "acme")
        caches = shutil.ignore_patterns("__pycache__", ".*_cache")
        shutil.copytree(example, desk / distribution, ignore=caches)
        for path in sorted((desk / distribution).rglob("*"), reverse=True):
            if path.is_file():
                path.write_text(path.read_text().replace("acme", "shelf"))
            path.rename(path.with_name(path.name.replace("acme", "shelf")))
        uv("build", "--wheel", "--out-dir", desk / "wheels", desk / distribution)
    environment.install(*(desk / "wheels").glob("*.whl"))
    return environment


@pytest.fixture
def project(project_of, author):
    return project_of(author)


@pytest.mark.parametrize("distribution", KINDS.values())
def test_its_own_tests_pass_as_installed(project, desk, distribution):
    tests = desk / distribution / "tests"
    options = ("-q", "-rs", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", tests)
    done = project.python("-m", "pytest", *options, tests)
    assert done.code == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "failed" not in done.stdout
    assert "has no fixture" not in done.stdout
    assert "has no closes" not in done.stdout


@pytest.mark.parametrize("distribution", KINDS.values())
@pytest.mark.parametrize("check", ["mypy", "ruff check", "ruff format --check"])
def test_its_own_checks_find_nothing(author, desk, distribution, check):
    """Those of its CI, on its sources and tests, beside grove as installed."""
    workflow = (desk / distribution / ".github" / "workflows" / "ci.yml").read_text()
    assert re.search(rf"(run: |&& ){check}( &&|$)", workflow, re.MULTILINE)
    words = [author.python, "-m", *check.split()]
    done = subprocess.run(
        words, cwd=desk / distribution, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_ticket_system_is_used(project):
    tickets = write_file(
        project.project / ".shelf" / "tickets.json",
        '{"T-1": {"title": "Orders are slow", "status": "started"}}',
    )
    assert project.grove("init").code == 0
    systems = project.grove("tickets", "--json").json
    assert systems["ticket"]["ticket_id"] == "T-1"
    matched = project.grove("tickets", "match", "cd . && shelf done T-1 && echo shelf done T-2")
    assert "T-1" in matched.stdout
    assert "T-2" not in matched.stdout
    agent = project.agent()
    agent.starts()
    call = agent.announces(command="shelf done T-1")
    tickets.write_text('{"T-1": {"title": "Orders are slow", "status": "done"}}')
    agent.succeeds(call)
    agent.is_blocked()

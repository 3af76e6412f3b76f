"""Contexts, calls and small real files for the tests of ticket systems."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from core_worlds import write_program

from grove_core import ProjectContext

sys.path.insert(0, str(Path(__file__).parent / "shell_texts"))


@pytest.fixture
def project(tmp_path):
    """An empty project below a directory that belongs to no repository."""
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


@pytest.fixture
def make_context(project, tmp_path):
    """Make a context; no program is on its PATH unless the test says so."""

    def make(cwd=project, session_id="", settings=None, **environment):
        return ProjectContext(
            root=project,
            cwd=cwd,
            environment={"HOME": str(tmp_path / "home"), "PATH": "", **environment},
            session_id=session_id,
            settings=settings,
        )

    return make


@pytest.fixture
def write_jsonl():
    """Append objects, or raw lines, to a JSON Lines file."""

    def write(path, records):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as stream:
            for record in records:
                stream.write((record if isinstance(record, str) else json.dumps(record)) + "\n")

    return write


@pytest.fixture
def install(tmp_path):
    """Put a shell script in place of a program and give a PATH on which it comes first."""

    def install(name, script):
        program = write_program(tmp_path / "bin" / name, script)
        return os.pathsep.join([str(program.parent), "/usr/bin", "/bin"])

    return install


@pytest.fixture
def git(project):
    """Run git, in the project unless the first argument is another directory."""

    def git(*words, cwd=project):
        settings = {
            "user.name": "a",
            "user.email": "a@example.org",
            "protocol.file.allow": "always",
        }
        options = [word for item in settings.items() for word in ("-c", "=".join(item))]
        environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": os.devnull}
        command = ["git", *options, *map(str, words)]
        subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True)

    return git


@pytest.fixture
def repository(project, git):
    """The project as a repository with one commit on its branch `main`."""
    git("init", "-q", "--initial-branch=main", "--template=")
    git("commit", "-q", "--allow-empty", "-m", "x")
    return project


@pytest.fixture
def on_branch(project):
    """Make the project a repository whose branch has a name, without running git."""

    def switch(name):
        (project / ".git" / "refs").mkdir(parents=True, exist_ok=True)
        (project / ".git" / "objects").mkdir(exist_ok=True)
        (project / ".git" / "HEAD").write_text(f"ref: refs/heads/{name}\n")

    return switch

"""Fixtures for the tests of plugins, by themselves: pytest loads this module in every session."""

import os
import shutil
from pathlib import Path

import pytest

TYPE_CHECKING = False

# A rule that is broken shows what it compared.
pytest.register_assert_rewrite("grove_core.testing.rules", "grove_core.testing.watching")

# Set where a hook of git runs the tests: each leads git to another repository.
_OF_A_HOOK = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
)

if TYPE_CHECKING:
    from grove_core.testing.fakes import SetClock
    from grove_core.testing.payloads import Payloads


@pytest.fixture
def grove_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home of its own for a test, so that nothing of the user's is read or written."""
    home = tmp_path / "home"
    folder = home / ".grove"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", os.fspath(home))
    monkeypatch.setenv("GROVE_HOME", os.fspath(folder))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", os.fspath(home / ".claude"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def grove_project(tmp_path: Path, grove_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project that uses grove, and a git repository of it where git is installed."""
    del grove_home  # so that git reads no settings of the user's
    for name in _OF_A_HOOK:
        monkeypatch.delenv(name, raising=False)
    project = tmp_path / "project"
    (project / ".grove").mkdir(parents=True)
    (project / ".grove" / "config.toml").touch()
    if shutil.which("git"):
        from subprocess import run

        run(["git", "init", "-q", "--template="], cwd=project, check=True)
        # git before 2.28 knows no option for the branch.
        run(["git", "symbolic-ref", "HEAD", "refs/heads/main"], cwd=project, check=True)
    return project


@pytest.fixture
def grove_clock() -> "SetClock":
    """Make a clock that stands still until the test moves it."""
    from grove_core.testing.fakes import SetClock

    return SetClock()


@pytest.fixture
def grove_payloads(grove_project: Path) -> "Payloads":
    """Make what the client sends to hooks in a session in the project."""
    from grove_core.testing.payloads import Payloads

    return Payloads(project=grove_project)

"""How much is imported: the deterministic stand-in for time."""

import json
import os
import subprocess
import sys

import pytest

from grove_core.prefilter import Prefilter

MODULES = """
import sys
from grove_core._entry import main
code = main()
sys.stdout.flush()
sys.stderr.write("\\n" + " ".join(sorted(sys.modules)))
raise SystemExit(code)
"""
HEAVY = "json re pathlib attrs attr click pluggy logging typing enum functools collections".split()


@pytest.fixture
def home(tmp_path):
    (tmp_path / "project").mkdir()
    Prefilter(tmp_path / "home" / "cache").write("s", ["bd"], close_waits=False)
    return tmp_path / "home"


def loaded(home, *arguments, stdin=b""):
    """The modules of the process, apart from those that its environment loads before anything."""
    environment = {
        "GROVE_HOME": str(home),
        "HOME": str(home.parent),
        "PATH": os.environ["PATH"],
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", MODULES, *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        env=environment,
        cwd=home.parent / "project",
    )
    assert done.returncode == 0, done.stderr.decode()
    return set(done.stderr.decode().rpartition("\n")[2].split()), done.stdout


def payload(home, **fields):
    document = {"session_id": "s", "cwd": str(home.parent / "project"), **fields}
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("pre-tool-use", {"tool_name": "Bash", "tool_input": {"command": "ls"}}),
        ("post-tool-use", {"tool_name": "Bash", "tool_input": {"command": "bd close x"}}),
        ("post-tool-use-failure", {"tool_name": "Bash", "tool_input": {"command": "bd close x"}}),
    ],
)
def test_a_hook_with_nothing_to_do_imports_nothing_heavy(home, event, fields):
    modules, output = loaded(home, "hook", event, stdin=payload(home, **fields))
    assert output == b""
    assert not modules.intersection(HEAVY)
    assert len(modules) <= 50, sorted(modules)


def test_the_help_of_a_hook_imports_nothing_heavy(home):
    modules, output = loaded(home, "hook", "--help")
    assert output.startswith(b"Usage: grove hook EVENT")
    assert not modules.intersection(HEAVY)


def test_the_version_imports_nothing_heavy(home):
    modules, output = loaded(home, "--version")
    assert output.startswith(b"grove ")
    assert not modules.intersection(HEAVY)
    assert len(modules) <= 45, sorted(modules)


def test_importing_the_package_imports_none_of_its_modules():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, grove_core; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [name for name in done.stdout.split() if name.startswith("grove_core.")] == []

"""The lines that grove names, run as they stand: what installed grove finds its wheels again.

No index knows grove's packages here, and no variable names the folder of the wheels. So a line that
forgets an option that grove was installed with fails.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

OURS = ("GROVE_", "PYTHON", "VIRTUAL_ENV", "UV_", "XDG_", "PIPX_", "PIP_", "CLAUDE")
USUAL = ("grove-core", "grove-backend-markdown", "grove-tickets")
BROKEN = 'raise RuntimeError("no luck")\n'


class Place:
    """A home with a project in it, in which one installer has installed grove."""

    def __init__(self, project, programs, variables):
        self.project, self.programs, self.variables = project, programs, variables

    def run(self, *words):
        done = subprocess.run(
            list(map(str, words)),
            cwd=self.project.root,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def packages(self):
        code = (
            "from importlib.metadata import distributions as d; print(*(one.name for one in d()))"
        )
        names = self.run(self.python, "-I", "-c", code).split()
        return {name.replace("_", "-") for name in names if name.startswith("grove")}

    @property
    def python(self):
        return next(self.programs.parent.glob("**/grove-core/bin/python"))

    def find(self, pattern):
        return self.python.parents[1].glob(f"lib/*/site-packages/{pattern}")

    def mend(self, name):
        told = self.project.grove("doctor", "--json").json["checks"]
        (mend,) = {one["mend"] for one in told if one["name"] == name}
        return mend


class WithUv(Place):
    def install(self, program, wheels):
        self.program = program
        words = ("--find-links", wheels, "grove-core[markdown]", "--with", "grove-backend-mcp")
        self.run(program, "tool", "install", *words)


class WithPipx(Place):
    def install(self, program, wheels):
        self.program = program
        options = ("--pip-args", f"--find-links '{wheels}'")
        self.run(program, "install", "--python", sys.executable, *options, "grove-core[markdown]")
        self.run(program, "inject", *options, "grove-core", "grove-backend-mcp")


@pytest.fixture(scope="session")
def pipx(once, new_environment):
    return once("pipx", lambda folder: new_environment(folder, "pipx")) / "bin" / "pipx"


@pytest.fixture(params=[WithUv, WithPipx], ids=["uv", "pipx"])
def place(request, uv_program, wheels, project_of, tmp_path):
    """Core, a backend by its extra, and another one by its name; no ticket system."""
    cache = subprocess.run(
        [uv_program, "--no-config", "cache", "dir"], capture_output=True, text=True, check=True
    )
    local = tmp_path.resolve() / "größere machine" / "home" / ".local"
    project = project_of(SimpleNamespace(folder=local), "größere machine")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    programs = local / "bin"
    variables = {
        **kept,
        "HOME": str(project.home),
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join([str(programs), "/usr/bin", "/bin"]),
        "UV_CACHE_DIR": cache.stdout.strip(),
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_PYTHON": sys.executable,
    }
    made = request.param(project, programs, variables)
    program = uv_program if request.param is WithUv else request.getfixturevalue("pipx")
    made.install(program, wheels)
    project.configure("")
    return made


def does(place, line):
    words = shlex.split(line)
    assert words[0] == Path(place.program).name, line
    place.run(place.program, *words[1:])


def test_what_grove_was_installed_with_finds_the_rest_again(place):
    before = {"grove-core", "grove-backend-markdown", "grove-backend-mcp"}
    assert place.packages() == before
    (line,) = [
        one.partition("none installed (")[2].removesuffix(")")
        for one in place.project.grove("status").stdout.splitlines()
        if "none installed (" in one
    ]
    assert line == place.mend("ticket systems")
    does(place, line)
    assert place.packages() == {*before, "grove-tickets"}
    assert place.mend("ticket systems") == ""

    (metadata,) = place.find("grove_core-*.dist-info/METADATA")
    metadata.unlink()  # uv shares its files with its cache
    metadata.write_text("Metadata-Version: 2.1\nName: grove-core\nVersion: 0.0.1\n")
    anew = "Install grove-core anew: "
    does(place, place.mend("installation").removeprefix(anew))
    assert place.packages() == {*before, "grove-tickets"}
    assert place.mend("installation") == ""


def test_a_plugin_that_does_not_load_can_be_removed_and_nothing_else_goes(place):
    before = place.packages()
    (module,) = place.find("grove_backend_mcp/__init__.py")
    module.unlink()
    module.write_text(BROKEN)
    upgrade, _, removal = place.mend("plugin mcp").partition("; or remove it: ")
    does(place, upgrade.removeprefix("Upgrade it: "))
    does(place, removal)
    assert place.packages() == before - {"grove-backend-mcp"}
    does(place, place.mend("ticket systems"))
    assert place.packages() == {*USUAL}

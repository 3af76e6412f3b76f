"""Wheels, fresh environments to install them in, and scratch projects to use them in.

Wheels and environments are made once in a test run, whichever of its processes needs them first.
They lie outside the checkout, in a folder whose name holds a space and letters beyond ASCII.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import define
from core_worlds import run_program
from world import Finished, World

ROOT = Path(__file__).parents[3]


def tool_environment():
    """The environment for uv: ours, without what would lead it back into the checkout."""
    ours = ("GROVE_", "PYTHON", "VIRTUAL_ENV", "UV_PROJECT", "UV_COMPILE_BYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def find_uv():
    own = ROOT / ".tools" / "bin" / "uv"
    return shutil.which("uv") or (str(own) if own.exists() else None)


@pytest.fixture(scope="session")
def uv_program():
    """The program uv."""
    program = find_uv()
    if program is None:
        pytest.fail("uv is neither on PATH nor in .tools: run make setup")
    return program


@pytest.fixture(scope="session")
def uv(uv_program):
    """Runs uv."""

    def run(*words):
        done = run_program(
            [uv_program, "--quiet", "--no-config", *map(str, words)], env=tool_environment()
        )
        assert done.returncode == 0, f"uv {words}:\n{done.stderr}"

    return run


@pytest.fixture(scope="session")
def once(tmp_path_factory, worker_id):
    """Makes a folder once for all processes of the test run, and gives its path."""
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "größere packages"
    shared.mkdir(exist_ok=True)

    def make(name, fill):
        folder, complete = shared / name, shared / f"{name}.complete"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not complete.exists():
                shutil.rmtree(folder, ignore_errors=True)
                fill(folder)
                complete.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def wheels(once, uv):
    """The folder of the wheels of every package of the project."""

    def build(folder):
        uv("build", "--wheel", "--all-packages", "--out-dir", folder, "--directory", ROOT)

    return once("wheels", build)


@pytest.fixture(scope="session")
def wheel(wheels):
    """The wheel of a package of the project."""

    def only(distribution):
        (found,) = wheels.glob(f"{distribution.replace('-', '_')}-*.whl")
        return found

    return only


@define
class Environment:
    """A virtual environment."""

    folder: Path
    uv: object

    @property
    def python(self):
        return self.folder / "bin" / "python"

    @property
    def program(self):
        return self.folder / "bin" / "grove"

    def install(self, *what):
        self.uv("pip", "install", "--python", self.python, *what)


@pytest.fixture(scope="session")
def new_environment(uv):
    """Makes a virtual environment and installs something into it."""

    def make(folder, *what):
        uv("venv", "--no-project", "--python", sys.executable, folder)
        environment = Environment(folder, uv)
        environment.install(*what)
        return environment

    return make


@pytest.fixture(scope="session")
def core_alone(once, uv, new_environment, wheel):
    folder = once("core alone", lambda folder: new_environment(folder, wheel("grove-core")))
    return Environment(folder, uv)


@pytest.fixture(scope="session")
def usual(once, uv, new_environment, wheel):
    """What the README recommends: core, markdown and tickets."""
    names = ("grove-core", "grove-backend-markdown", "grove-tickets", "grove-hosts")
    folder = once("usual", lambda folder: new_environment(folder, *map(wheel, names)))
    return Environment(folder, uv)


@pytest.fixture(scope="session")
def everything(once, uv, new_environment, wheels, wheel):
    """All five, by core's extra `all`."""

    def install(folder):
        ours = [path for path in wheels.glob("*.whl") if path != wheel("grove-core")]
        constraints = folder.with_suffix(".txt")
        lines = (f"{path.name.split('-')[0]} @ {path.as_uri()}\n" for path in ours)
        constraints.write_text("".join(lines))
        core = f"grove-core[all] @ {wheel('grove-core').as_uri()}"
        new_environment(folder, core, "--constraints", constraints)

    return Environment(once("everything", install), uv)


@define
class Project(World):
    """A world in which grove is the program of an environment; its path holds what is beyond ASCII."""

    program = ("grove",)

    installed: object = None

    def __attrs_post_init__(self):
        path = [self.installed.folder / "bin", Path(shutil.which("git")).parent, "/usr/bin:/bin"]
        self.environment["PATH"] = ":".join(map(str, path))
        super().__attrs_post_init__()
        self.make_git()

    @property
    def grove_home(self):
        return self.home / ".grove"

    @property
    def project(self):
        return self.folder / "größere projects" / "shop"

    @contextmanager
    def watched(self):
        """Installers write where they like."""
        yield

    def grove(self, *words, **options):
        return super().grove(*words, real=True, **options)

    def python(self, *words, **variables):
        done = subprocess.run(
            [self.installed.python, *map(str, words)], cwd=self.project, capture_output=True,
            env=self._environment(variables), text=True, check=False,
        )  # fmt: skip
        return Finished(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def project_of(tmp_path):
    """Makes a scratch project in which the programs of an environment are on PATH."""
    return lambda installed, folder="": Project(tmp_path.resolve() / folder, installed=installed)

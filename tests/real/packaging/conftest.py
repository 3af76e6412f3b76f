"""Wheels, fresh environments to install them in, and scratch projects to use them in.

Wheels and environments are made once in a test run, whichever of its processes needs them first.
They lie outside the checkout, in a folder whose name holds a space and letters beyond ASCII.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

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
        done = subprocess.run(
            [uv_program, "--quiet", "--no-config", *map(str, words)],
            env=tool_environment(),
            capture_output=True,
            text=True,
            check=False,
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


@dataclass
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


@dataclass
class Done:
    """A process that has ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self):
        return json.loads(self.stdout)

    @property
    def context(self):
        """The text for the model in a hook's answer."""
        return self.json["hookSpecificOutput"]["additionalContext"] if self.stdout else ""


@dataclass
class Project:
    """A scratch repository, and a home for the person that works in it."""

    folder: Path
    environment: Environment

    def __post_init__(self):
        for path in (self.home, self.root):
            path.mkdir(parents=True)
        (self.root / "orders.py").write_text("def orders(): ...\n")
        self._run("git", "init", "-q", "-b", "main", "--template=")
        self._run("git", "add", ".")
        who = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
        self._run("git", *who, "commit", "-q", "-m", "Start")

    @property
    def home(self):
        return self.folder / "home"

    @property
    def grove_home(self):
        return self.home / ".grove"

    @property
    def root(self):
        return self.folder / "größere projects" / "shop"

    def _run(self, *words, stdin="", **variables):
        path = [self.environment.folder / "bin", Path(shutil.which("git")).parent, "/usr/bin:/bin"]
        done = subprocess.run(
            list(map(str, words)),
            cwd=self.root,
            env={
                "HOME": str(self.home),
                "LANG": "C.UTF-8",
                "PATH": ":".join(map(str, path)),
                **variables,
            },
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def python(self, code, **variables):
        return self._run(self.environment.python, "-c", code, **variables)

    def grove(self, *words, stdin="", **variables):
        return self._run("grove", *words, stdin=stdin, **variables)

    def hook(self, event, session="monday", variables=None, **fields):
        """Runs a hook as the client does."""
        payload = {"session_id": session, "cwd": str(self.root), **fields}
        return self.grove("hook", event, stdin=json.dumps(payload) + "\n", **(variables or {}))

    def configure(self, text):
        (self.root / ".grove").mkdir(exist_ok=True)
        (self.root / ".grove" / "config.toml").write_text(text)

    def ticket(self, ticket_id, title, status, number=0):
        """The line that tissue writes when a ticket changes."""
        line = {"type": "issue", "id": ticket_id, "rev": f"{number:026d}", "title": title}
        line |= {"body": "", "status": status, "priority": 2, "tags": ["orders"]}
        line |= {"created_at": number, "updated_at": number}
        (self.root / ".tissue").mkdir(exist_ok=True)
        with (self.root / ".tissue" / "issues.jsonl").open("a") as issues:
            issues.write(json.dumps(line) + "\n")

    def close(self, ticket_id, title, session="monday"):
        """The agent's call that closes a ticket: before, the tool itself, after."""
        command = {"command": f"tissue status {ticket_id} closed"}
        call = {"tool_name": "Bash", "tool_input": command, "tool_use_id": f"toolu_{ticket_id}"}
        before = self.hook("pre-tool-use", session, **call)
        self.ticket(ticket_id, title, "closed", number=1)
        response = {"stdout": "", "stderr": "", "interrupted": False}
        after = self.hook("post-tool-use", session, **call, tool_response=response)
        return before, after

    def reflect(self, *candidates, session="monday"):
        text = json.dumps({"candidates": candidates})
        return self.grove("reflect", "--json", "--session-id", session, stdin=text)


@pytest.fixture
def project_of(tmp_path):
    """Makes a scratch project in which the programs of an environment are on PATH."""
    return lambda environment, folder="": Project(tmp_path.resolve() / folder, environment)


@pytest.fixture
def candidate():
    """A candidate that passes every check."""
    return {
        "category": "pitfall",
        "summary": "OrderReport.rows() runs one query per order unless items are prefetched",
        "detail": "OrderReport.rows() in orders.py reads order.items in a loop; with 2,000 orders "
        "it took 41 s. Call prefetch_items() first.",
        "tags": ["orders", "n-plus-one"],
        "criteria_met": ["behavior_changing"],
        "context_files": ["orders.py"],
    }

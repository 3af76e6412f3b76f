"""A scratch project, a bd that keeps state, and the real client against a scripted API."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from core_worlds import write_program

from grove_core.storage.paths import ProjectPaths
from grove_hosts.claude_code.hooks import hook_groups

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "harness"))
import run as harness  # noqa: E402 - the harness is also a program by itself

PLUGIN = HERE.parents[2] / "plugin"

ISSUES = [
    {
        "id": "bd-1",
        "title": "Orders report takes 40 seconds",
        "description": "OrderReport.rows() in reports/orders.py is slow for 2,000 orders.",
        "status": "in_progress",
        "issue_type": "bug",
        "priority": 1,
        "labels": ["orders", "performance"],
    },
    {
        "id": "bd-2",
        "title": "Orders export is slow, too: one query per order?",
        "description": "OrderReport.rows() is used by the export in reports/export.py as well.",
        "status": "open",
        "issue_type": "bug",
        "priority": 2,
        "labels": ["orders", "performance"],
    },
]


@dataclass
class Project:
    """A scratch repository with a beads project, and everything to run the client in it."""

    root: Path
    home: Path
    path: str
    out: Path
    runs: int = 0
    plugin: Path = PLUGIN

    def play(self, turns, *, script=None, **options):
        """Runs the client once, with the plugin, in a new session."""
        self.runs += 1
        return harness.execute(self.run({"turns": turns, **(script or {})}, **options))

    def run(self, script, *, environment=None, **options):
        own = {"cwd": self.root, "home": self.home, "path": self.path, "plugin_dir": self.plugin}
        # A machine that is busy with other tests must not make hooks late.
        variables = {"GROVE_HOOKS_DEADLINE_MS": "9000", **(environment or {})}
        own |= {"out": self.out / f"run-{self.runs}", "environment": variables}
        return harness.Run(script=script, **{**own, **options})

    def wait_for_stop(self):
        """The shell command that waits for the first stop of the next run, which must be recorded."""
        record = self.out / f"run-{self.runs + 1}" / "recorded" / "Stop-1.json"
        return f"until test -s {shlex.quote(str(record))}; do sleep 0.1; done"

    def command(self, *words):
        """Runs a program as a person in the project would."""
        environment = {"PATH": self.path, "HOME": str(self.home), "LANG": "C.UTF-8"}
        return subprocess.run(
            words, cwd=self.root, env=environment, capture_output=True, text=True, check=True
        ).stdout

    def commit(self):
        """Commits everything that has changed."""
        self.command("git", "add", "-A")
        identity = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
        self.command("git", *identity, "commit", "-q", "-m", "Change")

    def status(self):
        """What `grove status` says outside the client."""
        return json.loads(self.command("grove", "status", "--json"))

    def learnings(self):
        """The text of all learnings of the project."""
        files = sorted((self.root / ".grove" / "learnings").glob("*.md"))
        return "\n".join(file.read_text() for file in files)

    def events(self, name):
        """The events of one kind in the project's log, once the ends of sessions are finished."""
        self.command("grove", "status", "-q")
        path = ProjectPaths(self.root, self.home / ".grove").events_file
        lines = path.read_text().splitlines() if path.exists() else []
        return [event for event in map(json.loads, lines) if event["event"] == name]

    def outcomes(self):
        """How the gate's cycles ended, in order, and how often each was held."""
        return [(event["outcome"], event["blocks"]) for event in self.events("gate")]

    def lock_store(self, against):
        """Lets bd fail until the lock is gone; gives the command that takes it away.

        Args:
            against: ``writing``, or ``reading`` for all commands.
        """
        lock = self.root / ".beads" / "embeddeddolt" / f"locked-for-{against}"
        lock.touch()
        return shlex.join(["rm", str(lock)])

    def changed(self):
        """The paths that git sees as changed or new."""
        status = self.command("git", "status", "--porcelain", "-z", "--untracked-files=all")
        return {entry[3:] for entry in status.split("\0") if entry}


@pytest.fixture(scope="session")
def claude():
    """The real client."""
    path = harness.find_claude()
    if not path:
        pytest.skip("no Claude Code client: run make real-tools")
    return path


@pytest.fixture(scope="session")
def grove_folder():
    """The folder of the console script `grove` of the environment that runs the tests."""
    folder = Path(sys.executable).parent
    if not (folder / "grove").exists():
        pytest.fail(f"no program grove beside {sys.executable}: run make setup")
    return folder


@pytest.fixture
def bare_project(claude, tmp_path):
    """A project without grove on PATH; its path holds a space and a letter beyond ASCII."""
    root = tmp_path / "größere projects" / "shop"
    store = root / ".beads" / "embeddeddolt"
    store.mkdir(parents=True)
    (store / "issues.json").write_text(json.dumps(ISSUES))
    metadata = {"backend": "dolt", "dolt_mode": "embedded", "dolt_database": "bd"}
    (root / ".beads" / "metadata.json").write_text(json.dumps(metadata))
    (root / "reports").mkdir()
    (root / "reports" / "orders.py").write_text("class OrderReport:\n    pass\n")
    words = shlex.join([sys.executable, str(HERE / "fake_bd.py")])
    bd = write_program(tmp_path / "programs" / "bd", f'exec {words} "$@"')
    path = os.pathsep.join([str(bd.parent), os.environ["PATH"]])
    project = Project(root, tmp_path / "home", path, tmp_path / "runs")
    project.home.mkdir()
    project.command("git", "init", "-q", "-b", "main")
    project.commit()
    return project


def with_commands_only(folder):
    """The plugin as a client without servers sees it, with a command hook for each event."""
    copy = shutil.copytree(PLUGIN, folder / "plugin", ignore=shutil.ignore_patterns("server.json"))
    manifest = copy / ".claude-plugin" / "plugin.json"
    fields = json.loads(manifest.read_text())
    del fields["mcpServers"], fields["hooks"]
    manifest.write_text(json.dumps(fields))
    hooks = json.dumps({"hooks": hook_groups("grove", ())})
    launcher = '\\"${CLAUDE_PLUGIN_ROOT}/bin/grove-hook\\"'
    (copy / "hooks" / "hooks.json").write_text(hooks.replace("grove hook", launcher))
    return copy


@pytest.fixture(params=["server", "commands"])
def transport(request):
    """How the client calls grove's hooks."""
    return request.param


@pytest.fixture
def project(bare_project, grove_folder, transport, tmp_path):
    """The same with this checkout's grove first on PATH."""
    if transport == "commands":
        bare_project.plugin = with_commands_only(tmp_path)
    bare_project.path = os.pathsep.join([str(grove_folder), bare_project.path])
    return bare_project


@pytest.fixture
def shop(project):
    """The same after `grove init`, so that grove keeps a log there."""
    project.command("grove", "init", "--quiet")
    return project


@pytest.fixture
def without_beads(project):
    """A project that has no ticket system but the client's own tasks, and no grove yet."""
    shutil.rmtree(project.root / ".beads")
    project.commit()
    return project

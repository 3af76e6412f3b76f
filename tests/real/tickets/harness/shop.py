"""A project with a real ticket tool in it, and an agent whose commands really run."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

import pytest
from attrs import define, field

STAND_INS = Path(__file__).resolve().parents[1] / "stand_ins"
TOOLS = Path(__file__).resolve().parents[4] / ".ticket-tools"
GIT_CONFIG = "[user]\n\tname = Dev\n\temail = dev@example.org\n[init]\n\tdefaultBranch = main\n"
# A ticket that is in progress, as every system is told of it.
TITLE = "Orders report takes 40 seconds"
TEXT = "OrderReport.rows() runs one query for each order."
LABELS = ("orders", "performance")


def find_tool(key):
    """The folder of a tool that `make ticket-tools` has installed; skips the test without it."""
    folder = TOOLS / key
    if (folder / "complete").exists():
        return folder
    missing = TOOLS / f"{key}.missing"
    reason = missing.read_text().strip() if missing.exists() else "run make ticket-tools"
    name, _, version = key.rpartition("-")
    pytest.skip(f"no {name} {version}: {reason}")
    return None


def contents(folder, apart_from, databases):
    """The files below a folder with their bytes, without some folders and files of some names."""
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
        and not any(other in path.parents for other in apart_from)
        and not any(fnmatch(str(path.relative_to(folder)), pattern) for pattern in databases)
    }


def watching(base, databases):
    """A kind of world that lets some files change while grove runs.

    Args:
        base: The class of worlds of the root conftest.
        databases: Patterns of file names below the world's folder.
    """

    class World(base):
        @contextmanager
        def watched(self):
            own = (self.grove_home, self.project / ".grove", self.others)
            before = contents(self.folder, own, databases)
            yield
            after = contents(self.folder, own, databases)
            changed = sorted({str(path) for path, _ in before.items() ^ after.items()})
            assert not changed, f"grove has changed {changed}"

    return World


@define
class Shop:
    """A scratch project with one ticket system.

    Attributes:
        world: The home and the project, of the root conftest.
        variables: What the agent's shell has in its environment besides the world's.
        servers: The processes of stand-ins of an API.
        ids: The ids of the tickets, by name.
    """

    world: object
    variables: dict = field(factory=dict)
    servers: list = field(factory=list)
    ids: dict = field(factory=dict)

    def __attrs_post_init__(self):
        self.programs.mkdir(parents=True, exist_ok=True)
        folders = [str(self.programs), self.world.environment["PATH"]]
        if node := shutil.which("node"):
            folders.insert(1, str(Path(node).parent))
        self.world.environment["PATH"] = os.pathsep.join(folders)
        (self.world.home / ".gitconfig").write_text(GIT_CONFIG)

    @property
    def programs(self):
        return self.world.others / "bin"

    @property
    def project(self):
        return self.world.project

    def offer(self, name, program):
        """Puts a program on PATH, as a link."""
        link = self.programs / name
        link.unlink(missing_ok=True)
        link.symlink_to(program)

    def shell(self, command, cwd=None):
        """Runs a command as the client's shell does: what it says on stderr is in its output."""
        return subprocess.run(
            ["bash", "-c", command],
            check=False,
            cwd=cwd or self.project,
            env={**self.world.environment, **self.variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )

    def says(self, command, cwd=None):
        """What a command prints that must work."""
        done = self.shell(command, cwd)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout.strip()

    def serve(self, module, *words):
        """Starts a stand-in of an API; gives the process."""
        process = subprocess.Popen(
            [sys.executable, STAND_INS / f"{module}.py", *map(str, words)],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.servers.append(process)
        return process

    def work_tree(self):
        """A linked work tree of the project, in which grove is used as well."""
        tree = self.world.others / "tree"
        if not tree.exists():
            self.says(f"git worktree add -q {tree} -b eng-2-other HEAD")
            (tree / ".grove").mkdir()
            config = (self.project / ".grove" / "config.toml").read_text()
            (tree / ".grove" / "config.toml").write_text(config)
        return tree

    def worker(self, session_id="session-1"):
        """A new session of the client, at work in the project."""
        worker = Worker(self, self.world.agent(session_id))
        worker.agent.starts()
        return worker

    def close(self):
        """Ends the stand-ins of an API."""
        for process in self.servers:
            process.kill()
            process.communicate()


@define
class Worker:
    """A session of the client whose Bash calls really run."""

    shop: Shop
    agent: object

    def runs(self, command):
        """Runs a command between the hooks of its call; gives the finished process."""
        call = self.agent.announces(command=command)
        done = self.shop.shell(command)
        output = done.stdout.rstrip("\n")
        if done.returncode:
            self.agent.fails(call, error=f"Exit code {done.returncode}\n{output}".rstrip("\n"))
        else:
            self.agent.succeeds(call, stdout=output)
        return done

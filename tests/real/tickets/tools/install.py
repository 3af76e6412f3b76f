"""Gets the real ticket tools, at pinned versions, into one folder.

    python tests/real/tickets/tools/install.py FOLDER

Each tool has a folder of its own, named by its version; what is there already is left alone. A tool
that cannot be had is no fault: a line says so and why, and so does the file `NAME-VERSION.missing`,
which the tests read.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attrs import field, frozen

HERE = Path(__file__).resolve().parent
LONGEST_SECONDS = 1_200


class UnavailableError(Exception):
    """A tool that cannot be had on this machine, with the reason."""


@frozen
class Tool:
    """A program at one version.

    Attributes:
        name: The program's name on PATH.
        version: The version, as the registry writes it.
        program: Where the program stands in the tool's own folder.
        install: Puts the tool into a folder that exists and is empty.
        probe: Arguments with which it only says its version.
    """

    name: str
    version: str
    program: str
    install: callable = field(eq=False)
    probe: tuple = ("--version",)

    @property
    def key(self):
        """The name of the tool's folder."""
        return f"{self.name}-{self.version}"


def run(*words, cwd, **variables):
    """Runs an installer to its end; its last line is the reason if it fails."""
    if shutil.which(words[0]) is None:
        raise UnavailableError(f"there is no {words[0]} on this machine")
    done = subprocess.run(
        words,
        check=False,
        cwd=cwd,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=LONGEST_SECONDS,
    )
    if done.returncode:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith(("error", "e:", "npm error"))]
        last = (errors or lines or ["it says nothing"])[-1]
        raise UnavailableError(f"{words[0]} failed: {last[:300]}")


def go(package, *flags, cgo):
    """Builds a command of a Go module; `go.sum` beside this file pins every byte of its source.

    `go install` itself cannot be used: it asks for a list of versions that not every proxy keeps.
    """

    def install(tool, folder):
        words = ["go", "build", *flags, "-ldflags", "-s -w", "-o", str(folder / tool.program)]
        variables = {"CGO_ENABLED": str(int(cgo)), "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
        run(*words, package, cwd=HERE / tool.key, **variables)

    return install


def npm(package, *flags):
    """Installs a package with npm; none of its install scripts is run."""

    def install(tool, folder):
        words = ["npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"]
        run(*words, *flags, "--prefix", str(folder), f"{package}@{tool.version}", cwd=folder)

    return install


def debian(package, version):
    """Unpacks a Debian package without installing it, which takes neither root nor a database."""

    def install(tool, folder):
        lists = folder / "lists"
        (lists / "partial").mkdir(parents=True)
        own = ["-o", f"Dir::State::Lists={lists}", "-o", f"Dir::Cache={folder}"]
        run("apt-get", *own, "-qq", "-o", "Debug::NoLocking=1", "update", cwd=folder)
        run("apt-get", *own, "-qq", "download", f"{package}={version}", cwd=folder)
        for archive in folder.glob("*.deb"):
            run("dpkg-deb", "-x", str(archive), str(folder), cwd=folder)
            archive.unlink()
        shutil.rmtree(lists)

    return install


BEADS = "github.com/steveyegge/beads/cmd/bd"
JIRA = "github.com/ankitpokhrel/jira-cli/cmd/jira"
# What takes longest comes first. Beads without the tag needs ICU; without cgo it has no store of its
# own. What taskmaster leaves out are programs of other agents, hundreds of megabytes.
TOOLS = (
    Tool("bd", "1.0.5", "bin/bd", go(BEADS, "-tags=gms_pure_go", cgo=True), ("version",)),
    Tool(
        "task-master",
        "0.43.1",
        "node_modules/.bin/task-master",
        npm("task-master-ai", "--omit=optional"),
    ),
    Tool("bd", "0.49.6", "bin/bd", go(BEADS, cgo=False), ("version",)),
    Tool("jira", "1.7.0", "bin/jira", go(JIRA, cgo=False), ("version",)),
    Tool("backlog", "1.52.0", "node_modules/.bin/backlog", npm("backlog.md")),
    Tool("task", "2.6.2", "usr/bin/task", debian("taskwarrior", "2.6.2+dfsg-1")),
    Tool("gh", "2.23.0", "usr/bin/gh", debian("gh", "2.23.0+dfsg1-1")),
)


def try_out(tool, folder):
    """Starts the program once, in a home of its own."""
    with tempfile.TemporaryDirectory() as home:
        run(str(folder / tool.program), *tool.probe, cwd=home, HOME=home)


def provide(tool, folder):
    """Gets one tool, unless it is there; gives what to say about it."""
    target, missing = folder / tool.key, folder / f"{tool.key}.missing"
    if target.is_dir():
        return f"real-tools: {tool.name} {tool.version} is there"
    missing.unlink(missing_ok=True)
    half = folder / f"{tool.key}.half"
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    try:
        tool.install(tool, half)
        try_out(tool, half)
    except (UnavailableError, OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(half, ignore_errors=True)
        missing.write_text(f"{error}\n")
        return f"real-tools: no {tool.name} {tool.version}: {error}"
    half.rename(target)
    return f"real-tools: {tool.name} {tool.version} is new"


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    # Two at a time: most of them keep every core busy by themselves.
    with ThreadPoolExecutor(max_workers=2) as pool:
        for line in pool.map(lambda tool: provide(tool, folder), TOOLS):
            print(line, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())

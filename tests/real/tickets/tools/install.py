"""Gets the real ticket tools, at pinned versions, into one folder.

    python tests/real/tickets/tools/install.py FOLDER

Each tool has a folder of its own, named by its version.
"""

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "harness"))
from real_tools import Wanted, npm, provide_all, run

HERE = Path(__file__).resolve().parent


def tool(name, version, program, install, probe=("--version",)):
    """A program at one version.

    Args:
        name: The program's name on PATH.
        version: The version, as the registry writes it.
        program: Where the program stands in the tool's own folder.
        install: Puts the tool into a folder that exists and is empty.
        probe: Arguments with which it only says its version.
    """

    def install_and_try(folder):
        install(folder)
        with tempfile.TemporaryDirectory() as home:
            run(str(folder / program), *probe, cwd=home, HOME=home)

    return Wanted(f"{name}-{version}", version, install_and_try)


def go(package, program, *flags, cgo):
    """Builds a command of a Go module; `go.sum` beside this file pins every byte of its source.

    `go install` itself cannot be used: it asks for a list of versions that not every proxy keeps.
    """

    def install(folder):
        words = ["go", "build", *flags, "-ldflags", "-s -w", "-o", str(folder / program)]
        variables = {"CGO_ENABLED": str(int(cgo)), "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
        run(*words, package, cwd=HERE / folder.name, **variables)

    return install


def package(*words):
    """Installs a package with npm; none of its install scripts is run."""
    return lambda folder: npm(folder, "--ignore-scripts", *words)


def debian(package, version):
    """Unpacks a Debian package without installing it, which takes neither root nor a database."""

    def install(folder):
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
WANTED = (
    tool("bd", "1.0.5", "bin/bd", go(BEADS, "bin/bd", "-tags=gms_pure_go", cgo=True), ("version",)),
    tool(
        "task-master",
        "0.43.1",
        "node_modules/.bin/task-master",
        package("task-master-ai@0.43.1", "--omit=optional"),
    ),
    tool("bd", "0.49.6", "bin/bd", go(BEADS, "bin/bd", cgo=False), ("version",)),
    tool("jira", "1.7.0", "bin/jira", go(JIRA, "bin/jira", cgo=False), ("version",)),
    tool("backlog", "1.52.0", "node_modules/.bin/backlog", package("backlog.md@1.52.0")),
    tool("task", "2.6.2", "usr/bin/task", debian("taskwarrior", "2.6.2+dfsg-1")),
    tool("gh", "2.23.0", "usr/bin/gh", debian("gh", "2.23.0+dfsg1-1")),
)


if __name__ == "__main__":
    provide_all(WANTED, Path(sys.argv[1]).resolve())

